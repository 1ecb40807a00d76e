"""Stepping on all scenes with grips: speed, exactness, holding, and a simulated hand beside it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from benchmarks.bars import judged_part, judged_table
from benchmarks.progress import shown_steps
from benchmarks.scene_choice import chosen_scenes
from benchmarks.stepwise.figures import HOLD, NUM_PASSES, measure_scene, stepped
from handwright.core.problem import Problem
from handwright.methods.stepwise.objectives.planned_grasps import NoGripError
from handwright.scenes import goal_scenes, load_scene

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

SEED = 0
"""The one that ``handwright synth`` takes."""

# After this no other scene is begun, s: the whole ends within 10 minutes.
_LIMIT = 510.0

BARS: dict[str, tuple[str, float]] = {
    "infeasible_steps": ("<=", 0.0),
    "fps_one_hand": (">=", 300.0),
    "fps_two_hands": (">=", 120.0),
    "drift_um_s": ("<=", 10.0),
    "energy_gain_J": ("<=", 1e-6),
    "certified": (">=", 1.0),
}
_MEANINGS = {
    "infeasible_steps": "frames that could not keep all limits, all scenes",
    "fps_one_hand": "frames of 1/30 s in a second of one thread's processor time, slowest scene "
    f"with one hand; each frame at its least of {NUM_PASSES} passes",
    "fps_two_hands": "the same with two hands",
    "drift_um_s": f"of a held body over {HOLD:g} s, worst scene",
    "energy_gain_J": "most that contacts which slide or break add in a frame, worst scene",
    "certified": "share of scenes whose motion is certified",
}
_COLUMNS = {
    "fps": "fps",
    "contacts_max": "contacts",
    "infeasible_steps": "infeasible",
    "goal_error": "goal, mm",
    "goal_error_deg": "goal, °",
    "drift_um_s": "drift, um/s",
    "energy_gain_J": "gain, J",
}
_PUSHED = {
    "displaced_mm": "displaced, mm",
    "tilted_deg": "tilted, °",
    "back_after_s": "back after, s",
    "drift_um_s": "drift, um/s",
    "dropped": "dropped",
    "peer_displaced_mm": "servos: displaced, mm",
    "peer_tilted_deg": "tilted, °",
    "peer_drift_um_s": "drift, um/s",
    "peer_dropped": "dropped",
}


def scene_names() -> tuple[str, ...]:
    """Scenes with grips."""
    return tuple(name for name, scene in goal_scenes().items() if scene.has_grips)


def run(*, scenes: str | None = None) -> dict[str, Any]:
    """Measures all; at most 10 minutes with warm caches.

    Args:
        scenes: Names with commas between them; all scenes with grips if None.
    """
    names = chosen_scenes(scenes, scene_names())
    rows: dict[str, dict[str, Any]] = {}
    with shown_steps(len(names) + 1) as begin_step:
        begin_step("loading")
        begin = time.monotonic()
        for problem in _one_of_each(names):
            _warm_up(problem)
        for name in names:
            begin_step(name)
            problem = load_scene(name)
            if time.monotonic() - begin > _LIMIT:
                rows[name] = _no_motion(problem, f"not measured: {_LIMIT:.0f} s were over")
                continue
            try:
                rows[name] = measure_scene(problem, seed=SEED)
            except NoGripError as error:
                rows[name] = _no_motion(problem, str(error))
    judged = judged_figures(rows)
    return {
        "scenes": rows,
        **judged_part(judged, BARS),
        "seed": SEED,
        "fps_measured": f"processor time of one thread, least of {NUM_PASSES} passes a frame",
    }


def _one_of_each(names: tuple[str, ...]) -> list[Problem]:
    """A scene with one hand and one with two, as far as there are."""
    found = {len(goal_scenes()[name].hands): name for name in reversed(names)}
    return [load_scene(name) for name in found.values()]


def _warm_up(problem: Problem) -> None:
    """A whole run, which compiles or loads what frames need."""
    with suppress(NoGripError):
        stepped(problem, SEED)


def _no_motion(problem: Problem, message: str) -> dict[str, Any]:
    names = (*_COLUMNS, *(_PUSHED if problem.pushes else ()))
    nothing: dict[str, Any] = dict.fromkeys(names)
    return nothing | {"hands": len(problem.hands), "certified": False, "verdict": message}


def judged_figures(scenes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """The figures that have bars; NaN, which meets no bar, where there is nothing to show.

    A scene without a figure for speed or infeasible frames spoils the whole one; one that ends
    without the body has no drift.

    Args:
        scenes: Figures by scene.
    """
    judged: dict[str, float] = {}
    for key, count in (("fps_one_hand", 1), ("fps_two_hands", 2)):
        given = [row["fps"] for row in scenes.values() if row["hands"] == count]
        if given:
            judged[key] = math.nan if None in given else min(given)
    missing = [row["infeasible_steps"] for row in scenes.values()]
    judged["infeasible_steps"] = math.nan if None in missing else float(sum(missing))
    for key in ("drift_um_s", "energy_gain_J"):
        known = [row[key] for row in scenes.values() if row[key] is not None]
        judged[key] = max(known, default=math.nan)
    judged["certified"] = sum(row["certified"] for row in scenes.values()) / max(len(scenes), 1)
    return {name: judged[name] for name in BARS if name in judged}


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group

    scenes = result["scenes"]
    pushed = {name: row for name, row in scenes.items() if "displaced_mm" in row}
    parts: list[Any] = [_table(f"Stepping, seed {result['seed']}, one core", scenes, _COLUMNS)]
    if pushed:
        title = "Pushed, beside a simulated hand with stiff servos under the same pushes"
        parts.append(_table(title, pushed, _PUSHED))
    lines = [f"{name}: {row['verdict']}" for name, row in scenes.items()]
    return Group(*parts, judged_table(result, _MEANINGS), *lines)


def _table(title: str, rows: Mapping[str, Mapping[str, Any]], columns: Mapping[str, str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title)
    table.add_column("", no_wrap=True)
    for heading in columns.values():
        table.add_column(heading, justify="right")
    for name, row in rows.items():
        table.add_row(name, *(_cell(row[key]) for key in columns))
    return table


def _cell(value: float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.3g}"
