"""The paper's Table 1 on motions of our own: networks that lack a sensor, or a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from benchmarks.neural.cases import HELD_OUT, SEEN, own_trial
from benchmarks.neural.table import CORRECTIONS, TEACHER, baselines, networks, table_of
from benchmarks.progress import shown_steps
from handwright.errors import InvalidValueError, require
from handwright.learning.training.recipe import RECIPES
from handwright.methods.neural.network.runtime import load_network

if TYPE_CHECKING:
    from rich.console import Group

    from handwright.learning.training.recipe import Recipe

OURS = "ours"
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    OURS: ("ours", {}),
    "no sensors": ("ours", {"ambient": False, "distance": False}),
    "no ambient": ("ours", {"ambient": False}),
    "no distance": ("ours", {"distance": False}),
    "short traj.": ("ours", {"horizon": "0.1"}),
    "ResNet": ("ours", {"architecture": "resnet"}),
    "MLP": ("ours", {"architecture": "mlp"}),
    "windowed": ("windowed", {}),
}
"""Rows after the teacher's: the recipe, and what is changed in it. The last is not the paper's."""
_JUDGED = "contact"
"""Contact-keeping does what the network says of contacts; forces that ask for them would hold a
thing with any network, and hide what is compared."""
BARS: dict[str, tuple[str, float]] = {
    "first_in_seen": (">=", 1.0),
    "first_in_held_out": (">=", 1.0),
}
_MEANINGS = {
    "first_in_seen": "shapes trained on: share of the paper's other networks with less realism",
    "first_in_held_out": "the held-out shape: the same",
}
_GROUPS = {"first_in_seen": SEEN, "first_in_held_out": HELD_OUT}


def run(
    *,
    motions: Path | None = None,
    out: Path = Path("out/table"),
    epochs: int | None = None,
    cases: int | None = None,
) -> dict[str, Any]:
    """Trains every network of the table on the same motions, and tries them on the test split.

    Args:
        motions: Folder of 'handwright data make'.
        out: Folder for the networks; those that are there already are not trained again, and one
            that was stopped goes on.
        epochs: Instead of those of the recipes.
        cases: How many motions of each group of the test split are tried; all if not given.
    """
    if motions is None:
        raise InvalidValueError("Pass --motions DIR, a folder made by 'handwright data make'.")
    require("torch", extra="learn", feature="'handwright bench neural-table'")
    folders = {name: Path(out) / _file_name(name) for name in VARIANTS}
    costs = {}
    trial = own_trial(motions, cases)
    total = len(VARIANTS) + (1 + len(CORRECTIONS) * len(VARIANTS) + 3) * len(trial.cases)
    with shown_steps(total) as step, threadpool_limits(1):
        for name, folder in folders.items():
            step(f"training: {name}")
            costs[name] = _trained(_recipe(name, epochs), motions, folder)
        found = {name: load_network(folder) for name, folder in folders.items()}
        makers = {**baselines(trial.taught), **networks(found)}
        tables = table_of(trial.cases, makers, step)
    judged = {
        name: _share_beaten(tables[group]) for name, group in _GROUPS.items() if group in tables
    }
    return {"tables": tables, "training": costs, **judged_part(judged, BARS)}


def _file_name(name: str) -> str:
    return name.replace(" ", "_").rstrip(".").lower()


def _recipe(name: str, epochs: int | None) -> Recipe:
    base, changes = VARIANTS[name]
    recipe = replace(RECIPES[base], **changes)
    return recipe if epochs is None else replace(recipe, epochs=epochs)


def _trained(recipe: Recipe, motions: Path, folder: Path) -> dict[str, Any]:
    """Trains a network unless it is there; says how long its run is and how wide it is."""
    from handwright.learning.training.lessons.sources import taught_motions
    from handwright.learning.training.records.card import FREE, Material
    from handwright.learning.training.training import train

    found = taught_motions(motions)
    material = Material(f"{len(found)} motions of '{motions.name}'", FREE)
    history = train(found, recipe, folder, material=material, resume=folder.exists())
    return {"epochs": len(history), "width": recipe.width, "architecture": recipe.architecture}


def _share_beaten(table: Mapping[str, Mapping[str, Any]]) -> float:
    """Of the paper's variants: how many ours surpasses in realism with our post-processing."""
    others = [name for name in VARIANTS if name not in (OURS, "windowed")]
    ours = table[f"{OURS}, {_JUDGED}"]["realism"]
    return sum(ours > table[f"{name}, {_JUDGED}"]["realism"] for name in others) / len(others)


def describe(result: Mapping[str, Any]) -> Group:
    """The result as the paper has it: two tables of one row for each network."""
    from rich.console import Group
    from rich.table import Table

    parts: list[Any] = []
    for group, rows in result["tables"].items():
        table = Table(title=f"{group.capitalize()}, closed loop", box=None, pad_edge=False)
        for heading in ("", *(f"{word}: % / cm" for word in CORRECTIONS), "cm/s²", "error mm"):
            table.add_column(heading, justify="left" if not heading else "right")
        for name in (TEACHER, *VARIANTS):
            by_way = [rows[name] if name == TEACHER else rows[f"{name}, {w}"] for w in CORRECTIONS]
            cells = [f"{row['realism']:.2f} / {row['penetration']:.4f}" for row in by_way]
            last = by_way[CORRECTIONS.index(_JUDGED)]
            error = f"{last['joint_error']:.1f}"
            table.add_row(name, *cells, f"{last['smoothness']:.1f}", error)
        parts.append(table)
    return Group(*parts, judged_table(result, _MEANINGS))
