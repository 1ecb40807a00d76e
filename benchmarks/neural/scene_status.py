"""What learned fingers come to in the scenes with tracks: as they are, and certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.neural.shape_figures import shape_figures
from benchmarks.scene_choice import FIRST_SEED
from handwright.errors import HandwrightError
from handwright.methods.neural.method import NeuralFingers
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

COLUMNS = {
    "plain": "plain",
    "plain_seconds": "s",
    "realism": "realism %",
    "penetration": "penetration cm",
    "deepest": "deepest cm",
    "digits": "digits touching",
    "certified": "certified",
    "certified_seconds": "s",
}
"""Figures of a scene, and the headings of their columns."""


def scene_rows(
    names: Sequence[str], model: str, budget: float, step: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each scene.

    Args:
        names: Of the scenes.
        model: Folder of a network, or ``shipped``.
        budget: Of the search for certified fingers, s; 0 for none.
        step: Told of each scene as it begins.
    """
    rows = []
    for name in names:
        step(name)
        rows.append(_row(name, model, budget))
    return rows


def _row(name: str, model: str, budget: float) -> dict[str, Any]:
    problem = load_scene(name)
    row: dict[str, Any] = {"scene": name, "is_moved": False, **dict.fromkeys(COLUMNS)}
    begin = time.perf_counter()
    try:
        # Not certified, since most plain motions are refused: what matters is what they look like.
        plain = NeuralFingers(model=model, finish="plain")
        made = synthesize(problem, plain, seed=FIRST_SEED, certify=False).best
    except HandwrightError as error:
        return row | {"plain": f"failed: {error}"}
    row |= {"is_moved": True, "plain": "moved", "plain_seconds": time.perf_counter() - begin}
    figures = shape_figures(made)._asdict()
    row |= {
        key: None if np.isnan(figures[key]) else figures[key] for key in COLUMNS if key in figures
    }
    if budget > 0.0:
        begin = time.perf_counter()
        method = NeuralFingers(model=model, time_budget=budget)
        result = synthesize(problem, method, seed=FIRST_SEED)
        status = "certified" if result.status.is_success else result.status.name.lower()
        row |= {"certified": status, "certified_seconds": time.perf_counter() - begin}
    return row
