"""Ten minutes of live fingers over a bad line; objects are swapped while they are held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from handwright.errors import InvalidValueError
from handwright.geometry.shapes import make_shape
from handwright.hands.human.model import human
from handwright.methods.neural.live.network_fingers import finger_model
from handwright.methods.neural.live.soak import Trouble, soak
from handwright.methods.neural.network.runtime import SHIPPED, load_network

if TYPE_CHECKING:
    from rich.console import Group

SECONDS = 600
"""Of simulated time."""
OBJECTS: dict[str, dict[str, float]] = {
    "cylinder": {"radius": 0.033, "height": 0.12},
    "box": {"width": 0.06, "depth": 0.06, "height": 0.11},
    "sphere": {"radius": 0.036},
    "can": {},
    "bottle": {},
    "prism": {"radius": 0.038, "height": 0.11},
}
"""Which take the place of each other: the tracked wrist fits things of about this breadth."""
# A seed that nothing was tuned on.
_SEED = 1000
BARS: dict[str, tuple[str, float]] = {
    "p99_ms": ("<=", 8.0),
    "largest_tip_step": ("<=", 20.0),
    "grasped_share": (">=", 1.0),
}
_MEANINGS = {
    "p99_ms": "processor time of a frame of both hands, 99th percentile, ms",
    "largest_tip_step": "longest way of a fingertip between two frames, seen from the wrist, mm",
    "grasped_share": "swapped objects that thumb and another digit touch within a second, share",
}


def run(*, model: str = SHIPPED, seconds: int = SECONDS) -> dict[str, Any]:
    """Feeds tracked poses to a network, 2 % of them lost and 2 % late; no exception is caught.

    Args:
        model: Folder of a network.
        seconds: Of simulated time.
    """
    if seconds < 10:
        raise InvalidValueError(f"--seconds is {seconds}; expected 10 or more.")
    trouble = Trouble()
    with threadpool_limits(1):
        report = soak(
            finger_model(load_network(model)),
            {"right": human("right"), "left": human("left")},
            [make_shape(name, **size) for name, size in OBJECTS.items()],
            duration=float(seconds),
            seed=_SEED,
            trouble=trouble,
        )
    grasps = report.seconds_to_grasp
    judged = {
        "p99_ms": report.computing_ms[99],
        "largest_tip_step": 1e3 * report.largest_tip_step,
        "grasped_share": sum(map(math.isfinite, grasps)) / len(grasps) if grasps else math.nan,
    }
    row = asdict(report) | {"seconds_to_grasp": [g if math.isfinite(g) else None for g in grasps]}
    return {"report": row, "trouble": asdict(trouble), **judged_part(judged, BARS)}


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group

    report = result["report"]
    counts = ", ".join(f"{name} {count}" for name, count in report["counts"].items())
    times = ", ".join(f"{share} %: {ms:.2f}" for share, ms in report["computing_ms"].items())
    grasps = [seconds for seconds in report["seconds_to_grasp"] if seconds is not None]
    slowest = f"{max(grasps):.2f} s" if grasps else "-"
    return Group(
        f"{report['duration']:.0f} s of simulated time: {counts}.",
        f"Processor time of a frame, ms: {times}.",
        f"Swapped while held: {len(report['seconds_to_grasp'])}; slowest grasp {slowest}.",
        judged_table(result, _MEANINGS),
    )
