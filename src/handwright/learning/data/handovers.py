"""How a thing goes from the right hand to the left one: two holds that leave each other space.

The planner finds the second hold for a hand with an arm, at the place where the thing changes
hands, with the first hand in its way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from handwright.core.surface import EnvironmentBox
from handwright.geometry.cache import load_or_build
from handwright.grasping import Grasp, GraspOptions, find_grasp
from handwright.kinematics import link_poses, posed_capsules
from handwright.learning.data.holds import ACROSS, GRIPS, Hold, mirrored
from handwright.learning.data.shapes import Plane, Thing
from handwright.learning.data.stage import MEETING, arm_of, arm_strain, hand_model
from handwright.math import rotation
from handwright.math.pose import Pose

# Ways in which the second hand takes the thing; each is tried until one does.
_TAKING = ("any", "pinch")
_YAWS = 12
# Strain of an arm up to which it gives or takes.
_STRAIN = 3.0
_NUM_STARTS = 16
_WORST = 12.0
# Room between the hands, m.
_ROOM = 0.002
_VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class Handover:
    """Two holds of one thing at a time."""

    turn: np.ndarray
    """Orientation of the thing's carrier in the world when it changes hands, wxyz."""
    taker: Hold
    """Of the hand that takes it."""


def handover(thing: Thing, giver: Hold, number: int, plane: Plane, side: str) -> Handover | None:
    """How a thing leaves a hand that holds it, from the cache or found now.

    Args:
        thing: What it is.
        giver: The hold by the right hand.
        number: Of this hold among those of the thing.
        plane: The thing is its own mirror image in it.
        side: The hand that gives; the left one does what the right one does, mirrored.
    """
    key = f"handover-{thing.name}-{1e3 * thing.friction:g}-{giver.grip}-{number}-v{_VERSION}"
    rows = load_or_build(key, partial(_found_rows, thing, giver))
    if not len(rows["q"]):
        return None
    taker = Hold("given", Pose(rows["position"][0], rows["wxyz"][0]), rows["q"][0])
    if side == "right":
        return Handover(rows["turn"][0], taker)
    # The mirror image in x = 0 of the world.
    matrix = ACROSS["x"] @ rotation.to_matrix(rows["turn"][0]) @ ACROSS[plane]
    return Handover(rotation.from_matrix(matrix), mirrored(taker, plane))


def _found_rows(thing: Thing, giver: Hold) -> dict[str, np.ndarray]:
    found = find_handover(thing, giver)
    some = [] if found is None else [found]
    return {
        "turn": np.array([one.turn for one in some]).reshape(len(some), 4),
        "position": np.array([one.taker.wrist.position for one in some]).reshape(len(some), 3),
        "wxyz": np.array([one.taker.wrist.wxyz for one in some]).reshape(len(some), 4),
        "q": np.array([one.taker.q for one in some]).reshape(len(some), giver.q.size),
    }


def find_handover(thing: Thing, giver: Hold) -> Handover | None:
    """How the left hand takes a thing out of the right one; None if the planner finds no way."""
    yaws = 2.0 * np.pi * np.arange(_YAWS) / _YAWS
    poses = [Pose(MEETING, rotation.exp(np.array([0.0, 0.0, yaw]))) for yaw in yaws]
    strains = np.array([arm_strain("right", pose @ giver.wrist) for pose in poses])
    model, shoulder = arm_of("left")
    for index in np.argsort(strains, kind="stable")[:2].tolist():
        if strains[index] > _STRAIN:
            continue
        pose = poses[index]
        for grip in _TAKING:
            grasp = find_grasp(
                model,
                thing.planned_body(),
                GRIPS[grip],
                pose=pose @ thing.rest,
                root=shoulder,
                environment=_boxes(giver, pose @ giver.wrist),
                options=GraspOptions(num_starts=_NUM_STARTS),
            )
            if isinstance(grasp, Grasp) and grasp.cost < _WORST:
                turn, place = link_poses(model, grasp.q[None])
                link = model.wrist_link
                wrist = Pose(place[0, link], rotation.from_matrix(turn[0, link]))
                taker = Hold("given", pose.inverse() @ shoulder @ wrist, grasp.q[link:])
                return Handover(pose.wxyz, taker)
    return None


def _boxes(hold: Hold, wrist: Pose) -> tuple[EnvironmentBox, ...]:
    """Boxes around the bones of a right hand, with some room."""
    capsules = posed_capsules(hand_model("right"), hold.q, wrist)
    along = capsules.end - capsules.start
    length = np.linalg.norm(along, axis=1)
    boxes = []
    for i in range(len(length)):
        thick = float(capsules.radius[i]) + _ROOM
        axis = along[i] if length[i] > 1e-6 else np.array([1.0, 0.0, 0.0])
        turn = rotation.between(np.array([1.0, 0.0, 0.0]), axis)
        middle = 0.5 * (capsules.start[i] + capsules.end[i])
        half = np.array([0.5 * length[i] + thick, thick, thick])
        boxes.append(EnvironmentBox(Pose(middle, turn), half, 0.6))
    return tuple(boxes)
