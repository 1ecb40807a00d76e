"""What the digits of a human hand do, as aims for those of another hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.geometry.distance.sdf_chains import capsules_to_field
from handwright.kinematics.fk import posed_capsules, posed_pads, posed_tips
from handwright.math.pose import Pose

# Gap of the last link up to which a digit touches, and from which on it does not, m.
_TOUCHING, _OFF = 0.002, 0.012
_SAMPLES = 6


class Aims(NamedTuple):
    """Of the digits of a hand over T frames, in the frame of the body."""

    pad: Float[np.ndarray, "T D 3"]
    """Where pads should be, m: on the body where the digit touches it."""
    tip: Float[np.ndarray, "T D 3"]
    """Where tips would be, m."""
    normal: Float[np.ndarray, "T D 3"]
    """Out of the body where a digit touches; zeros where it does not."""
    touch: Float[np.ndarray, "T D"]
    """1 where a digit touches, 0 where it is well off, and between them on the way."""


def aims_of(model: HandModel, q: Float[np.ndarray, "T J"], wrist: Pose, field: Field) -> Aims:
    """What the digits of a posed hand do.

    Args:
        model: The human hand.
        q: Its joint values, rad.
        wrist: (T,) poses of its root in the frame of the body.
        field: Signed distances of the body.
    """
    pads, tips = posed_pads(model, q, wrist).position, posed_tips(model, q, wrist).position
    distance, gradient = sample_field(field, pads.reshape(-1, 3))
    away = distance.reshape(pads.shape[:2])[..., None]
    normal = gradient.reshape(pads.shape)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-9)
    way = np.clip((_OFF - _gaps(model, q, wrist, field)) / (_OFF - _TOUCHING), 0.0, 1.0)
    touch = way * way * (3.0 - 2.0 * way)
    # Where the pad is nearest to the body, and not where the link is: on a flat face that leaps
    # from one end of the link to the other.
    share = touch[..., None]
    return Aims(pads - share * away * normal, tips, np.where(share > 0.0, normal, 0.0), touch)


def _gaps(
    model: HandModel, q: Float[np.ndarray, "T J"], wrist: Pose, field: Field
) -> Float[np.ndarray, "T D"]:
    """Least gaps of the last links of all digits, m."""
    posed, links = posed_capsules(model, q, wrist), model.capsules.link
    gaps = []
    for digit in model.digits:
        last = np.flatnonzero(links == digit.tip.link)
        start, end = posed.start[:, last].reshape(-1, 3), posed.end[:, last].reshape(-1, 3)
        radius = np.tile(posed.radius[last], len(q))
        gap, share, out = np.zeros(len(start)), np.zeros(len(start)), np.zeros((len(start), 3))
        capsules_to_field(
            field, np.eye(3), np.zeros(3), np.array(start), np.array(end),
            np.stack([radius, radius], axis=1), _SAMPLES, gap, share, out,
        )  # fmt: skip
        gaps.append(gap.reshape(len(q), -1).min(axis=1))
    return np.stack(gaps, axis=1)
