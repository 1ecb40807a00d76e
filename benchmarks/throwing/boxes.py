"""Boxes in random places, at rest or moving, that are to be hit several times in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.throwing.heights import machine
from handwright.physics.throwing.rally import begin_rally, hit
from handwright.physics.throwing.targets import BoxPath
from handwright.physics.throwing.things import BOX_EDGE

MIDDLES = {"high": (0.0, 0.42, 0.60), "low": (0.0, 0.47, 0.40)}
"""Middles of the places of the box from the palm, m: to the right, ahead and up. The thesis gives
none. Low boxes ask for flat, fast throws, and for catches a quarter of a second after the impact;
the high ones are judged because they go better, so both are told."""
REGION = (0.30, 0.30, 0.25)
"""How far boxes are from that at most, m."""
HITS = 6
"""Hits and catches in a row that count as a success."""


def boxes(middle: str, positions: int, seed: int, *, speed: float = 0.0) -> list[dict[str, Any]]:
    """Hits in a row at boxes in random places, or that go to and fro between two of them.

    Args:
        middle: A key of ``MIDDLES``.
        positions: How many boxes.
        seed: Of the places.
        speed: Of the box, m/s.
    """
    rng, thrower = np.random.default_rng(seed), machine(box=True)
    rows = []
    for _ in range(positions):
        start, end = rng.uniform(-1.0, 1.0, (2, 3)) * REGION
        place = thrower.usual_home + np.array(MIDDLES[middle]) + start
        box = BoxPath(place, end - start, speed) if speed > 0.0 else BoxPath.still(place)
        hits = 0
        if begin_rally(thrower, box, 0.5 * BOX_EDGE):
            while hits < HITS and hit(thrower, box, 0.5 * BOX_EDGE):
                hits += 1
        rows.append({"offset_m": start.round(3).tolist(), "hits": hits})
    return rows


def share(rows: Sequence[Mapping[str, Any]]) -> float:
    """Share of boxes with all hits."""
    return float(np.mean([row["hits"] == HITS for row in rows]))
