"""Contact sampling on the scenes of its paper's Table 1: time, certificates, penetration, peer."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.bars import judged_part, judged_table, refused_lines
from benchmarks.progress import shown_steps
from benchmarks.sampling.figures import certificates_of, scene_figures
from benchmarks.sampling.peer import measure_frames, solved_path
from benchmarks.scene_choice import chosen_scenes
from handwright.errors import InvalidValueError
from handwright.methods import ContactSampling
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.console import Group

SCENE_NAMES = ("milk_box_turn", "milk_box_pickup", "spatula", "wine_pot", "small_box_two_hands")
"""Those of Table 1."""
FIRST = "milk_box_turn"

BARS: dict[str, tuple[str, float]] = {
    "certified": (">=", 1.0),
    "seconds_10_first": ("<=", 3.0),
    "seconds_10_slowest": ("<=", 20.0),
    "pen_mm_max": ("<=", 1.0),
    "pen_mm_p95": ("<=", 0.5),
    "frames_per_solution_first": ("<=", 300.0),
    "peer_ratio": (">=", 100.0),
    "peer_agree": (">=", 1.0),
}

_MEANINGS = {
    "certified": "least share of returned clips that 'handwright verify' passes",
    "seconds_10_first": f"ten certified motions of {FIRST}, s of one processor",
    "seconds_10_slowest": "the same, slowest scene, s of one processor",
    "pen_mm_max": "deepest penetration in any clip, mm",
    "pen_mm_p95": "95th percentile over frames and clips, worst scene, mm",
    "frames_per_solution_first": f"frames explored for each motion of {FIRST}",
    "peer_ratio": "test of one frame: SLSQP and Clarabel over ours",
    "peer_agree": "share of the compared frames on which both verdicts are the same",
}

_ROWS = {
    "seconds_10": "10 certified motions, processor s",
    "seconds": "the run by the clock, s",
    "solutions": "motions",
    "certified": "share certified",
    "frames_per_solution": "frames for a motion",
    "success_ratio": "success ratio",
    "solution_ratio": "solution ratio",
    "pen_mm_max": "deepest, mm",
    "pen_mm_p95": "depth p95, mm",
}
_STRATEGIES = {"hold": "digits hold", "slide": "digits slide", "relocate": "digits relocate"}
_SEED = 0
_WARM_SECONDS = 0.05
_PASSES = 3
"""The same run, as often. What shares caches and cores with it only ever makes it slower, so that
the quickest tells what it costs; all are in the result."""


def measure_scene(name: str, *, num: int, budget: float) -> dict[str, Any]:
    """Motions of one scene on one core, and their certificates.

    Compiling and the making of distance grids, which are kept on disk, are not timed: a run of a
    moment goes first. Loading of the scene is not timed, preparing for the search is. Processor
    seconds are the least of a few passes of the same run, without its certificates.

    Args:
        name: Of the scene.
        num: Motions that are asked for.
        budget: Of the search, s.
    """
    problem = load_scene(name)
    synthesize(problem, ContactSampling(num_solutions=1, time_budget=_WARM_SECONDS), seed=_SEED)
    method = ContactSampling(num_solutions=num, time_budget=budget, num_workers=1)
    passes = []
    for _ in range(_PASSES):
        begin = time.process_time()
        result = synthesize(problem, method, seed=_SEED)
        used = time.process_time() - begin - result.timings.get("certification", 0.0)
        passes.append((used, result))
        if len(result.clips) < num:
            # It has used up its budget, and would again.
            break
    used, result = min(passes, key=lambda one: one[0])
    figures = scene_figures(result, certificates_of(result), wanted=num, processor_seconds=used)
    return {**figures, "passes_s": [seconds for seconds, _ in passes]}


def judged_figures(
    scenes: Mapping[str, Mapping[str, Any]], peer: Mapping[str, float] | None
) -> dict[str, float]:
    """The figures that have bars; NaN, which meets no bar, where there is nothing to show.

    Args:
        scenes: Figures by scene.
        peer: Figures of the test of one frame, if it was made.
    """

    def given(name: str) -> list[float]:
        return [row[name] for row in scenes.values() if row[name] is not None]

    seconds = given("seconds_10")
    found = {
        # Of what was returned.
        "certified": min(given("certified"), default=math.nan),
        "pen_mm_max": max(given("pen_mm_max"), default=math.nan),
        "pen_mm_p95": max(given("pen_mm_p95"), default=math.nan),
        # A scene without ten motions is slower than any bar.
        "seconds_10_slowest": max(seconds) if len(seconds) == len(scenes) else math.nan,
    }
    first = scenes.get(FIRST, {})
    if FIRST in scenes:
        for name in ("seconds_10", "frames_per_solution"):
            value = first[name]
            found[f"{name}_first"] = math.nan if value is None else value
        for name in ("ratio", "agree"):
            found[f"peer_{name}"] = math.nan if peer is None else peer[name]
    return {name: found[name] for name in BARS if name in found}


def run(*, scenes: str | None = None, num: int = 10, budget: float = 60.0) -> dict[str, Any]:
    """Measures all; at most ten minutes with warm caches.

    Args:
        scenes: Names with commas between them; all five if None.
        num: Motions for each scene; ``seconds_10`` is given for ten only.
        budget: Of the search in each scene, s.
    """
    names = chosen_scenes(scenes, SCENE_NAMES)
    if num < 1 or not budget > 0.0:
        raise InvalidValueError(
            f"--num is {num} and --budget {budget:g}; expected 1 motion or more, and seconds "
            "above 0."
        )
    rows: dict[str, dict[str, Any]] = {}
    peer: dict[str, float] | None = None
    with shown_steps(len(names) + (FIRST in names)) as begin_step:
        for name in names:
            begin_step(f"{name}: up to {budget:g} s of search")
            rows[name] = measure_scene(name, num=num, budget=budget)
        if rows.get(FIRST, {}).get("solutions"):
            begin_step("one frame, beside SLSQP and Clarabel")
            path = solved_path(load_scene(FIRST), seed=_SEED, budget=budget)
            peer = {key: float(value) for key, value in measure_frames(*path)._asdict().items()}
    judged = judged_figures(rows, peer)
    return {
        "scenes": rows,
        "peer": peer,
        **judged_part(judged, BARS),
        "num": num,
        "budget_s": budget,
        "seed": _SEED,
    }


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"Contact sampling, {result['num']} motions asked for, one core, seed "
        f"{result['seed']}, at most {result['budget_s']:g} s of search",
    )
    table.add_column("")
    for name in result["scenes"]:
        table.add_column(name, justify="right", no_wrap=True)
    rows = result["scenes"].values()
    for key, meaning in _ROWS.items():
        table.add_row(meaning, *(_cell(row[key]) for row in rows))
    for key, meaning in _STRATEGIES.items():
        table.add_row(meaning, *(str(row["strategies"][key]) for row in rows))
    lines = refused_lines(result["scenes"])
    lines += [
        f"{name}: {row['message']}" for name, row in result["scenes"].items() if row["message"]
    ]
    return Group(
        table,
        judged_table(result, _MEANINGS),
        *_peer_lines(result["peer"]),
        *lines,
    )


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _peer_lines(peer: Mapping[str, float] | None) -> Sequence[str]:
    if peer is None:
        return ()
    return (
        f"One frame of {FIRST}, mean of {peer['frames']:.0f}: ours {peer['ours_us']:.0f} µs; "
        f"SLSQP {peer['peer_ik_ms']:.1f} ms and Clarabel, contacts collected, "
        f"{peer['peer_forces_ms']:.2f} ms; ratio {peer['ratio']:.0f}. "
        f"Of these frames {peer['feasible']:.0%} are feasible. Largest miss of a guiding point: "
        f"ours {peer['ours_miss_mm']:.3f} mm, SLSQP {peer['peer_miss_mm']:.3f} mm.",
    )
