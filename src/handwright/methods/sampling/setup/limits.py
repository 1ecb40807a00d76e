"""Limits of the search, of its checks and of exact contacts, all derived from the certificate's.

Each of them keeps a margin for what comes after it: smoothing moves what the search has found,
and the mesh differs from the grid of distances. A limit is therefore a share of the tolerance that
the certificate has for the same thing, and follows it if it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from handwright.core.tolerances import Tolerances

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

TOLERANCES = Tolerances()
"""The tolerances of the certificate that motions are made for."""

# Number of skin points of a capsule that the search and the check of whole motions look at.
_SEARCH_SAMPLES, _CHECK_SAMPLES = 50, 400
# Share of the friction that finished motions may use, whatever the search was allowed.
_CHECK_FRICTION = 0.98
# What hands press with anyway, N: light bodies are held with many times their weight.
_EASY_FORCE = 25.0


class SearchLimits(NamedTuple):
    """What a frame must keep to; lengths are in m."""

    gap: float
    """A contact is no farther from the body than this."""
    penetration: float
    """Largest depth of the skin in the body and the surroundings."""
    digits: float
    """Largest overlap of two digits."""
    anchor: float
    """Largest distance of a guiding point from its target."""
    slip: float
    """A material point that moves farther over the body between two frames slides."""
    shear: float
    """How far skin that sticks is stretched before its contact slides."""
    step: float
    """Largest change of a joint between two frames, rad."""
    force: float
    """Largest sum of all normal forces of hands, in weights of the body."""
    friction_margin: float
    """Share of the friction that may be used."""
    max_samples: int
    """Number of skin points of a capsule that are looked at."""


def share_of(tolerance: float, share: float) -> float:
    """A share of a tolerance, to twelve decimals: 0.9 of 1 mm is 0.9 mm to the last bit."""
    return round(share * tolerance, 12)


GROUND_GAP = share_of(TOLERANCES.gap, 0.9)
"""A body touches the surroundings up to this distance, m."""
CANDIDATE_MISS = share_of(TOLERANCES.gap, 1.0)
"""A digit touches a candidate if its point misses it by less than this, m."""
CANDIDATE_DEPTH = share_of(TOLERANCES.penetration, 1.2)
"""A digit can be at a candidate if it is no deeper in the body than this, m. The search poses it
again, together with the others."""
EXACT_GAP = share_of(TOLERANCES.gap, 0.95)
"""A contact on the mesh carries force up to this distance, m."""
NEAR_GAP = share_of(TOLERANCES.gap, 1.02)
"""A finger between ``EXACT_GAP`` and this distance, m, may count as holding in a certificate, and
may not creep either."""
CREEP = share_of(TOLERANCES.static_drift, 0.9)
"""A contact that does not slide may creep this far while it lasts, m."""
RESIDUAL = share_of(TOLERANCES.force_residual, 0.5)
"""Force and moment that exact contacts may leave, in weights."""
LOOSE_RESIDUAL = share_of(TOLERANCES.force_residual, 0.9)
"""The residual where contacts are looked at once more, a little beside, in weights."""
HIDDEN_DEPTH = share_of(TOLERANCES.penetration, 0.18)
"""Depth that the grid and the skin points of the check may hide, m. Together with the depth that
the check allows it is short of what a certificate allows."""
CHECKED_STATIC_SHARE = 0.9
"""Share of the certificate's static speed up to which the check says that a contact holds."""
USABLE_STRENGTH = 0.9
"""Share of the strength of digits and joints that may be used."""
USABLE_DIGIT_FORCE = USABLE_STRENGTH * TOLERANCES.strength
"""Largest force of a digit, N."""


def search_limits(method: ContactSampling, step: float, weight: float) -> SearchLimits:
    """What frames of the search, ``step`` s apart, must keep to for a body of some weight, N."""
    return SearchLimits(
        gap=share_of(TOLERANCES.gap, 0.9),
        penetration=share_of(TOLERANCES.penetration, 0.6) + method.soft_tissue,
        digits=share_of(TOLERANCES.finger_finger, 0.9),
        anchor=share_of(TOLERANCES.gap, 1.2),
        slip=0.8 * TOLERANCES.static_speed * step,
        shear=0.75 * method.skin_stretch,
        step=method.finger_speed * step,
        force=max(method.max_force, _EASY_FORCE / weight),
        friction_margin=method.friction_margin,
        max_samples=_SEARCH_SAMPLES,
    )


def check_limits(search: SearchLimits, method: ContactSampling, step: float) -> SearchLimits:
    """What frames of a finished motion, ``step`` s apart, must keep to."""
    return search._replace(
        gap=TOLERANCES.gap,
        penetration=share_of(TOLERANCES.penetration, 0.8) + method.soft_tissue,
        slip=CHECKED_STATIC_SHARE * TOLERANCES.static_speed * step,
        shear=0.85 * method.skin_stretch,
        friction_margin=_CHECK_FRICTION,
        max_samples=_CHECK_SAMPLES,
    )


def kept_limits(check: SearchLimits, step: float) -> SearchLimits:
    """What frames of a search must keep to if a part of a motion is kept.

    What is kept has passed the check, and no margin can be spared for smoothing there. Frames are
    ``step`` s apart.
    """
    return check._replace(slip=TOLERANCES.static_speed * step, max_samples=_SEARCH_SAMPLES)
