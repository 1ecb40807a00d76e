"""The flesh of a hand under its skin, as rounded rods around the bones.

Where something is nearer to the axis of a rod than its radius, it is in the flesh by the difference
at least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.kinematics.skin.samples import CAPSULE_BULGE


class FleshRods(NamedTuple):
    """Capsules of a hand over the frames of a clip."""

    start: Float[np.ndarray, "T C 3"]
    """First ends of the axes in the world, m."""
    end: Float[np.ndarray, "T C 3"]
    radius: Float[np.ndarray, " C"]
    """Less what capsules stand out from the skin, m; all of it for a hand without skin."""


def flesh_rods(hand: HandProbe) -> FleshRods:
    """The rods of a posed hand, one for each capsule."""
    capsules, (rotations, positions) = hand.model.capsules, hand.links
    turn, place = rotations[:, capsules.link], positions[:, capsules.link]
    return FleshRods(
        place + np.einsum("tcij,cj->tci", turn, capsules.start),
        place + np.einsum("tcij,cj->tci", turn, capsules.end),
        capsules.radius - (0.0 if hand.skin is None else CAPSULE_BULGE),
    )


def is_arm(model: HandModel) -> Bool[np.ndarray, " C"]:
    """Which capsules are those of an arm: on a link that carries the wrist."""
    link, carrying = model.wrist_link, set()
    while link > 0:
        link = int(model.joints.parent[link - 1])
        carrying.add(link)
    return np.isin(model.capsules.link, list(carrying))
