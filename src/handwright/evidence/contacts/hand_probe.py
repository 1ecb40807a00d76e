"""A hand of a clip, posed once for all that looks at it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from handwright.core.clip import Clip, HandMotion
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.evidence.contacts.slip import LinkMotion
from handwright.hands.skin.build import skin_of
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.samples import vertex_capsules


class HandProbe(NamedTuple):
    """A hand over a clip, posed once."""

    name: str
    model: HandModel
    motion: HandMotion
    skin: Skin | None
    owner: Int[np.ndarray, " V"]
    """Capsule under each vertex of the skin."""
    links: LinkMotion


def probe_hand(clip: Clip, name: str) -> HandProbe:
    """Poses a hand of a clip."""
    model, motion = clip.problem.hands[name], clip.hands[name]
    skin, owner = _skin_over_capsules(model)
    links = LinkMotion(*link_poses(model, motion.q, motion.root))
    return HandProbe(name, model, motion, skin, owner, links)


@lru_cache(maxsize=8)
def _skin_over_capsules(model: HandModel) -> tuple[Skin | None, Int[np.ndarray, " V"]]:
    """The skin and the capsule under each of its vertices, kept for judging many clips."""
    if model.skin is None or model.side == "none":
        return None, np.zeros(0, dtype=np.int64)
    skin = skin_of(model)
    return skin, vertex_capsules(model, skin)
