"""How far the skin of a hand stands out of its capsules, and what covers it where it is far."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.hands.skin import skin_of
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose

# Folds between fingers stand out further, but nothing is gripped with these.
_SHARE, _MOST = 92.0, 2e-3
# Skin further out than this is bare, m. Cuffs reach so far beyond the last of it, in radii, and
# follow each other so closely.
_BARE, _EDGE, _OVERLAP = 4e-3, 0.6, 0.8


@lru_cache(maxsize=8)
def skin_bulge(model: HandModel) -> Float[np.ndarray, " C"]:
    """What to add to the radius of every capsule so that the skin hardly sinks in, m.

    Motions are found with capsules and judged with skin. Most vertices over a capsule are within
    the larger radius.
    """
    capsules = model.capsules
    if model.skin is None or model.side == "none":
        return np.zeros(len(capsules))
    gap, _ = _gaps(model)
    owner, least = gap.argmin(axis=1), gap.min(axis=1)
    bulge = [
        np.percentile(least[owner == n], _SHARE) if np.any(owner == n) else 0.0
        for n in range(len(capsules))
    ]
    return np.clip(bulge, 0.0, _MOST)


class Cuff(NamedTuple):
    """A capsule of the root link."""

    start: Float[np.ndarray, "3"]
    """m."""
    end: Float[np.ndarray, "3"]
    radius: float
    """m."""


@lru_cache(maxsize=8)
def forearm_cuffs(model: HandModel) -> tuple[Cuff, ...]:
    """Capsules over the end of the forearm: copies of the wrist's, shifted to where skin is bare.

    Without them the stump dips into tables unseen.
    """
    if model.skin is None or "wrist" not in model.capsules.names or model.wrist_link != 0:
        return ()
    wrist = model.capsules.names.index("wrist")
    gap, at = _gaps(model)
    bare = at[(gap.argmin(axis=1) == wrist) & (gap.min(axis=1) > _BARE)]
    if not len(bare):
        return ()
    start, end = model.capsules.start[wrist], model.capsules.end[wrist]
    radius = float(model.capsules.radius[wrist]) + _MOST
    away = bare.mean(axis=0) - 0.5 * (start + end)
    away /= np.linalg.norm(away)
    reach = float(((bare - 0.5 * (start + end)) @ away).max()) - _EDGE * radius
    steps = np.arange(1, int(np.ceil(reach / (_OVERLAP * radius))) + 1)
    return tuple(
        Cuff(start + shift * away, end + shift * away, radius)
        for shift in reach * steps / max(len(steps), 1)
    )


def _gaps(model: HandModel) -> tuple[Float[np.ndarray, "V C"], Float[np.ndarray, "V 3"]]:
    """From every vertex of the skin to every capsule, m, and the vertices in the root's frame."""
    capsules = model.capsules
    skin = skin_of(model)
    posed = posed_capsules(model, skin.bind[None], Pose.identity((1,)))
    gap = np.zeros((len(skin.vertices), len(capsules)))
    for n in range(len(capsules)):
        start, along = posed.start[0, n], posed.end[0, n] - posed.start[0, n]
        s = np.clip((skin.vertices - start) @ along / (along @ along), 0.0, 1.0)
        off = skin.vertices - start - s[:, None] * along
        gap[:, n] = np.linalg.norm(off, axis=1) - capsules.radius[n]
    return gap, skin.vertices
