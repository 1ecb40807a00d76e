"""The hands of a problem as one forest of joints with capsules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.model.couplings import Couplings, coordinate_limits, couple_joints
from handwright.methods.trajopt.model.layout import BODY
from handwright.methods.trajopt.model.model import Forest, Skeleton, columns
from handwright.methods.trajopt.model.skin_bulge import skin_bulge, skin_stubs

# Order of the wrist's hinges in its own frame: flexion, deviation, pronation of the forearm. The
# second must stay well within a quarter turn, and deviation has the smallest range of the three.
WRIST_HINGES = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
WRIST_JOINTS = 6
"""Joints of its own that a free hand starts with: three slides, then the three hinges."""
_WRIST_RANGE = np.array([1.2, 1.1, 1.6])
"""Largest angle of the wrist's hinges from the start, either way, rad."""
_WRIST_REACH = 0.7
"""Largest distance of the wrist from its start along each axis, m: about the length of an arm."""


class TranscribedHand(NamedTuple):
    """A hand, and where it is in the forest."""

    name: str
    model: HandModel
    couplings: Couplings
    root: Pose
    """Pose of its root link at the start."""
    q: Float[np.ndarray, " J"]
    """Values of its joints at the start, rad."""
    is_free: bool
    """Whether six joints of its own come first; otherwise its base is fixed."""
    first_joint: int
    """Joint j of the hand is joint ``first_joint + j`` of the forest."""
    first_coordinate: int
    """First coordinate of its wrist, or of its fingers if the base is fixed."""

    @property
    def first_finger_coordinate(self) -> int:
        """First coordinate of its own joints."""
        return self.first_coordinate + (WRIST_JOINTS if self.is_free else 0)

    @property
    def finger_coordinates(self) -> slice:
        """Coordinates of its own joints."""
        first = self.first_finger_coordinate
        return slice(first, first + len(self.couplings.leading))

    @property
    def wrist_position(self) -> slice:
        """Coordinates that move a free wrist."""
        return slice(self.first_coordinate, self.first_coordinate + 3)

    @property
    def wrist_angles(self) -> slice:
        """Coordinates that rotate a free wrist."""
        return slice(self.first_coordinate + 3, self.first_coordinate + WRIST_JOINTS)

    @property
    def root_joint(self) -> int:
        """Joint of the forest that carries the root link; -1 for a fixed base."""
        return self.first_joint - 1 if self.is_free else -1

    def joint_of_link(self, link: int) -> int:
        """Joint of the forest that carries a link."""
        return self.root_joint if link == 0 else self.first_joint + link - 1

    @property
    def movable_capsules(self) -> list[int]:
        """Capsules of the hand model that can move: all but those of a shoulder."""
        return [n for n, link in enumerate(self.model.capsules.link) if link != 0 or self.is_free]

    @property
    def stub_capsules(self) -> list[int]:
        """For each capsule that covers skin behind the wrist, the capsule that it goes with."""
        return [stub.number for stub in skin_stubs(self.model)] if self.is_free else []


def transcribe_hands(problem: Problem, *, is_coupled: bool) -> tuple[TranscribedHand, ...]:
    """All hands of a problem, with consecutive joints and coordinates."""
    hands: list[TranscribedHand] = []
    joint = coordinate = 0
    for name, model in problem.hands.items():
        q = np.array(problem.posture(name))
        couplings = couple_joints(model, q, is_coupled=is_coupled)
        # A model with an arm stands on its shoulder.
        is_free = model.wrist_link == 0
        own = WRIST_JOINTS if is_free else 0
        joint += own
        root = problem.start[name]
        hands.append(TranscribedHand(name, model, couplings, root, q, is_free, joint, coordinate))
        joint += model.num_joints
        coordinate += own + len(couplings.leading)
    return tuple(hands)


def count_coordinates(hands: tuple[TranscribedHand, ...]) -> int:
    """Number of coordinates of all hands and of the body."""
    return max((hand.finger_coordinates.stop for hand in hands), default=0) + BODY


class _Joint(NamedTuple):
    """One joint of the forest."""

    parent: int
    hand: int
    offset: np.ndarray
    axis: np.ndarray
    is_slide: bool
    driver: int
    ratio: float
    bias: float


def _joints(hands: tuple[TranscribedHand, ...]) -> list[_Joint]:
    """Joints of all hands; those of a free wrist come before the others of its hand."""
    joints: list[_Joint] = []
    for h, hand in enumerate(hands):
        tree, c = hand.model.joints, hand.couplings
        for i in range(WRIST_JOINTS if hand.is_free else 0):
            parent = len(joints) - 1 if i else -1
            axis = np.eye(3)[i] if i < 3 else WRIST_HINGES[i - 3]
            driver = hand.first_coordinate + i
            joints.append(_Joint(parent, h, np.zeros(3), axis, i < 3, driver, 1.0, 0.0))
        for j in range(len(tree)):
            number = int(c.driver[j])
            joints.append(
                _Joint(
                    parent=hand.joint_of_link(int(tree.parent[j])),
                    hand=h,
                    offset=tree.offset[j],
                    axis=tree.axis[j],
                    is_slide=bool(tree.is_slide[j]),
                    driver=hand.first_finger_coordinate + number if number >= 0 else -1,
                    ratio=float(c.ratio[j]),
                    bias=float(c.bias[j]),
                )
            )
    return joints


def make_forest(hands: tuple[TranscribedHand, ...]) -> Forest:
    """Joints of all hands, with the chains and coordinates that move each of them."""
    joints = _joints(hands)
    chains: list[list[int]] = []
    for j, joint in enumerate(joints):
        # Parents come first, so their chains are known.
        chains.append([*(chains[joint.parent] if joint.parent >= 0 else ()), j])
    depth = max((len(chain) for chain in chains), default=1)
    table = np.full((len(joints), depth), -1, dtype=np.int64)
    slot, movers = table.copy(), table.copy()
    num_movers = np.zeros(len(joints), dtype=np.int64)
    for j, chain in enumerate(chains):
        drivers = [joints[k].driver for k in chain]
        used = sorted({driver for driver in drivers if driver >= 0})
        table[j, : len(chain)] = chain
        movers[j, : len(used)] = used
        num_movers[j] = len(used)
        slot[j, : len(chain)] = [used.index(d) if d >= 0 else -1 for d in drivers]
    return Forest(
        **columns(joints, _Joint._fields),
        base_rotation=np.array([rotation.to_matrix(hand.root.wxyz) for hand in hands]),
        base_position=np.array([hand.root.position for hand in hands]),
        chain=table,
        slot=slot,
        movers=movers,
        num_movers=num_movers,
    )


class _Capsule(NamedTuple):
    """One capsule of the skeleton."""

    joint: int
    start: np.ndarray
    end: np.ndarray
    radius: float
    bare_radius: float
    hand: int
    digit: int

    def may_meet(self, other: _Capsule) -> bool:
        """Whether the two belong to different hands or to different digits."""
        are_digits = self.digit >= 0 and other.digit >= 0
        return self.hand != other.hand or (are_digits and self.digit != other.digit)


def _capsules(hands: tuple[TranscribedHand, ...]) -> list[_Capsule]:
    """Movable capsules of each hand, then those that cover the skin behind its wrist."""
    found: list[_Capsule] = []
    for h, hand in enumerate(hands):
        c, bulge = hand.model.capsules, skin_bulge(hand.model)
        for n in hand.movable_capsules:
            joint, bare = hand.joint_of_link(int(c.link[n])), float(c.radius[n])
            radius = float(c.radius[n] + bulge[n])
            found.append(_Capsule(joint, c.start[n], c.end[n], radius, bare, h, int(c.digit[n])))
        for stub in skin_stubs(hand.model) if hand.is_free else ():
            joint, radius = hand.joint_of_link(int(c.link[stub.number])), stub.radius
            found.append(_Capsule(joint, stub.start, stub.end, radius, radius, h, -1))
    return found


def make_skeleton(hands: tuple[TranscribedHand, ...]) -> Skeleton:
    """Capsules of all hands."""
    capsules = _capsules(hands)
    pairs = [
        (a, b) for a in range(len(capsules)) for b in range(a) if capsules[a].may_meet(capsules[b])
    ]
    own = ("joint", "start", "end", "radius", "bare_radius")
    pairs_table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Skeleton(**columns(capsules, own), pairs=pairs_table)


def capsule_numbers(hands: tuple[TranscribedHand, ...]) -> Int[np.ndarray, " C"]:
    """For every capsule of the skeleton, its number in its hand model."""
    numbers = [n for hand in hands for n in (*hand.movable_capsules, *hand.stub_capsules)]
    return np.array(numbers, dtype=np.int64)


def coordinate_bounds(
    hands: tuple[TranscribedHand, ...],
) -> tuple[Float[np.ndarray, " Q"], Float[np.ndarray, " Q"]]:
    """Lower and upper limits of all coordinates; those of the body are infinite."""
    count = count_coordinates(hands)
    lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
    for hand in hands:
        if hand.is_free:
            lower[hand.wrist_position], upper[hand.wrist_position] = -_WRIST_REACH, _WRIST_REACH
            lower[hand.wrist_angles], upper[hand.wrist_angles] = -_WRIST_RANGE, _WRIST_RANGE
        own = hand.finger_coordinates
        lower[own], upper[own] = coordinate_limits(hand.model, hand.couplings)
    return lower, upper
