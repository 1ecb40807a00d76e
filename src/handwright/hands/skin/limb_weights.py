"""Which links the skin of an arm follows: turns are spread along it, bends over its joints."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.core.skin import InBetween
from handwright.hands.skin.limb import Limb
from handwright.hands.skin.mesh import Vertices

Values = Float[np.ndarray, " V"]

# For each joint with links in between: their number.
_BETWEEN = {"shoulder_rotation": 2, "elbow_flexion": 2, "forearm_pronation": 2, "wrist_flexion": 1}
# Where the turn of the upper arm begins and ends, as shares of its length from the shoulder, and
# that of the forearm, as shares of its length from the elbow.
_UPPER_TURN = (0.02, 0.72)
_FORE_TURN = (0.16, 0.88)
# Half the length of skin that bends at the elbow, mm of the arm's tables: at the crease, where
# skin that is bent faster would fold over, and behind.
_CREASE, _POINT = 69.0, 46.0
# Skin that bends at the wrist, in half thicknesses of the palm before and beyond it.
_WRIST = (-2.6, 0.95)


def in_betweens(model: HandModel) -> tuple[InBetween, ...]:
    """The links that help the skin of an arm over its joints, in the order of its joints."""
    return tuple(
        InBetween(f"{name} {number + 1} of {count + 1}", model.joints.index(name), share)
        for name, count in _BETWEEN.items()
        for number, share in enumerate(np.arange(1, count + 1) / (count + 1))
    )


def limb_weights(
    model: HandModel, limb: Limb, vertices: Vertices, hand: Float[np.ndarray, "V L"]
) -> Float[np.ndarray, "V M"]:
    """Shares of all links, then of those in between, in the skin from fingertips to shoulder.

    Args:
        model: The hand with its arm.
        limb: The same arm.
        vertices: In the wrist's frame at the bind pose, m.
        hand: Shares of the links that vertices would have if the hand ended at the wrist.
    """
    x, y = vertices[:, 0], vertices[:, 1]
    passed = {
        "shoulder_rotation": _passed(x, limb.shoulder, limb.elbow, _UPPER_TURN),
        "elbow_flexion": _bent(limb, x, y),
        "forearm_pronation": _passed(x, limb.elbow, 0.0, _FORE_TURN),
        "wrist_flexion": hand_share(limb, x),
    }
    joints, wrist = model.joints, model.wrist_link
    weights = np.zeros((len(vertices), model.num_links + len(in_betweens(model))))
    # All skin follows the link before the first joint, until each joint takes its part over.
    link, helper = int(joints.parent[joints.index("shoulder_rotation")]), model.num_links
    weights[:, link] = 1.0
    for name, count in _BETWEEN.items():
        after = wrist if name == "wrist_flexion" else joints.index(name) + 1
        row = [link, *range(helper, helper + count), after]
        weights[:, row] = weights[:, [link]] * _hats(passed[name], len(row))
        link, helper = after, helper + count
    share = weights[:, [wrist]]
    weights[:, wrist] = 0.0
    weights[:, : model.num_links] += share * hand
    return weights


def hand_share(limb: Limb, x: Values) -> Values:
    """How far skin belongs to the hand, 0 to 1, by its place along the arm, m."""
    low, high = (limb.hand.thickness * end for end in _WRIST)
    return _eased((x - low) / (high - low))


def _passed(x: Values, start: float, end: float, shares: tuple[float, float]) -> Values:
    """How far skin is beyond a stretch of a bone, 0 to 1."""
    low, high = (start + share * (end - start) for share in shares)
    return _eased((x - low) / (high - low))


def _bent(limb: Limb, x: Values, y: Values) -> Values:
    """How far skin belongs to the forearm: over a longer way in the crease than behind."""
    side = 0.5 + 0.5 * np.clip(y / (36.0 * limb.unit), -1.0, 1.0)
    half = (_POINT + (_CREASE - _POINT) * side) * limb.unit
    t = np.clip(0.5 + 0.5 * (x - limb.elbow) / half, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _eased(t: Values) -> Values:
    """From 0 to 1, straight in the middle and soft at both ends."""
    t = np.clip(t, 0.0, 1.0)
    return 0.5 * t + 0.5 * t * t * (3.0 - 2.0 * t)


def _hats(passed: Values, count: int) -> Float[np.ndarray, "V N"]:
    """Shares of links in a row: between two neighbours, each takes over from the one before."""
    place = (count - 1) * passed[:, None]
    return np.maximum(1.0 - np.abs(place - np.arange(count)), 0.0)
