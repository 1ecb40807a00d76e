"""Contact-invariant optimisation on all scenes with goals: success, time, exactness, peer."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table, refused_lines
from benchmarks.progress import shown_steps
from benchmarks.scene_choice import FIRST_SEED, chosen_scenes
from benchmarks.trajopt.figures import EXACT, PUSH, SceneRun, judged_run, scene_row
from benchmarks.trajopt.peer import measure_peer
from handwright.core.result import Status
from handwright.errors import InvalidValueError
from handwright.methods import ContactInvariant
from handwright.scenes import goal_scenes, load_scene
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

PAPER_SIZED = "pick_pen_horizontal"
"""Eleven key states of one hand and one body, as in the paper."""
_BALL, _PENS = "pick_ball", "pick_pen_"
_BUDGETS = {_BALL: 10.0, _PENS: 15.0}
_BUDGET = 60.0
_PEER_SECONDS = 40.0
# The whole run, s: 20 minutes for three seeds, less what warming up and the last run may take.
_LIMIT, _LIMIT_OF_SEED = 1080.0, 360.0
_BESIDE = 6.0
"""Of each run, beside its optimisation, s: its certificate and other judging."""
_LEAST_SHARE = 0.25
"""Of its budget that each run is sure of."""

BARS: dict[str, tuple[str, float]] = {
    "success_ball": (">=", 0.95),
    "seconds_ball": ("<=", 5.0),
    "success_pens": (">=", 0.9),
    "seconds_pens": ("<=", 15.0),
    "success_others": (">=", 0.7),
    "seconds_others": ("<=", 60.0),
    "force_residual_pct": ("<=", 0.5),
    "gap_mm": ("<=", 0.3),
    "slip_cm_s": ("<=", 0.5),
    "cone_pct": ("<=", 1.0),
    "pen_mm": ("<=", 0.5),
    "ms_per_iteration": ("<=", 15.0),
    "peer_ratio": (">=", 50.0),
    "pushes": (">=", 0.8),
}

_MEANINGS = {
    "success_ball": f"share of runs of {_BALL} that end in a certified clip with its goals met",
    "seconds_ball": "median time of these on one core, restarts included, s",
    "success_pens": f"the same share, worst of {_PENS}*",
    "seconds_pens": "median time, slowest of these, s",
    "success_others": "the same share, worst of the other scenes",
    "seconds_others": "median time, slowest of these, s",
    **{name: f"95th percentile, worst scene: {text}" for name, text in EXACT.items()},
    "ms_per_iteration": f"of the solver on {PAPER_SIZED}",
    "peer_ratio": "time to the same cost: L-BFGS-B with finite differences over ours",
    "pushes": f"share of runs that a simulated hand holds, pushed with {PUSH} N; worst of {_BALL} "
    f"and {_PENS}*",
}

_OUTCOME = {
    "success": "success",
    "seconds": "median, s",
    "goal_mm_max": "goal, mm",
    "goal_deg_max": "goal, °",
    "attempts": "attempts",
    "clips": "clips",
    "certified": "certified",
    "pushes": "pushed, held",
    "cut_short": "cut short",
}
_ERRORS = {
    "force_residual_pct": "force, %",
    "moment_residual_Nm": "moment, N m",
    "gap_mm": "gap, mm",
    "slip_cm_s": "slip, cm/s",
    "cone_pct": "cone, %",
    "pen_mm": "depth, mm",
}


def scene_names() -> tuple[str, ...]:
    """Scenes with goals, but for those with grips, which are for another method."""
    return tuple(name for name, scene in goal_scenes().items() if not scene.has_grips)


def budget_of(name: str) -> float:
    """Time that one run of a scene is due, s."""
    return next((due for start, due in _BUDGETS.items() if name.startswith(start)), _BUDGET)


def fair_budget(due: float, waiting: Sequence[float], left: float) -> float:
    """Time for the next run, s: what it is due, unless those after it would then get too little.

    Args:
        due: Of this run, s.
        waiting: Times that the runs after it are due, s.
        left: Time of the processor until the benchmark must end, s.
    """
    kept = sum(_LEAST_SHARE * one + _BESIDE for one in waiting) + _BESIDE
    return min(due, max(left - kept, _LEAST_SHARE * due))


@dataclass(frozen=True, slots=True)
class _Clock:
    """How much time there is until the benchmark must end."""

    begin: float
    used: float
    """Time of the processor at the beginning, s."""
    limit: float

    @staticmethod
    def start(limit: float) -> _Clock:
        return _Clock(time.monotonic(), time.process_time(), limit)

    def left(self) -> float:
        """Time of the processor that is left, s, if the machine stays as busy as it was."""
        passed = time.monotonic() - self.begin
        pace = (time.process_time() - self.used) / passed if passed > 1.0 else 1.0
        return min(pace, 1.0) * (self.limit - passed)


def warm_up(name: str) -> None:
    """Compiles, and makes distance grids, with one attempt at a scene."""
    synthesize(load_scene(name), ContactInvariant(max_attempts=1), seed=FIRST_SEED)


def measure_run(name: str, *, seed: int, budget: float) -> SceneRun:
    """One run of a scene on one core, restarts included. Loading and judging are not timed.

    Args:
        name: Of the scene.
        seed: Of the run.
        budget: Time it may take on the processor, s.
    """
    problem = load_scene(name)
    method = ContactInvariant(time_budget=budget)
    method.ready(problem)  # distance grids, which are kept on disk
    with threadpool_limits(limits=1):
        begin = time.process_time()
        result = synthesize(problem, method, seed=seed)
        seconds = time.process_time() - begin
    if result.status is Status.CANCELLED:
        raise KeyboardInterrupt
    return judged_run(
        result,
        seed=seed,
        seconds=seconds - result.timings.get("certification", 0.0),
        is_cut=budget < budget_of(name),
        is_pushed=name == _BALL or name.startswith(_PENS),
    )


def judged_figures(
    scenes: Mapping[str, Mapping[str, Any]], peer: Mapping[str, float] | None
) -> dict[str, float]:
    """The figures that have bars; NaN, which meets no bar, where there is nothing to show.

    Args:
        scenes: Figures by scene.
        peer: Figures beside L-BFGS-B, if they were taken.
    """
    found: dict[str, float] = {}
    groups: dict[str, list[Mapping[str, Any]]] = {"ball": [], "pens": [], "others": []}
    for name, row in scenes.items():
        is_pen = name.startswith(_PENS)
        groups["ball" if name == _BALL else "pens" if is_pen else "others"].append(row)
    for group, rows in groups.items():
        if rows:
            found[f"success_{group}"] = min(row["success"] for row in rows)
            found[f"seconds_{group}"] = max(row["seconds"] for row in rows)
    for name in EXACT:
        given = [row[name] for row in scenes.values() if row[name] is not None]
        found[name] = max(given, default=math.nan)
    pushed = [row["pushes"] for row in scenes.values() if row["pushes"] is not None]
    if pushed:
        found["pushes"] = min(pushed)
    if peer is not None:
        found["ms_per_iteration"], found["peer_ratio"] = peer["ms_per_iteration"], peer["ratio"]
    return {name: found[name] for name in BARS if name in found}


def run(*, scenes: str | None = None, seeds: int = 3) -> dict[str, Any]:
    """Measures all; at most 20 minutes with warm caches and three seeds.

    Args:
        scenes: Names with commas between them; all scenes with goals if None. The solver is timed
            beside its peer if the scene for that is among them.
        seeds: Runs of each scene.
    """
    names = chosen_scenes(scenes, scene_names())
    if seeds < 1:
        raise InvalidValueError(f"--seeds is {seeds}; expected 1 or more.")
    # The quick ones first, so that none of them is cut short for slow ones.
    ordered = sorted(names, key=budget_of)
    plan = [(name, FIRST_SEED + number) for number in range(seeds) for name in ordered]
    runs: dict[str, list[SceneRun]] = {name: [] for name in names}
    peer: dict[str, Any] | None = None
    with shown_steps(len(plan) + 1 + (PAPER_SIZED in names)) as begin_step:
        begin_step("compiling what is not compiled yet")
        warm_up(names[0])
        clock = _Clock.start(max(_LIMIT, _LIMIT_OF_SEED * seeds))
        if PAPER_SIZED in names:
            begin_step(f"beside L-BFGS-B, {_PEER_SECONDS:g} s")
            figures = measure_peer(
                load_scene(PAPER_SIZED), seed=FIRST_SEED, allowed_s=_PEER_SECONDS
            )
            peer = figures._asdict()
        for number, (name, seed) in enumerate(plan):
            waiting = [budget_of(other) for other, _ in plan[number + 1 :]]
            budget = fair_budget(budget_of(name), waiting, clock.left())
            begin_step(f"{name}, seed {seed}: up to {budget:.0f} s")
            runs[name].append(measure_run(name, seed=seed, budget=budget))
    rows = {name: scene_row(runs[name]) for name in names}
    judged = judged_figures(rows, peer)
    return {
        "scenes": rows,
        "peer": peer,
        "pushes": {name: row["pushes"] for name, row in rows.items() if row["pushes"] is not None},
        **judged_part(judged, BARS),
        "ms_per_iteration": None if peer is None else peer["ms_per_iteration"],
        "seeds": [FIRST_SEED + number for number in range(seeds)],
    }


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group

    seeds = f"seeds {result['seeds'][0]} to {result['seeds'][-1]}"
    tables = (
        _scene_table(f"Contact-invariant optimisation, {seeds}, one core", result, _OUTCOME),
        _scene_table("Errors of the clips, 95th percentiles", result, _ERRORS),
    )
    lines = refused_lines(result["scenes"])
    lines += [
        f"{name}: {text}" for name, row in result["scenes"].items() for text in row["messages"]
    ]
    return Group(
        *tables,
        judged_table(result, _MEANINGS),
        *_peer_lines(result["peer"]),
        *lines,
    )


def _scene_table(title: str, result: Mapping[str, Any], columns: Mapping[str, str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title)
    table.add_column("", no_wrap=True)
    for heading in columns.values():
        table.add_column(heading, justify="right")
    for name, row in result["scenes"].items():
        table.add_row(name, *(_cell(row[key]) for key in columns))
    return table


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _peer_lines(peer: Mapping[str, Any] | None) -> Sequence[str]:
    if peer is None:
        return ()
    end = "" if peer["peer_reached"] else "at least "
    return (
        f"{PAPER_SIZED}, {peer['keys']} keys, {peer['variables']} variables, cost "
        f"{peer['start_cost']:.4g} at the start. Both come to {peer['cost']:.4g}: ours in "
        f"{peer['ours_s']:.3f} s, L-BFGS-B with finite differences in {peer['peer_s']:.1f} s; "
        f"ratio {peer['ratio']:.0f}. Ours ends at {peer['ours_end']:.4g}, L-BFGS-B after "
        f"{peer['peer_ran_s']:.0f} s at {peer['peer_end']:.4g}; ratio to the former {end}"
        f"{peer['ratio_to_end']:.0f}.",
    )
