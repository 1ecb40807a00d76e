"""Weights of every stage of the optimisation, from forgiving to exact.

A residual is an error divided by its tolerance, times the root of the time that a sample stands
for. At first the laws of contact and motion are loose and the hand finds a path (the paper's
continuation); then contact variables are rounded and kept, and the tolerances tighten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from handwright.methods.trajopt.model.model import ResidualWeights
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.terms.regularization import RegularizationWeights


@dataclass(frozen=True, slots=True)
class StageTolerances:
    """Errors that make a residual of one."""

    gap: float
    """Gap between surfaces in contact, m."""
    slip: float
    """Relative velocity in contact, m/s."""
    force: float
    """Unbalanced force, in weights of the body."""
    moment: float
    """Unbalanced moment, in weights x arm; see ``Body.arm``."""
    cone: float
    """Force outside its friction cone, in weights of the body."""
    penetration: float
    """Depth of an overlap, m."""
    facing: float
    """Angle between the normals of hand and body, rad."""
    limit: float
    """Excess over a joint limit, rad."""
    push: float = 0.05
    """Share of a push that is not resisted."""


LOOSE = StageTolerances(5e-3, 0.05, 0.10, 0.02, 0.20, 2e-3, 1.0, 0.1)
TIGHT = StageTolerances(1e-3, 0.01, 0.005, 0.001, 0.01, 1e-3, 0.2, 3e-3)
EXACT = StageTolerances(3e-4, 3e-3, 0.003, 0.0006, 0.005, 3e-4, 0.1, 3e-3)
FINE = StageTolerances(1e-4, 1e-4, 0.003, 0.0006, 0.005, 1e-4, 0.05, 1e-3)

# Tolerance of the distance from a digit's pad, m.
_PAD = 0.05
# How much forces may change under a push, in sizes of the push.
_CHANGE = 20.0
# Number of contacts with which a hand holds, and the tolerance of its joints' speed then, rad/s.
_HOLDING, _GRIP_RATE = 2, 0.1
# Tolerance of a wrist's distance from its start where hands throw, m: the least acceleration would
# take the wrist up after the body and only then back.
_STRAYING = 0.1
# Tolerances of accelerations: of wrist and body, m/s^2; of their hinges and of fingers, rad/s^2.
_LINEAR, _WRIST_HINGE, _BODY_HINGE, _FINGER = 3.0, 20.0, 30.0, 40.0
# Tolerance of angles of wrist and fingers from their rest posture, rad.
_REST = 2.0
# Tolerance of rates at the end: in m/s or rad/s, and in rad/s of the body's hinges.
_END_RATE, _END_HINGE_RATE = 0.01, 0.1
# Tolerance of forces, in weights of the body, and of the speed of their origins on it, m/s.
_FORCE, _CREEP = 5.0, 0.2


def stage_weights(
    tolerances: StageTolerances,
    *,
    laws: float = 1.0,
    is_frozen: bool,
    friction: float,
    squeeze: float = 0.0,
    goal: float = 1.0,
) -> ResidualWeights:
    """Weights of the residuals in a stage.

    Args:
        tolerances: Tolerances of the residuals.
        laws: Factor on the costs of contact and motion, below 1 in the first stages.
        is_frozen: Whether contact variables are no longer optimised.
        friction: Share of the friction that may be used.
        squeeze: Least normal force of a hand's contact, in weights of the body.
        goal: Factor on the costs of goals.
    """
    root = np.sqrt(laws)
    return ResidualWeights(
        gap=root / tolerances.gap,
        slip=root / tolerances.slip,
        force=root / tolerances.force,
        moment=root / tolerances.moment,
        cone=1.0 / tolerances.cone,
        pad=1.0 / _PAD,
        facing=root / tolerances.facing,
        limit=1.0 / tolerances.limit,
        penetration=1.0 / tolerances.penetration,
        goal=float(np.sqrt(goal)),
        squeeze=squeeze,
        attraction=1e-3,
        friction=friction,
        push=1.0 / tolerances.push,
        is_frozen=is_frozen,
    )


def regularization_weights(
    transcription: Transcription,
    *,
    factor: float = 1.0,
    is_on: Bool[np.ndarray, "P N"] | None = None,
) -> RegularizationWeights:
    """Weights of the quadratic terms, with a factor on those of accelerations.

    Once the contacts ``is_on`` are known, a hand that holds keeps its fingers still, unless it
    turns the body with them.
    """
    m = transcription.model
    layout, nq = m.layout, m.layout.num_coordinates
    acceleration, rest, value = np.zeros(nq), np.zeros(nq), np.zeros(nq)
    rate = np.zeros((m.num_phases, nq))
    end_rate = np.full(nq, 1.0 / _END_RATE**2)
    for number, hand in enumerate(transcription.hands):
        if hand.is_free:
            acceleration[hand.wrist_position] = 1.0 / _LINEAR**2
            acceleration[hand.wrist_angles] = 1.0 / _WRIST_HINGE**2
            rest[hand.wrist_angles] = 1.0 / _REST**2
            if transcription.in_spans.any():
                rest[hand.wrist_position] = 1.0 / _STRAYING**2
        fingers = hand.finger_coordinates
        acceleration[fingers] = 1.0 / _FINGER**2
        rest[fingers] = 1.0 / _REST**2
        # A hand that grips nothing keeps the posture it starts with, such as a pointing finger.
        grips = transcription.first_hold < m.num_phases
        relaxed = hand.model.poses.get("rest", hand.q) if grips else hand.q
        value[fingers] = relaxed[hand.couplings.leading]
        if is_on is not None and not transcription.is_turned_in_hand:
            holds = is_on[:, transcription.contact_hand == number].sum(axis=1) >= _HOLDING
            rate[holds, fingers] = 1.0 / _GRIP_RATE**2
    acceleration[layout.body_position] = 1.0 / _LINEAR**2
    acceleration[layout.hinges] = 1.0 / _BODY_HINGE**2
    end_rate[layout.hinges] = 1.0 / _END_HINGE_RATE**2
    return RegularizationWeights(
        acceleration=factor * acceleration,
        rest=rest,
        rest_value=value,
        rate=rate,
        force=1.0 / (_FORCE * m.weight) ** 2,
        change=1.0 / (_CHANGE * m.pushes.size) ** 2 if m.pushes.size > 0.0 else 0.0,
        creep=1.0 / _CREEP**2,
        end_rate=end_rate,
    )
