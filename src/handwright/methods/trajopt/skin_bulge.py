"""How far the skin of a hand stands out of its capsules."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.hands.skin import skin_of
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose

# Folds between fingers stand out further, but nothing is gripped with these.
_SHARE, _MOST = 92.0, 2e-3


@lru_cache(maxsize=8)
def skin_bulge(model: HandModel) -> Float[np.ndarray, " C"]:
    """What to add to the radius of every capsule so that the skin hardly sinks in, m.

    Motions are found with capsules and judged with skin. Most vertices over a capsule are within
    the larger radius.
    """
    capsules = model.capsules
    if model.skin is None or model.side == "none":
        return np.zeros(len(capsules))
    skin = skin_of(model)
    posed = posed_capsules(model, skin.bind[None], Pose.identity((1,)))
    gap = np.zeros((len(skin.vertices), len(capsules)))
    for n in range(len(capsules)):
        start, along = posed.start[0, n], posed.end[0, n] - posed.start[0, n]
        s = np.clip((skin.vertices - start) @ along / (along @ along), 0.0, 1.0)
        off = skin.vertices - start - s[:, None] * along
        gap[:, n] = np.linalg.norm(off, axis=1) - capsules.radius[n]
    owner, least = gap.argmin(axis=1), gap.min(axis=1)
    bulge = [
        np.percentile(least[owner == n], _SHARE) if np.any(owner == n) else 0.0
        for n in range(len(capsules))
    ]
    return np.clip(bulge, 0.0, _MOST)
