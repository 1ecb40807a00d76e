"""Checks of what the clip itself says about its contacts."""

from __future__ import annotations

import numpy as np

from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.measures.measure import Ground, Measure, over
from handwright.evidence.certificate.stored import StoredFindings

_STORED_STRENGTH = 1.5
"""Stored forces may be this much larger than the strength of a digit: the judge looks for the least
that will do, and a method need not."""
_AT_ENDS = 10.0
"""How much more forces may leave in the first and the last frame, whose rates are extrapolated."""


def stored_measures(
    stored: StoredFindings, measures: dict[str, Measure], tolerances: Tolerances
) -> dict[str, Measure]:
    """Checks of stored forces, and those of slip and strength with what is stored about them."""
    slip, strength = measures["slip"], measures["strength"]
    limit = _STORED_STRENGTH * tolerances.strength
    claimed = Ground(stored.static_slip > tolerances.static_speed, lambda _: _claims(stored))
    pressed = Ground(
        stored.digit_force > limit,
        lambda _: (
            f"a digit is stored to press with {stored.digit_force.max():.3g} N, allowed "
            f"{limit:.3g} N"
        ),
    )
    none = "" if stored.has_forces else "no forces are stored"
    friction = over(
        stored.cone_excess, tolerances.friction, "of cone", lambda t: _whose(stored.cone_of, t)
    )
    return {
        "slip": slip._replace(grounds=(*slip.grounds, claimed)),
        "strength": strength._replace(grounds=(pressed,)),
        "friction": friction._replace(note=none),
        "stored_balance": _balance(stored, tolerances, none),
    }


def _claims(stored: StoredFindings) -> str:
    fastest = int(stored.static_slip.argmax())
    who = stored.static_of.get(fastest, "")
    whose = f" ({who})" if who else ""
    return f"contacts stored as static slide, at up to {stored.static_slip[fastest]:.3g} m/s{whose}"


def _whose(names: dict[int, str], frame: int) -> str:
    return names.get(frame, "")


def _balance(stored: StoredFindings, tolerances: Tolerances, none: str) -> Measure:
    residual = np.nan_to_num(stored.residual, nan=0.0)
    allowed = np.full(len(residual), tolerances.stored_balance)
    allowed[[0, -1]] *= _AT_ENDS
    misplaced = ""
    if stored.num_misplaced:
        misplaced = f"{stored.num_misplaced} forces act where nothing touches"
    # A force that acts on nothing is wrong whatever the rates are.
    lost = Ground(stored.misplaced > tolerances.stored_balance, lambda _: misplaced)
    missing = Ground(
        stored.is_incomplete,
        lambda _: f"{stored.num_missing} of the contacts have no force (NaN)",
    )
    return Measure(
        residual, allowed, "of weight", residual > allowed,
        lambda t: misplaced or _whose(stored.left_by, t), (lost, missing), none,
    )  # fmt: skip
