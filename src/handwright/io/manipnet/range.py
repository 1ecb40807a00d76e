"""How far the joints of a recorded hand went: its limits, and where its fingers lie side by side.

The zero of a recorded joint is where its markers were calibrated. On the ManipNet recordings index
and middle finger are spread by 8 to 17 degrees off the wrist's axis on average, and their last
joints bend backwards by up to 18: with limits of an average hand, centred on this package's own
zero, the recorded postures themselves are out of reach.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.hand import HandModel
from handwright.io.manipnet.hand import RecordedHand, reproduce

# Postures that are looked at, 1/s.
_RATE = 5.0
# Shares of the postures, in percent, between which a joint is said to go: single frames are wrong.
_FEW = 1.0
# By so much limits are widened at most, rad: joints that hardly show in the recorded points, such
# as the turn of the thumb about itself, may be found anywhere.
_MOST = np.radians(15.0)
# Joints whose zero is a matter of calibration.
_SPREADS = tuple(f"{finger}_mcp_abduction" for finger in ("index", "middle", "ring", "little"))


def with_recorded_range(model: HandModel, recorded: RecordedHand) -> HandModel:
    """The same hand, with limits that hold the recorded postures and fingers spread about these.

    Args:
        model: With the bones of the recorded hand.
        recorded: The whole recording.
    """
    joints = model.joints
    bounds = zip(joints.names, joints.lower - _MOST, joints.upper + _MOST, strict=True)
    wide = model.with_limits({name: (float(low), float(high)) for name, low, high in bounds})
    q, _ = reproduce(wide, recorded, stride=max(1, round(recorded.fps / _RATE)))
    least, middle, most = np.percentile(q, (_FEW, 50.0, 100.0 - _FEW), axis=0)
    lower, upper = np.minimum(joints.lower, least), np.maximum(joints.upper, most)
    limits = {
        name: (float(low), float(high))
        for name, low, high in zip(joints.names, lower, upper, strict=True)
    }
    ranged = model.with_limits(limits)
    spread = [joints.index(name) for name in _SPREADS]
    shift = np.zeros(len(joints))
    shift[spread] = (middle - model.pose("rest"))[spread]
    poses = {name: ranged.joints.clamp(pose + shift) for name, pose in model.poses.items()}
    return replace(ranged, poses=poses)
