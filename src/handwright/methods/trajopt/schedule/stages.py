"""Weights of every stage of the optimisation: from forgiving to exact.

A residual is an error over its tolerance, times the root of the time that a sample stands for.
First the laws of contact and motion are loose and the hand finds its way (the paper's
continuation); then contact variables are rounded and kept, and the tolerances tighten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from handwright.methods.trajopt.model.model import Weights
from handwright.methods.trajopt.model.transcribe import Built
from handwright.methods.trajopt.terms.regularization import Quiet


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What an error of one means."""

    gap: float
    """m."""
    slip: float
    """m/s."""
    force: float
    """Weights of the body."""
    moment: float
    """Weights x arm, see ``Body.arm``."""
    cone: float
    """Weights."""
    penetration: float
    """m."""
    facing: float
    """rad."""
    limit: float
    """rad."""
    push: float = 0.05
    """Share of a push."""


LOOSE = Tolerances(5e-3, 0.05, 0.10, 0.02, 0.20, 2e-3, 1.0, 0.1)
TIGHT = Tolerances(1e-3, 0.01, 0.005, 0.001, 0.01, 1e-3, 0.2, 3e-3)
EXACT = Tolerances(3e-4, 3e-3, 0.003, 0.0006, 0.005, 3e-4, 0.1, 3e-3)
FINE = Tolerances(1e-4, 1e-4, 0.003, 0.0006, 0.005, 1e-4, 0.05, 1e-3)

# How much forces may change for a push, in sizes of it.
_CHANGE = 20.0
# Contacts of a hand that holds, and how fast its joints may move then, rad/s.
_HOLDING, _GRIP_RATE = 2, 0.1
# How far from where it starts a wrist may stray where hands throw, m: the least acceleration would
# take it up after the body and only then back.
_STRAYING = 0.1


def weights(
    tolerances: Tolerances,
    *,
    laws: float = 1.0,
    is_frozen: bool,
    friction: float,
    squeeze: float = 0.0,
    goal: float = 1.0,
) -> Weights:
    """Weights of a stage.

    Args:
        tolerances: Of the residuals.
        laws: Factor on the costs of contact and motion, below 1 in the first stages.
        is_frozen: Whether contact variables stay.
        friction: Share of the friction that may be used.
        squeeze: Least normal force of a hand's contact, in weights of the body.
        goal: Factor on the goals' costs.
    """
    root = np.sqrt(laws)
    return Weights(
        gap=root / tolerances.gap,
        slip=root / tolerances.slip,
        force=root / tolerances.force,
        moment=root / tolerances.moment,
        cone=1.0 / tolerances.cone,
        pad=1.0 / 0.05,
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


def quiet(
    built: Built, *, factor: float = 1.0, is_on: Bool[np.ndarray, "P N"] | None = None
) -> Quiet:
    """Weights of the quadratic terms.

    Args:
        built: The problem.
        factor: On accelerations.
        is_on: Contacts by phase, once they are known: a hand that holds keeps its fingers still,
            unless it turns the body with them.
    """
    m = built.model
    layout, nq = m.layout, m.layout.num_coordinates
    acceleration, rest, value = np.zeros(nq), np.zeros(nq), np.zeros(nq)
    rate = np.zeros((len(m.clearance), nq))
    end_rate = np.full(nq, 1.0 / 0.01**2)
    for number, hand in enumerate(built.hands):
        if hand.is_free:
            first = hand.first_coordinate
            acceleration[first : first + 3] = 1.0 / 3.0**2
            acceleration[first + 3 : first + 6] = 1.0 / 20.0**2
            rest[first + 3 : first + 6] = 1.0 / 2.0**2
            if built.in_spans.any():
                rest[first : first + 3] = 1.0 / _STRAYING**2
        first = hand.first_finger_coordinate
        span = slice(first, first + len(hand.couplings.leading))
        acceleration[span] = 1.0 / 40.0**2
        rest[span] = 1.0 / 2.0**2
        # A hand that grips nothing stays as it starts: pointing, say.
        grips = built.first_hold < len(m.clearance)
        relaxed = hand.model.poses.get("rest", hand.q) if grips else hand.q
        value[span] = relaxed[hand.couplings.leading]
        if is_on is not None and not built.is_turned_in_hand:
            holds = is_on[:, built.contact_hand == number].sum(axis=1) >= _HOLDING
            rate[holds, span] = 1.0 / _GRIP_RATE**2
    acceleration[layout.body_position] = 1.0 / 3.0**2
    acceleration[layout.hinges] = 1.0 / 30.0**2
    end_rate[layout.hinges] = 1.0 / 0.1**2
    weight = m.weight
    return Quiet(
        acceleration=factor * acceleration,
        rest=rest,
        rest_value=value,
        rate=rate,
        force=1.0 / (5.0 * weight) ** 2,
        change=1.0 / (_CHANGE * m.pushes.size) ** 2 if m.pushes.size > 0.0 else 0.0,
        creep=1.0 / 0.2**2,
        end_rate=end_rate,
    )
