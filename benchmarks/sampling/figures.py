"""Figures of one run of contact sampling: certificates, penetration, search statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handwright.core.result import Result
from handwright.evidence import Certificate, Tolerances, certify
from handwright.evidence.certificate.penetration import depth_summary, penetration_of
from handwright.evidence.metrics.strategies import total_strategies


def scene_figures(
    result: Result, certificates: Sequence[Certificate], *, wanted: int, processor_seconds: float
) -> dict[str, Any]:
    """What one run came to.

    ``seconds_10`` is the processor time of the run if it gave ten certified motions, ten having
    been asked for; else None, for times of fewer or more motions are not scaled.

    Args:
        result: Of ``synthesize``.
        certificates: Of its clips, in their order.
        wanted: How many motions were asked for.
        processor_seconds: That the run took.
    """
    numbers, found = result.statistics, len(result.clips)
    certified = sum(certificate.passed for certificate in certificates)
    depth = depth_summary(
        np.concatenate([np.zeros(0), *(penetration_of(one) for one in certificates)])
    )
    seconds = float(result.timings["total"])
    reasons = [name for one in certificates for name in one.reasons]
    return {
        "seconds_10": processor_seconds if found == certified == wanted == 10 else None,
        "seconds": seconds,
        "solutions": found,
        "frames_per_solution": numbers["total_frames"] / numbers["solutions"] if found else None,
        "success_ratio": numbers.get("success_ratio", 0.0),
        "solution_ratio": numbers.get("solution_ratio", 0.0),
        "certified": certified / found if found else None,
        "pen_mm_max": 1e3 * depth.max if found else None,
        "pen_mm_p95": 1e3 * depth.p95 if found else None,
        "strategies": total_strategies(result.clips),
        "refused": {name: reasons.count(name) for name in sorted(set(reasons))},
        "dead_ends": numbers.get("dead_ends", 0.0),
        "dropped": numbers.get("dropped", 0.0),
        "seconds_in": {name: float(value) for name, value in result.timings.items()},
        "status": result.status.name,
        "message": result.message,
    }


def certificates_of(result: Result, tolerances: Tolerances | None = None) -> list[Certificate]:
    """Certificates of all clips: those of the result, or as ``handwright verify`` makes them."""
    if result.certificates:
        return list(result.certificates)
    return [certify(clip, tolerances=tolerances) for clip in result.clips]
