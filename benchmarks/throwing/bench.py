"""How well a simulated arm throws and catches: heights, a box to hit, speed, and certificates.

Heights are thrown with computed torques and with the springs of the thesis alone; by the nominal
controller, and by one that learns from its own throws while it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from benchmarks.throwing.boxes import HITS, MIDDLES, boxes, share
from benchmarks.throwing.cans import FLIPPING, flips_in_a_row
from benchmarks.throwing.heights import heights, unknown_balls
from handwright.errors import InvalidValueError
from handwright.methods.throwing.method import CatchThrow
from handwright.scenes import load_scene, toss_scenes
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.console import Group

# Seeds that nothing was tuned on.
_SEED = 5000
# Of the box that moves, m/s.
_SPEED = 0.2
BARS: dict[str, tuple[str, float]] = {
    "height_error_mm": ("<=", 3.0),
    "height_p95_mm": ("<=", 8.0),
    "dropped": ("<=", 0.0),
    "times_real_time": (">=", 30.0),
    "unknown_error_mm": ("<=", 8.0),
    "unknown_caught_share": (">=", 0.99),
    "box_share": (">=", 0.95),
    "moving_box_share": (">=", 0.90),
    "half_turns": (">=", 200.0),
    "certified_share": (">=", 1.0),
}
_MEANINGS = {
    "height_error_mm": "mean error of the height, all loops, mm",
    "height_p95_mm": "its 95th percentile, mm",
    "dropped": "loops that ended without the ball",
    "times_real_time": "simulated time over processor time, controller included",
    "unknown_error_mm": "mean error of the height with unknown balls, after three loops, mm",
    "unknown_caught_share": "loops with unknown balls that ended with the ball, share",
    "box_share": f"high places of the box with {HITS} hits and catches in a row, share",
    "moving_box_share": f"boxes at {_SPEED} m/s with {HITS} hits and catches in a row, share",
    "half_turns": "half turns of a can in a row, rehearsed, worst seed",
    "certified_share": "scenes of tosses with a certified motion, share",
}


def run(
    *,
    loops: int = 1000,
    seeds: int = 5,
    positions: int = 538,
    balls: int = 50,
    flips: int = 200,
    parts: str = "heights,springs,balls,boxes,cans,scenes",
) -> dict[str, Any]:
    """Throws balls to random heights and at boxes in random places.

    Args:
        loops: Throws and catches in a row, for each seed.
        seeds: Number of seeds.
        positions: Places of the box, and a fifth as many that move.
        balls: Unknown balls.
        flips: Half turns of a can after which a run ends.
        parts: Names of what is run, with commas between them.
    """
    if min(loops, seeds, positions, balls, flips) < 1:
        raise InvalidValueError(
            "--loops, --seeds, --positions, --balls and --flips are expected to be 1 or more."
        )
    known: dict[str, Callable[[], tuple[dict[str, Any], dict[str, float]]]] = {
        "heights": lambda: _heights(loops, seeds),
        "springs": lambda: _springs(loops),
        "balls": lambda: _balls(balls),
        "boxes": lambda: _boxes(positions),
        "cans": lambda: _cans(flips, seeds),
        "scenes": _scenes,
    }
    wanted = [name.strip() for name in parts.split(",")]
    foreign = [name for name in wanted if name not in known]
    if foreign:
        raise InvalidValueError(
            f"--parts names {', '.join(foreign)}; expected some of {', '.join(known)}."
        )
    found: dict[str, Any] = {}
    judged: dict[str, float] = {}
    with threadpool_limits(1):
        for name in wanted:
            result, figures = known[name]()
            found |= result
            judged |= figures
    return {**found, **judged_part(judged, BARS)}


def _heights(loops: int, seeds: int) -> tuple[dict[str, Any], dict[str, float]]:
    rows = [heights("computed_torque", loops, _SEED + seed) for seed in range(seeds)]
    errors = np.concatenate([row.pop("errors_mm") for row in rows])
    return {"heights": rows}, {
        "height_error_mm": float(np.mean(errors)),
        "height_p95_mm": float(np.percentile(errors, 95)),
        "dropped": float(sum(row["dropped"] for row in rows)),
        "times_real_time": float(np.mean([row["times_real_time"] for row in rows])),
    }


def _springs(loops: int) -> tuple[dict[str, Any], dict[str, float]]:
    """What is compared: the nominal controller, and the springs of the thesis."""
    rows = [
        heights("computed_torque", loops, _SEED, learns=False),
        heights("pd", loops, _SEED),
        heights("pd", loops, _SEED, learns=False),
    ]
    for row in rows:
        row.pop("errors_mm")
    return {"others": rows}, {}


def _balls(count: int) -> tuple[dict[str, Any], dict[str, float]]:
    found = unknown_balls(count, _SEED)
    return {"unknown": found["balls"]}, {
        "unknown_error_mm": found["mean_mm"],
        "unknown_caught_share": found["caught_share"],
    }


def _boxes(positions: int) -> tuple[dict[str, Any], dict[str, float]]:
    still = {name: boxes(name, positions, _SEED) for name in MIDDLES}
    moving = boxes("high", max(1, positions // 5), _SEED + 1, speed=_SPEED)
    return {"boxes": still, "moving_boxes": moving, "low_box_share": share(still["low"])}, {
        "box_share": share(still["high"]),
        "moving_box_share": share(moving),
    }


def _cans(flips: int, seeds: int) -> tuple[dict[str, Any], dict[str, float]]:
    """What is compared: throws that are all alike, and throws that answer lies alone."""
    rows: list[dict[str, Any]] = []
    for how in FLIPPING:
        for seed in range(_SEED, _SEED + seeds):
            run = flips_in_a_row(flips, seed, how)
            degrees = [round(min(run.turned)), round(max(run.turned))]
            rows.append(
                {
                    "how": how,
                    "seed": seed,
                    "in_a_row": run.in_a_row,
                    "free_turn_degrees": degrees,
                    "processor_seconds": round(run.seconds, 1),
                }
            )
    least = min(row["in_a_row"] for row in rows if row["how"] == "rehearsed")
    return {"cans": rows}, {"half_turns": float(least)}


def _scenes() -> tuple[dict[str, Any], dict[str, float]]:
    scenes = {name: _is_certified(name) for name in toss_scenes()}
    return {"scenes": scenes}, {"certified_share": float(np.mean(list(scenes.values())))}


def _is_certified(name: str) -> bool:
    return synthesize(load_scene(name), CatchThrow(), seed=_SEED).status.is_success


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group
    from rich.table import Table

    table = Table("drive", "learns", "seed", "loops", "mean mm", "p95 mm", "dropped", "x real time")
    for row in (*result.get("heights", ()), *result.get("others", ())):
        table.add_row(
            row["drive"],
            "yes" if row["learns"] else "no",
            str(row["seed"]),
            str(row["loops"]),
            f"{row['mean_mm']:.1f}",
            f"{row['p95_mm']:.1f}",
            str(row["dropped"]),
            f"{row['times_real_time']:.0f}",
        )
    parts: list[Any] = [table] if table.row_count else []
    if "low_box_share" in result:
        low = 100.0 * result["low_box_share"]
        parts.append(f"Of low boxes, {low:.0f} % are hit and caught {HITS} times.")
    cans = Table("cans", "seed", "half turns in a row", "free turn, degrees")
    for row in result.get("cans", ()):
        low, high = row["free_turn_degrees"]
        cans.add_row(row["how"], str(row["seed"]), str(row["in_a_row"]), f"{low} to {high}")
    if cans.row_count:
        parts.append(cans)
    return Group(*parts, judged_table(result, _MEANINGS))
