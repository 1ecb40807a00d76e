"""A recorded subject matched by bones and inverse kinematics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handwright.io.manipnet.hand import matched_hand, read_hand, reproduce

if TYPE_CHECKING:
    from rich.table import Table


def run(data: Path, *, stride: int = 1) -> dict[str, float]:
    """Fits both hands of ``cube_med2`` and reproduces its joint positions.

    Args:
        data: Folder with the recordings, as described in ``handwright.io.manipnet.dataset``.
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
