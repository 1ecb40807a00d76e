"""The joints that the network speaks of, on the links of one hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kinematics.ik.problem import MAX_JOINTS
from handwright.math import rotation

DIGITS = ("thumb", "index", "middle", "ring", "little")
JOINTS = (
    "wrist",
    "palm",
    "thumb_metacarpal",
    "thumb_proximal",
    "thumb_distal",
    "thumb_tip",
    *(
        f"{digit}_{part}"
        for digit in DIGITS[1:]
        for part in ("proximal", "intermediate", "distal", "tip")
    ),
)
NUM_JOINTS = len(JOINTS)
MIDDLE_KNUCKLE = JOINTS.index("middle_proximal")
NUM_OUTPUTS = (3 + 6 + 1) * NUM_JOINTS


class JointTable(NamedTuple):
    """Where the 22 joints are on the links of a hand; rows of ragged tables end with -1."""

    of_digit: Int[np.ndarray, "D N"]
    """Joints that each digit moves, from the palm outwards."""
    turn_of_digit: Int[np.ndarray, "D M"]
    """Those of them that stand for the turns of the digit's links: one for each link."""
    link: Int[np.ndarray, " 22"]
    local: Float[np.ndarray, "22 3"]
    """In the frame of the link, m."""
    axis: Float[np.ndarray, "22 2 3"]
    """In the frame of the link: along the bone, and out of its back. The six numbers of a rotation
    are these two directions in the wrist frame."""
    flip: Float[np.ndarray, "3"]
    """What takes a vector of the network to this hand's wrist frame: left hands are mirrored."""
    bone: Float[np.ndarray, " 22"]
    """Distance from the joint before on the same digit, m; 0 for the first."""
    palm: float
    """Distance of the middle knuckle from the wrist at the zero pose, m."""


def joint_table(model: HandModel) -> JointTable:
    """Looks up the network's joints among the frames of a hand.

    Args:
        model: A human hand, or any with its frames and with digits mounted on the wrist link.
    """
    missing = [name for name in JOINTS if name not in model.frames.names]
    if missing or tuple(digit.name for digit in model.digits) != DIGITS:
        raise InvalidValueError(
            f"Hand '{model.name}' has digits {', '.join(digit.name for digit in model.digits)} and "
            f"lacks {len(missing)} of the frames {', '.join(JOINTS)}; the network gives those of "
            "a human hand. Take a human hand, and retarget its motion to this one."
        )
    _check_mounting(model)
    frame = np.array([model.frames.index(name) for name in JOINTS])
    link, local = model.frames.link[frame].astype(np.int64), model.frames.position[frame]
    of_digit, turns = [], []
    for digit in DIGITS:
        rows = [n for n, name in enumerate(JOINTS) if name.startswith(digit)]
        of_digit.append(rows)
        turns.append([n for n in rows if not JOINTS[n].endswith("tip")])
    bone, palm = _bones(model, link, local)
    flip = np.array([1.0, -1.0 if model.side == "left" else 1.0, 1.0])
    # OpenXR: -z along the bone, y out of its back; a mirror reflects both as plain directions.
    turn = rotation.to_matrix(model.frames.wxyz[frame])
    axis = np.stack([-turn[:, :, 2], turn[:, :, 1]], axis=1)
    return JointTable(
        _ragged(of_digit),
        _ragged(turns),
        link,
        np.array(local),
        np.ascontiguousarray(axis),
        flip,
        bone,
        palm,
    )


def _check_mounting(model: HandModel) -> None:
    """Digits are posed one by one on a wrist link that is given: nothing else may move them."""
    for digit in model.digits:
        chain = sorted(digit.joints)
        parents = model.joints.parent[chain]
        if parents[0] != model.wrist_link or any(parents[1:] != np.array(chain[:-1]) + 1):
            raise InvalidValueError(
                f"Hand '{model.name}': the joints of '{digit.name}' are not a chain mounted on the "
                "wrist link. Take a human hand, and retarget its motion to another one."
            )
        if len(chain) >= MAX_JOINTS:
            raise InvalidValueError(
                f"Hand '{model.name}': '{digit.name}' has {len(chain)} joints; expected fewer than "
                f"{MAX_JOINTS}."
            )


def _bones(
    model: HandModel, link: np.ndarray, local: np.ndarray
) -> tuple[Float[np.ndarray, " 22"], float]:
    """Distances between neighbouring joints of a digit, which no posture changes; the palm's."""
    place = np.zeros((model.num_links, 3))
    # At the zero pose all links are parallel to the root.
    for joint, parent in enumerate(model.joints.parent):
        place[joint + 1] = place[parent] + model.joints.offset[joint]
    point = place[link] + local
    bone = np.zeros(NUM_JOINTS)
    for n in range(1, NUM_JOINTS):
        if JOINTS[n].split("_")[0] == JOINTS[n - 1].split("_")[0]:
            bone[n] = np.linalg.norm(point[n] - point[n - 1])
    palm = float(np.linalg.norm(point[MIDDLE_KNUCKLE] - place[model.wrist_link]))
    return bone, palm


def _ragged(rows: list[list[int]]) -> Int[np.ndarray, "D N"]:
    table = np.full((len(rows), max(map(len, rows)) + 1), -1)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
