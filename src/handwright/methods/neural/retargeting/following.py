"""A robot hand that does what a human hand does at the same place.

Twice over all frames. First each frame alone, from the one before: pads and tips go where the human
ones are, which gives a posture; then pads go onto the body where the human digit touches, and all
links out of it, near that posture. What comes out is smoothed over frames, and put right once more,
near what is smooth.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.ndimage import gaussian_filter1d

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field
from handwright.kinematics.ik.frames import PointGoals, solve_frames
from handwright.kinematics.ik.hand import DigitTargets, solve_ik
from handwright.kinematics.ik.problem import IkWeights
from handwright.math.pose import Pose
from handwright.methods.neural.retargeting.aims import Aims, aims_of
from handwright.methods.neural.retargeting.stand_in import StandIn
from handwright.methods.neural.sensing.motion import RATE

# Of a tip's place beside a pad's: the two give the last link its direction.
_TIP = 0.3
# Pull to the posture of the frame before, and to that of a smooth motion, m^2/rad^2.
_FRAME, _SMOOTH = 1e-4, 1e-4
# Of a pad's place, and of depth in the body, beside that pull.
_PAD, _OBJECT = 5.0, 100.0
# Standard deviation of the smoothing over time, frames.
_BLUR = 2.0
# Soft pads may sink in so far, m.
_DEPTH = 3e-4
_ALL_CAPSULES = 64
# Samples of a capsule's axis that keep out of the body.
_SPHERES = 12
# Fastest joint, rad/s.
_SPEED = 9.0


def followed(
    model: HandModel,
    stand: StandIn,
    q: Float[np.ndarray, "T J"],
    root: Pose,
    field: Field,
    *,
    start: Float[np.ndarray, " K"],
) -> Float[np.ndarray, "T K"]:
    """Joint values of a robot hand, within its limits, that follow a human hand's, rad.

    Args:
        model: The robot hand.
        stand: The human hand that stands in for it.
        q: Joint values of the human hand, rad, at even times.
        root: (T,) poses of the robot's root in the frame of the body.
        field: Signed distances of the body that digits touch.
        start: Joint values that the search begins with, rad, such as those of the frame before.
    """
    aims = _smoothed(aims_of(stand.model, q, root @ stand.wrist, field), stand)
    rough = _each_frame(model, stand, aims, root, field, start)
    smooth = gaussian_filter1d(rough, _BLUR, axis=0, mode="nearest")
    return _put_right(model, stand, aims, root, field, model.joints.clamp(smooth))


def _smoothed(aims: Aims, stand: StandIn) -> Aims:
    """Aims of the human digits that are followed, in the order of the robot's."""
    chosen = [rows[:, stand.led_by] for rows in aims]
    return Aims(*(gaussian_filter1d(rows, _BLUR, axis=0, mode="nearest") for rows in chosen))


def _each_frame(
    model: HandModel,
    stand: StandIn,
    aims: Aims,
    root: Pose,
    field: Field,
    start: Float[np.ndarray, " K"],
) -> Float[np.ndarray, "T K"]:
    digits = [model.digits[n] for n in stand.own]
    points = [digit.pad for digit in digits] + [digit.tip for digit in digits]
    link = np.array([point.link for point in points])
    local = np.array([point.position for point in points])
    weight = np.repeat([1.0, _TIP], len(digits))
    wanted = root.inverse()[:, None].apply(np.concatenate([aims.pad, aims.tip], axis=1))
    q, found = start, []
    for target in wanted:
        goals = PointGoals(link, local, target, weight)
        q = solve_frames(model, q, points=goals, reference=q, posture=_FRAME, max_iterations=20).q
        found.append(q)
    return _put_right(model, stand, aims, root, field, np.stack(found))


def _put_right(
    model: HandModel,
    stand: StandIn,
    aims: Aims,
    root: Pose,
    field: Field,
    preferred: Float[np.ndarray, "T K"],
) -> Float[np.ndarray, "T K"]:
    """Postures near the preferred ones, with pads where they should be and nothing in the body."""
    weights = IkWeights(
        pad=_PAD,
        object=_OBJECT,
        digits=_OBJECT,
        num_spheres=_SPHERES,
        posture=_SMOOTH,
        object_margin=-_DEPTH,
        num_object_capsules=_ALL_CAPSULES,
    )
    count, found = len(model.digits), []
    active = np.zeros(count, dtype=bool)
    active[stand.own] = True
    q = preferred[0]
    for n, reference in enumerate(preferred):
        places, normals = np.zeros((count, 3)), np.zeros((count, 3))
        places[stand.own], normals[stand.own] = aims.pad[n], aims.normal[n]
        targets = DigitTargets(places, normals, active)
        q = solve_ik(
            model, q, targets, root=root[n], field=field, reference=reference,
            weights=weights, sweeps=2, max_step=_SPEED / RATE if n else None,
        ).q  # fmt: skip
        found.append(model.joints.clamp(q))
    return np.stack(found)
