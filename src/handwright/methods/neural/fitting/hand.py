"""A hand made ready to be posed by a network."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.kinematics.fk import checked_values
from handwright.methods.neural.fitting.algorithm1 import Blend, PublishedCorrection
from handwright.methods.neural.fitting.network_pose import checked_outputs
from handwright.methods.neural.fitting.posture import FitSettings, PostureFit


class FittedHand:
    """A hand made ready for fits; holds room to compute in, so one thread at a time may use it."""

    __slots__ = ("algorithm1", "fit", "model")

    def __init__(
        self, model: HandModel, settings: FitSettings | None = None, *, blend: Blend | None = None
    ) -> None:
        settings = FitSettings() if settings is None else settings
        self.model = model
        self.fit = PostureFit(model, settings)
        self.algorithm1 = PublishedCorrection(model, own_places=settings.own_bones, blend=blend)


def fit_posture(
    hand: FittedHand, output: Float[np.ndarray, "*B 220"], start: Float[np.ndarray, "*B J"]
) -> Float[np.ndarray, "*B J"]:
    """Joint values, within limits and couplings, that come nearest to the network's pose.

    Args:
        hand: The hand; with ``own_bones`` in its settings it may be of any size.
        output: The network's numbers, one pose or a batch: places of 22 joints (m), six numbers
            each for their rotations, and distances (m), which are not looked at.
        start: Joint values to start from, such as those of the frame before, rad. Joints outside
            the digits stay as they are.
    """
    start = checked_values(hand.model, start)
    outputs = checked_outputs(output, start.shape[:-1])
    return hand.fit(outputs, start.reshape(-1, hand.model.num_joints)).reshape(start.shape)
