"""A recorded subject matched by bones and inverse kinematics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.hand import HandModel
from handwright.hands import human
from handwright.hands.measured import bones_from_joints
from handwright.io.manipnet import RecordedHand, read_hand
from handwright.kinematics import PointGoals, solve_frames

if TYPE_CHECKING:
    from rich.table import Table


def matched_hand(recorded: RecordedHand) -> HandModel:
    """A human hand with the bones of a recorded subject."""
    mirror = np.array([1.0, -1.0 if recorded.side == "left" else 1.0, 1.0])
    joints = {name: recorded.position[:, n] * mirror for n, name in enumerate(recorded.names)}
    return human(recorded.side, bones=bones_from_joints(joints, recorded.thumb_base * mirror))


def reproduce(
    model: HandModel, recorded: RecordedHand, *, stride: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Joint values that follow a recording, and how far its joints are missed, m."""
    frame = [model.frames.index(name) for name in recorded.names]
    link, local = model.frames.link[frame], model.frames.position[frame]
    q, values, errors = model.pose("rest"), [], []
    for target in recorded.position[::stride]:
        goals = PointGoals(link, local, target, np.ones(len(link)))
        solved = solve_frames(model, q, points=goals, posture=1e-7, max_iterations=40)
        q = solved.q
        values.append(q)
        errors.append(solved.error)
    return np.array(values), np.array(errors)


def run(data: Path, *, stride: int = 1) -> dict[str, float]:
    """Fits both hands of ``cube_med2`` and reproduces its joint positions.

    Args:
        data: Folder with the recordings, as described in ``handwright.io.manipnet``.
        stride: Use every so-many-th frame.
    """
    result: dict[str, float] = {}
    for side in ("right", "left"):
        recorded = read_hand(data / "sequences" / "cube_med2.npz", side)
        _, errors = reproduce(matched_hand(recorded), recorded, stride=stride)
        result[f"{side}_mean_mm"] = float(errors.mean() * 1e3)
        result[f"{side}_p95_mm"] = float(np.percentile(errors, 95) * 1e3)
        result[f"{side}_worst_joint_mm"] = float(errors.mean(axis=0).max() * 1e3)
        result[f"{side}_frames"] = len(errors)
    return result


def describe(result: dict[str, float]) -> Table:
    """The result as a table."""
    from rich.table import Table

    table = Table(title="Recorded joints reproduced (cube_med2; bar: mean below 2 mm)")
    table.add_column("name")
    table.add_column("value", justify="right")
    for name, value in result.items():
        table.add_row(name, f"{value:.4g}")
    return table
