"""A hand that a network poses: fits, corrections, and streams of them."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.kinematics.fk import checked_values
from handwright.methods.neural.fitting.algorithm1 import Blend, PublishedCorrection
from handwright.methods.neural.fitting.body_view import BodyView
from handwright.methods.neural.fitting.contact import ContactCorrection, ContactSettings
from handwright.methods.neural.fitting.holds import Asked
from handwright.methods.neural.fitting.network_pose import checked_outputs
from handwright.methods.neural.fitting.posture import FitSettings, PostureFit
from handwright.methods.neural.fitting.touches import Touches

Correction = Literal["none", "algorithm1", "contact", "grip"]
"""What is done to fitted postures: nothing, Algorithm 1 as published, contact-keeping, or that with
contacts that forces ask for."""


class FittedHand:
    """A hand made ready for fits; holds room to compute in, so one thread at a time may use it."""

    __slots__ = ("algorithm1", "contact", "fit", "model")

    def __init__(
        self,
        model: HandModel,
        settings: FitSettings | None = None,
        *,
        blend: Blend | None = None,
        contact: ContactSettings | None = None,
    ) -> None:
        self.model = model
        self.fit = PostureFit(model, settings)
        self.algorithm1 = PublishedCorrection(model, blend)
        self.contact = ContactCorrection(model, contact)


def fit_posture(
    hand: FittedHand, output: Float[np.ndarray, "*B 220"], start: Float[np.ndarray, "*B J"]
) -> Float[np.ndarray, "*B J"]:
    """Joint values, within limits and couplings, that come nearest to the network's pose.

    Args:
        hand: The hand, of the size that the network was taught with.
        output: The network's numbers, one pose or a batch: places of 22 joints (m), six numbers
            each for their rotations, and distances (m), which are not looked at.
        start: Joint values to start from, such as those of the frame before, rad. Joints outside
            the digits stay as they are.
    """
    start = checked_values(hand.model, start)
    outputs = checked_outputs(output, start.shape[:-1])
    return hand.fit(outputs, start.reshape(-1, hand.model.num_joints)).reshape(start.shape)


def corrected(
    hand: FittedHand,
    view: BodyView,
    output: Float[np.ndarray, "*B 220"],
    q: Float[np.ndarray, "*B J"],
    mode: Correction = "grip",
    past: Float[np.ndarray, "*B 2 J"] | None = None,
    asked: Asked | None = None,
) -> Float[np.ndarray, "*B J"]:
    """Fitted postures with their contacts set right.

    Args:
        hand: The hand.
        view: The body, from the wrist poses of the postures.
        output: The network's numbers, one pose or a batch, whose distances say what should touch.
        q: Joint values that were fitted to them, rad.
        mode: ``none``, ``algorithm1`` (as published), ``contact`` or ``grip``.
        past: Corrected postures of the last frame and the one before it, rad, which ``contact``
            and ``grip`` go on from; NaN in rows that have none.
        asked: What forces ask of the capsules, for ``grip``; nothing if not given.
    """
    q = hand.model.joints.clamp(checked_values(hand.model, q))
    outputs = checked_outputs(output, q.shape[:-1])
    rows = q.reshape(-1, hand.model.num_joints)
    if len(view.position) != len(rows):
        raise InvalidValueError(
            f"corrected: {len(rows)} postures and a view from {len(view.position)} wrist poses; "
            "expected as many."
        )
    if past is None:
        past = np.full((*q.shape[:-1], 2, q.shape[-1]), np.nan)
    if past.shape != (*q.shape[:-1], 2, q.shape[-1]):
        raise InvalidValueError(
            f"corrected: past has shape {past.shape}; expected {(*q.shape[:-1], 2, q.shape[-1])}."
        )
    if asked is not None and asked.touch.shape != (*q.shape[:-1], hand.contact.num_capsules):
        raise InvalidValueError(
            f"corrected: asked is of {asked.touch.shape} capsules; expected "
            f"{(*q.shape[:-1], hand.contact.num_capsules)}, those of the hand for each posture."
        )
    if mode == "algorithm1":
        rows = hand.algorithm1(view, outputs, rows)
    elif mode in ("contact", "grip"):
        before = np.array(past, dtype=np.float64).reshape(-1, 2, q.shape[-1])
        asks = None if asked is None else asked.in_rows(len(rows))
        rows = hand.contact(view, outputs, rows, before, asks)
    elif mode != "none":
        raise UnknownNameError("correction", mode, get_args(Correction))
    return rows.reshape(q.shape)


class Fitter:
    """Fits and corrects one frame after another; remembers the last two postures."""

    __slots__ = ("_past", "_posture", "hand", "mode")

    def __init__(
        self, hand: FittedHand, start: Float[np.ndarray, " J"], mode: Correction = "grip"
    ) -> None:
        if mode not in get_args(Correction):
            raise UnknownNameError("correction", mode, get_args(Correction))
        self.hand, self.mode = hand, mode
        self.reset(start)

    def reset(self, start: Float[np.ndarray, " J"]) -> None:
        """Forgets the past; the next fit starts from this posture, rad."""
        self._posture = self.hand.model.joints.clamp(checked_values(self.hand.model, start))
        self._past = np.full((2, self.hand.model.num_joints), np.nan)

    @property
    def posture(self) -> Float[np.ndarray, " J"]:
        """Joint values of the last frame, rad."""
        return self._posture.copy()

    def step(
        self,
        view: BodyView,
        output: Float[np.ndarray, " 220"],
        asked: Asked | None = None,
    ) -> Float[np.ndarray, " J"]:
        """Joint values of the next frame, rad.

        Args:
            view: The body, from the wrist pose of that frame.
            output: The network's numbers for it.
            asked: What forces ask of the capsules.
        """
        q = self._tried(view, output, asked)
        # After its first frame a stream is at rest.
        before = q if np.isnan(self._past[0, 0]) else self._posture
        self._posture, self._past = q, np.stack([q, before])
        return q.copy()

    def shown(self, view: BodyView) -> Touches:
        """Where capsules are nearest to the body in the posture of the last frame.

        Args:
            view: The body, from the wrist pose of that frame.
        """
        return self.hand.contact.touches(view, self._posture)

    def touches(self, view: BodyView, output: Float[np.ndarray, " 220"]) -> Touches:
        """Where capsules would be nearest to the body after a step; nothing is remembered.

        Args:
            view: As of ``step``.
            output: As of ``step``.
        """
        return self.hand.contact.touches(view, self._tried(view, output))

    def _tried(
        self,
        view: BodyView,
        output: Float[np.ndarray, " 220"],
        asked: Asked | None = None,
    ) -> Float[np.ndarray, " J"]:
        q = fit_posture(self.hand, output, self._posture)
        return corrected(self.hand, view, output, q, self.mode, self._past, asked)
