"""Learned fingers on things and scenes that were not taught, as in the paper's section 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from benchmarks.neural.scene_status import COLUMNS as SCENE_COLUMNS
from benchmarks.neural.scene_status import scene_rows
from benchmarks.neural.shape_cases import GROUPS, shape_cases
from benchmarks.neural.shape_figures import shape_figures
from benchmarks.progress import shown_steps
from benchmarks.scene_choice import chosen_scenes
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import SHIPPED, load_network
from handwright.scenes.catalogue import TRACK_SCENES

if TYPE_CHECKING:
    from rich.console import Group

BARS: dict[str, tuple[str, float]] = {
    "shapes_realism": (">=", 93.0),
    "shapes_penetration": ("<=", 0.35),
    "scenes_moved": (">=", 1.0),
}
_MEANINGS = {
    "shapes_realism": "all cases, by carried frames: frames that forces explain, %",
    "shapes_penetration": "all cases: mean depth of what penetrates, cm",
    "scenes_moved": "share of the scenes with tracks that got fingers, certified or not",
}
_BUDGET = 20.0
_COLUMNS = {
    "realism": "realism %",
    "penetration": "penetration cm",
    "deepest": "deepest cm",
    "smoothness": "cm/s²",
    "digits": "digits touching",
    "carried": "carried frames",
}


def run(
    *, model: str = SHIPPED, scenes: str | None = None, budget: float = _BUDGET
) -> dict[str, Any]:
    """Moves fingers around things, and in scenes, that no network was taught.

    Args:
        model: Folder of a network.
        scenes: Scenes with tracks, with commas between them; all if not given.
        budget: Of the search for certified fingers in each scene, s; 0 for none.
    """
    names = chosen_scenes(scenes, TRACK_SCENES)
    network, rows = load_network(model), []
    with shown_steps(len(names) + 1) as step, threadpool_limits(1):
        step("tracks")
        for case in shape_cases():
            figures = shape_figures(learned_motion(case.problem, network))
            rows.append({"group": case.group, "name": case.name, **figures._asdict()})
        found = scene_rows(names, model, budget, step)
    judged = {
        "shapes_realism": _mean(rows, "realism"),
        "shapes_penetration": _mean(rows, "penetration"),
        "scenes_moved": sum(row["is_moved"] for row in found) / len(found),
    }
    plain = [{key: _plain(value) for key, value in row.items()} for row in rows]
    return {"shapes": plain, "scenes": found, **judged_part(judged, BARS)}


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    """Over all rows; a thing that is nowhere carried counts as not held."""
    return float(np.mean([0.0 if np.isnan(row[key]) else row[key] for row in rows]))


def _plain(value: float | str) -> float | str | None:
    return None if isinstance(value, float) and np.isnan(value) else value


def describe(result: Mapping[str, Any]) -> Group:
    """Tables of the cases, the scenes and the goals."""
    from rich.console import Group
    from rich.table import Table

    parts: list[Table] = []
    for group in GROUPS:
        table = Table(title=group, box=None, pad_edge=False)
        table.add_column("thing")
        for title in _COLUMNS.values():
            table.add_column(title, justify="right")
        for row in (row for row in result["shapes"] if row["group"] == group):
            cells = ["-" if row[key] is None else f"{row[key]:.3g}" for key in _COLUMNS]
            table.add_row(row["name"], *cells)
        parts.append(table)
    table = Table(title="Scenes with tracks", box=None, pad_edge=False)
    table.add_column("scene")
    for title in SCENE_COLUMNS.values():
        table.add_column(title, justify="right")
    for row in result["scenes"]:
        cells = [_cell(row[key]) for key in SCENE_COLUMNS]
        table.add_row(row["scene"], *cells)
    return Group(*parts, table, judged_table(result, _MEANINGS))


def _cell(value: float | str | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.3g}"
