"""What is measured of fingers that have no teacher."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from benchmarks.neural.figures import FPS
from handwright.core.clip import Clip
from handwright.evidence import PublishedConventions, physical_realism, smoothness
from handwright.evidence.metrics.realism import capsule_contacts

# Gap up to which a digit touches, m, as in the published figures.
_TOUCHES = PublishedConventions().contact_distance


class ShapeFigures(NamedTuple):
    """Of one motion."""

    realism: float
    """Share of the carried frames that contact forces explain with the friction of the bodies, %;
    NaN if nothing is carried."""
    penetration: float
    """Mean depth of the pairs of frame and capsule that penetrate, cm."""
    deepest: float
    """cm."""
    smoothness: float
    """Mean acceleration of the joints in the wrist's frame, cm/s^2."""
    digits: float
    """Digits, and palms, that touch in the mean carried frame."""
    carried: int
    """Frames that realism and digits are counted over."""


def shape_figures(clip: Clip) -> ShapeFigures:
    """All figures of a motion: of all bodies together, by their carried frames."""
    shares, depths, touching, counted = [], [], [], []
    for name, body in clip.problem.bodies.items():
        contacts = capsule_contacts(clip, name, reach=0.005)
        conventions = replace(PublishedConventions(fps=FPS), friction=body.friction)
        found = physical_realism(clip, name, conventions, found=contacts)
        is_carried = ~np.isnan(found.residual)
        touching.append(int(_digits(clip, contacts.gap)[is_carried].sum()))
        shares.append(0.0 if np.isnan(found.percent) else found.percent)
        depths.append((found.penetration, found.deepest))
        counted.append(found.counted)
    carried = sum(counted)
    return ShapeFigures(
        realism=float(np.dot(shares, counted)) / carried if carried else float("nan"),
        penetration=float(np.mean([mean for mean, _ in depths])),
        deepest=float(max(deepest for _, deepest in depths)),
        smoothness=smoothness(clip, fps=FPS).acceleration,
        digits=sum(touching) / carried if carried else float("nan"),
        carried=carried,
    )


def _digits(clip: Clip, gap: Float[np.ndarray, "T C"]) -> Int[np.ndarray, " T"]:
    """How many digits and palms touch in each frame, from the gaps of all hands' capsules."""
    owners = [
        100 * number + model.capsules.digit
        for number, model in enumerate(clip.problem.hands[name] for name in clip.hands)
    ]
    owner = np.concatenate(owners)
    touches = gap < _TOUCHES
    parts = np.stack([np.any(touches[:, owner == part], axis=1) for part in np.unique(owner)])
    return parts.sum(axis=0)
