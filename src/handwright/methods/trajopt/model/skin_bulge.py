"""How far the skin of a hand stands out of its capsules, and capsules for skin without any."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.hands.skin.build import skin_of
from handwright.kinematics import link_poses, posed_capsules
from handwright.kinematics.skin.samples import has_skin
from handwright.math import rotation
from handwright.math.pose import Pose

# Percentile of the skin's distances, and largest bulge, m. Folds between fingers stand out further,
# but nothing is gripped with these.
_SHARE, _MOST = 92.0, 2e-3
# Largest bulge of the last segments of digits, m: where these touch, the certificate judges their
# capsules as well.
_MOST_OF_TIPS = 2e-4
# Largest bulge of palms, m: they are hollow, and where they touch, most skin is not further out
# than their capsules.
_MOST_OF_PALMS = 5e-4
# Skin this far out of a capsule of the wrist is the end of a forearm, m.
_STUB = 8e-3
# Positions that are tried for the farther of its capsules, as shares of the distance to its end.
_SHARES_TRIED = np.linspace(0.5, 1.0, 21)


class Stub(NamedTuple):
    """A capsule in addition to those of the hand model."""

    number: int
    """Number of the hand's capsule that it goes with."""
    start: Float[np.ndarray, "3"]
    """One end of its axis in the frame of that capsule's link, m."""
    end: Float[np.ndarray, "3"]
    """The other end, m."""
    radius: float
    """Radius, m."""


class _Covered(NamedTuple):
    """The skin of a hand over its capsules, in the pose that the skin is given in."""

    vertices: Float[np.ndarray, "V 3"]
    """m, in the frame of the root."""
    start: Float[np.ndarray, "C 3"]
    end: Float[np.ndarray, "C 3"]
    rotations: Float[np.ndarray, "L 3 3"]
    """Rotations of the links in the frame of the root."""
    owner: Int[np.ndarray, " V"]
    """Capsule nearest to each vertex."""
    gap: Float[np.ndarray, " V"]
    """How far the vertex is out of it, m."""


def _covered(model: HandModel) -> _Covered:
    """The skin of a hand that has one, whose vertices are given in the frame of the wrist."""
    skin, wrist = skin_of(model), model.wrist_link
    posed = posed_capsules(model, skin.bind[None], Pose.identity((1,)))
    rotations, positions = link_poses(model, skin.bind)
    vertices = np.asarray(skin.vertices @ rotations[wrist].T + positions[wrist])
    start, end = posed.start[0], posed.end[0]
    nearest = _nearest(vertices, start, end, model.capsules.radius)
    return _Covered(vertices, start, end, rotations, *nearest)


@lru_cache(maxsize=8)
def skin_bulge(model: HandModel) -> Float[np.ndarray, " C"]:
    """What to add to the radius of every capsule so that the skin hardly penetrates, m.

    Motions are found with capsules and judged with skin. Most vertices over a capsule lie within
    the enlarged radius.
    """
    capsules = model.capsules
    if not has_skin(model):
        return np.zeros(len(capsules))
    skin = _covered(model)
    bulge = [
        np.percentile(skin.gap[skin.owner == n], _SHARE) if np.any(skin.owner == n) else 0.0
        for n in range(len(capsules))
    ]
    is_tip = np.isin(capsules.link, [digit.pad.link for digit in model.digits])
    is_palm = (capsules.digit < 0) & (np.array(capsules.names) != "wrist")
    most = np.where(is_tip, _MOST_OF_TIPS, np.where(is_palm, _MOST_OF_PALMS, _MOST))
    return np.clip(bulge, 0.0, most)


@lru_cache(maxsize=8)
def skin_stubs(model: HandModel) -> tuple[Stub, ...]:
    """Capsules for skin that goes on behind the wrist, where the model has none.

    They are copies of the wrist's own capsule, one halfway to the end of the skin and one near it.
    """
    capsules = model.capsules
    if not has_skin(model):
        return ()
    skin = _covered(model)
    stubs: list[Stub] = []
    for n in np.flatnonzero((capsules.digit < 0) & (capsules.link == model.wrist_link)):
        points = skin.vertices[(skin.owner == n) & (skin.gap > _STUB)]
        if len(points) == 0:
            continue
        middle = 0.5 * (skin.start[n] + skin.end[n])
        direction = points.mean(axis=0) - middle
        direction /= np.linalg.norm(direction)
        far = float(((points - middle) @ direction).max()) * direction
        copied = skin.start[n], skin.end[n], float(capsules.radius[n])
        share = _SHARES_TRIED[
            np.argmin([_uncovered(points, copied, one * far) for one in _SHARES_TRIED])
        ]
        radius = copied[2] + max(_uncovered(points, copied, share * far), 0.0)
        to_link = rotation.conjugate(rotation.from_matrix(skin.rotations[capsules.link[n]]))
        for part in (0.5 * share, share):
            shift = rotation.rotate(to_link, part * far)
            stubs.append(Stub(int(n), capsules.start[n] + shift, capsules.end[n] + shift, radius))
    return tuple(stubs)


def _uncovered(
    points: Float[np.ndarray, "V 3"],
    capsule: tuple[np.ndarray, np.ndarray, float],
    shift: Float[np.ndarray, "3"],
) -> float:
    """How far points stand out of two copies of a capsule, shifted by half and by all, m."""
    start, end, radius = capsule
    shifts = np.outer([0.5, 1.0], shift)
    return float(_nearest(points, start + shifts, end + shifts, np.full(2, radius))[1].max())


def _nearest(
    points: Float[np.ndarray, "V 3"],
    start: Float[np.ndarray, "C 3"],
    end: Float[np.ndarray, "C 3"],
    radius: Float[np.ndarray, " C"],
) -> tuple[np.ndarray, Float[np.ndarray, " V"]]:
    """The capsule nearest to each point, and how far the point is out of it, m."""
    gap = np.zeros((len(points), len(start)))
    for n in range(len(start)):
        along = end[n] - start[n]
        s = np.clip((points - start[n]) @ along / (along @ along), 0.0, 1.0)
        off = points - start[n] - s[:, None] * along
        gap[:, n] = np.linalg.norm(off, axis=1) - radius[n]
    return gap.argmin(axis=1), gap.min(axis=1)
