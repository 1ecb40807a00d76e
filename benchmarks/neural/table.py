"""Rows of the tables: who moves the fingers, on which cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.neural.baselines import Fingers, NearestNeighbour, first_pose, mean_pose
from benchmarks.neural.cases import TAILS, Case
from benchmarks.neural.figures import Figures, mean_of, measured, with_fingers
from handwright.core.clip import Clip
from handwright.methods.neural.fitting import Correction
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.view import hand_views

CORRECTIONS: tuple[Correction, ...] = ("none", "algorithm1", "contact", "grip")
TEACHER = "teacher"
Maker = Callable[[Clip], Fingers]
"""Makes fingers for the tracks of a clip."""


def baselines(taught: Sequence[Clip]) -> dict[str, Maker]:
    """Makers that learn nothing, by name; only one of them needs no motions to look up."""
    if not taught:
        return {"first pose": first_pose}
    return {
        "mean pose": lambda case: mean_pose(taught, case),
        "first pose": first_pose,
        "nearest neighbour": NearestNeighbour(taught),
    }


def networks(found: Mapping[str, Network | WindowedNetwork]) -> dict[str, Maker]:
    """Makers that go by networks, each with every correction, by name."""

    def maker(network: Network | WindowedNetwork, correction: Correction) -> Maker:
        return lambda case: rolled_out(network, hand_views(case.problem), correction=correction)

    return {
        f"{name}, {correction}": maker(network, correction)
        for name, network in found.items()
        for correction in CORRECTIONS
    }


def table_of(
    cases: Sequence[Case], makers: Mapping[str, Maker], step: Callable[[str], None]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by group of cases and by maker; the teacher's come first.

    Args:
        cases: To try.
        makers: By name.
        step: Told of each maker and case.
    """
    rows: dict[str, dict[str, list[Figures]]] = {}
    for case in cases:
        row, own = rows.setdefault(case.group, {}), case.group != TAILS
        step(f"{TEACHER}: {case.name}")
        row.setdefault(TEACHER, []).append(measured(case.teacher, case.teacher, own_friction=own))
        for name, maker in makers.items():
            step(f"{name}: {case.name}")
            made = with_fingers(case.teacher, maker(case.teacher))
            row.setdefault(name, []).append(measured(made, case.teacher, own_friction=own))
    table = {
        group: {name: mean_of(parts) for name, parts in row.items()} for group, row in rows.items()
    }
    return {
        group: {
            name: {
                **{key: _plain(value) for key, value in figures._asdict().items()},
                "smoothness_ratio": _plain(figures.smoothness / row[TEACHER].smoothness),
            }
            for name, figures in row.items()
        }
        for group, row in table.items()
    }


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
