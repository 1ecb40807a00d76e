"""The skin that is seen: of a hand with an arm, one mesh from the fingertips to the shoulder."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Bool

from handwright.core.hand import HandModel
from handwright.core.skin import InBetween, Skin
from handwright.hands.human.anthropometry import ARM_LIMITS
from handwright.hands.mirror import mirror
from handwright.hands.skin.build import FLIP, skin_of
from handwright.hands.skin.limb import limb_of_model
from handwright.hands.skin.limb_mesh import with_arm
from handwright.hands.skin.limb_weights import hand_share, in_betweens, limb_weights
from handwright.hands.skin.weights import strongest_four


@lru_cache(maxsize=8)
def whole_skin_of(model: HandModel) -> Skin:
    """The skin of a human hand and of its arm, for pictures and files.

    Contacts are measured on ``skin_of``, which ends at the wrist. Away from the wrist both are the
    same; without an arm they are the same everywhere.

    Args:
        model: A hand made by ``human``, with or without an arm, right or left.
    """
    hand = skin_of(model)
    if not has_human_arm(model):
        return hand
    if model.side == "left":
        right = whole_skin_of(mirror(model))
        return replace(right, vertices=right.vertices * FLIP, faces=right.faces[:, ::-1])
    return _grown(model, hand)


def has_human_arm(model: HandModel) -> bool:
    """Whether a hand with a skin is on an arm as ``human`` makes it, which has a skin too."""
    names = tuple(ARM_LIMITS)
    return (
        model.skin is not None
        and model.wrist_link == len(names)
        and model.joints.names[: len(names)] == names
    )


def links_between(model: HandModel) -> tuple[InBetween, ...]:
    """The links that only the whole skin of a hand has; none without a human arm."""
    return in_betweens(model) if has_human_arm(model) else ()


def bare_capsules(model: HandModel) -> Bool[np.ndarray, " C"]:
    """Which capsules no skin covers: all of a hand without one, and of arms that are not human."""
    if model.skin is None:
        return np.ones(len(model.capsules), dtype=bool)
    if has_human_arm(model):
        return np.zeros(len(model.capsules), dtype=bool)
    return np.asarray(model.capsules.link < model.wrist_link)


def _grown(model: HandModel, hand: Skin) -> Skin:
    """The skin of a right hand that goes on to the shoulder."""
    limb = limb_of_model(model)
    grown = with_arm(limb, hand.vertices, hand.faces)
    kept = grown.hand_vertices
    own = np.zeros((len(grown.vertices), model.num_links))
    own[:, model.wrist_link] = 1.0
    own[: len(kept)] = 0.0
    np.add.at(own, (np.arange(len(kept))[:, None], hand.links[kept]), hand.weights[kept])
    links, weights = strongest_four(limb_weights(model, limb, grown.vertices, own))
    # Beyond the wrist nothing may differ from the skin that contacts are measured on.
    same = np.flatnonzero(hand_share(limb, grown.vertices[: len(kept), 0]) == 1.0)
    links[same], weights[same] = hand.links[kept[same]], hand.weights[kept[same]]
    is_nail = np.zeros(len(grown.faces), dtype=bool)
    is_nail[: len(grown.hand_faces)] = hand.is_nail[grown.hand_faces]
    return Skin(
        vertices=grown.vertices,
        faces=grown.faces,
        links=links,
        weights=weights,
        is_nail=is_nail,
        bind=hand.bind,
        between=in_betweens(model),
    )
