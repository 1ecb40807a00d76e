"""The joints that the network speaks of, digit by digit, on the links of one hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kinematics.ik.problem import MAX_JOINTS
from handwright.kinematics.tree import Links, empty_links
from handwright.methods.neural.sensing.joints import JOINTS, sensed_hand

DIGITS = ("thumb", "index", "middle", "ring", "little")
NUM_JOINTS = len(JOINTS)


class JointTable(NamedTuple):
    """Where the 22 joints are on the links of a hand."""

    first: Int[np.ndarray, " D+1"]
    """Joints of a digit follow each other, from the palm to the tip: the first of each digit, and
    the number of all. The tip is on the same link as the joint before it."""
    link: Int[np.ndarray, " 22"]
    local: Float[np.ndarray, "22 3"]
    """In the frame of the link, m."""
    axis: Float[np.ndarray, "22 2 3"]
    """In the frame of the link: along the bone, and out of its back. The six numbers of a rotation
    are these two directions in the wrist frame."""
    flip: Float[np.ndarray, "3"]
    """What takes a vector of the network to this hand's wrist frame: left hands are mirrored."""


def joint_table(model: HandModel) -> JointTable:
    """Looks up the network's joints among the frames of a hand.

    Args:
        model: A human hand, or any with its frames and with digits mounted on the wrist link.
    """
    sensed = sensed_hand(model)
    _check_digits(model)
    starts = [[name.startswith(digit) for name in JOINTS].index(True) for digit in DIGITS]
    return JointTable(
        first=np.array([*starts, NUM_JOINTS]),
        link=sensed.link,
        local=sensed.local,
        axis=np.stack([sensed.along, sensed.dorsal], axis=1),
        flip=np.array([1.0, sensed.mirror, 1.0]),
    )


def flat_links(model: HandModel) -> Float[np.ndarray, "L 3"]:
    """Places of all links at the zero pose, where they are parallel to the root, m."""
    place = np.zeros((model.num_links, 3))
    for joint, parent in enumerate(model.joints.parent):
        place[joint + 1] = place[parent] + model.joints.offset[joint]
    return place


def wrist_links(model: HandModel) -> Links:
    """Room for the links of the digits of a hand whose wrist frame is at the origin."""
    links = empty_links(model.num_joints)
    links.rotation[model.wrist_link] = np.eye(3)
    return links


def _check_digits(model: HandModel) -> None:
    """Digits are posed one by one on a wrist link that is given: nothing else may move them."""
    if tuple(digit.name for digit in model.digits) != DIGITS:
        raise InvalidValueError(
            f"Hand '{model.name}' has digits {', '.join(digit.name for digit in model.digits)}; "
            f"the network gives {', '.join(DIGITS)}. Take a human hand, and retarget its motion."
        )
    for digit in model.digits:
        chain = sorted(digit.joints)
        mounts = [model.wrist_link, *(joint + 1 for joint in chain[:-1])]
        if model.joints.parent[chain].tolist() != mounts or len(chain) >= MAX_JOINTS:
            raise InvalidValueError(
                f"Hand '{model.name}': the joints of its '{digit.name}' are not a chain of fewer "
                f"than {MAX_JOINTS} on the wrist link. Take a human hand, and retarget its motion."
            )
