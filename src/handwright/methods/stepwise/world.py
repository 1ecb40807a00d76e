"""Hands, bodies and environment of a problem, made ready for stepping, and their state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import make_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.hands.human.strength import JointStrength, joint_strength
from handwright.kernels.packed import Packed
from handwright.kinematics.skin.patches import skin_patches
from handwright.kinematics.skin.samples import SkinSamples, skin_samples
from handwright.kinematics.tree import Links, Tree, forward, links_for, tree_of
from handwright.math.one_turn import matrix_of, turned_by
from handwright.math.pose import Pose
from handwright.math.vectors import cross
from handwright.methods.stepwise.contacts.detection import HandSkin, Target
from handwright.methods.stepwise.contacts.digit_separation import DigitCapsules, digit_capsules
from handwright.methods.stepwise.objectives.body_rotation import advance_rotation
from handwright.methods.stepwise.qp.point_rows import HandChain
from handwright.physics.hand_dynamics import HandDynamics

# Between points of skin, m; between them skin stands out by less than 0.2 mm.
_SPACING = 0.0025
# Corners of a body that may meet the environment or other bodies, at most.
_NUM_CORNERS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class SteppedHand:
    """A hand as the step sees it."""

    name: str
    model: HandModel
    is_free: bool
    """Whether the root moves; an arm's shoulder does not."""
    first: int
    """Index of its first velocity among all velocities."""
    dynamics: HandDynamics
    tree: Tree
    samples: SkinSamples
    skin: Packed
    """``HandSkin``."""
    num_patches: int
    """Number of patches of the skin."""
    digits: DigitCapsules
    torque_weights: Float[np.ndarray, " N"]
    """Relative weight of a change of torque; lengths turn forces of a root into moments."""
    strength: JointStrength
    """Torques that muscles can give."""

    @property
    def count(self) -> int:
        """Number of its velocities."""
        return self.dynamics.num_velocities

    @property
    def slice(self) -> slice:
        """Where they are."""
        return slice(self.first, self.first + self.count)

    @property
    def num_root(self) -> int:
        """Velocities before those of the joints."""
        return 6 if self.is_free else 0

    def chain(self, links: Links) -> HandChain:
        """The hand with its links somewhere, for velocities of its points."""
        return HandChain(self.tree, links, self.num_root, self.first)


@dataclass(frozen=True, slots=True, eq=False)
class SteppedBody:
    """A body as the step sees it."""

    name: str
    body: RigidBody
    first: int
    """Index of its first velocity among all velocities: those of the centre of mass come first,
    then the angular ones, in the world."""
    target: Packed
    """The body as ``Target``."""
    corners: Float[np.ndarray, "V 3"]
    """Relative to the centre of mass, in the body's axes, m."""
    radius: float
    """Distance of the farthest corner from the centre of mass, m."""
    inverse: Float[np.ndarray, "3 3"]
    """Inverse of the inertia in the body's axes, 1/(kg m^2)."""

    @property
    def slice(self) -> slice:
        """Where its velocities are."""
        return slice(self.first, self.first + 6)


class BodyMasses(NamedTuple):
    """Masses of all bodies, as compiled code takes them."""

    mass: Float[np.ndarray, " B"]
    """kg."""
    inertia: Float[np.ndarray, "B 3 3"]
    """Moments of inertia in the bodies' axes, kg m^2."""
    inverse: Float[np.ndarray, "B 3 3"]
    """Inverses of the moments of inertia, 1/(kg m^2)."""
    first: Int[np.ndarray, " B"]
    """Index of each body's first velocity among all velocities."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What does not change while stepping."""

    hands: tuple[SteppedHand, ...]
    bodies: tuple[SteppedBody, ...]
    surfaces: EnvironmentArrays
    environment: Packed
    """The environment as ``Target``, packed."""
    surface_number: tuple[int, ...]
    """Numbers in the problem of the surfaces in ``surfaces``."""
    gravity: Float[np.ndarray, "3"]
    body_weights: Float[np.ndarray, "B 3"]
    """Weight of every body, N."""
    masses: BodyMasses
    torque_weights: Float[np.ndarray, " H"]
    """Weights of changes of torque of all hands; see ``SteppedHand.torque_weights``."""
    num_hand_velocities: int
    """Number of velocities of all hands; those of bodies come after them."""
    num_velocities: int
    """Number of velocities of all hands and bodies."""


@dataclass(slots=True, eq=False)
class HandState:
    """Where a hand is and how it moves."""

    q: Float[np.ndarray, " J"]
    """Joint values, rad."""
    position: Float[np.ndarray, "3"]
    """Position of the root in the world, m."""
    wxyz: Float[np.ndarray, "4"]
    velocity: Float[np.ndarray, " N"]
    torque: Float[np.ndarray, " N"]
    """Torques of the last frame, without what carries the hand's own weight, N m."""
    links: Links

    def settle(self, tree: Tree) -> None:
        """Places the links."""
        self.links.position[0] = self.position
        self.links.rotation[0] = matrix_of(self.wxyz)
        forward(tree, self.q, self.links)

    def copy(self) -> HandState:
        """One that may be moved on; arrays but those of the links are never written to."""
        links = Links(*(part.copy() for part in self.links))
        return HandState(self.q, self.position, self.wxyz, self.velocity, self.torque, links)

    @property
    def root(self) -> Pose:
        """Pose of the root."""
        return Pose(self.position.copy(), self.wxyz.copy())


@dataclass(slots=True, eq=False)
class BodyState:
    """Where a body is and how it moves: momenta between frames, poses at them."""

    center: Float[np.ndarray, "3"]
    """Centre of mass, m."""
    wxyz: Float[np.ndarray, "4"]
    rotation: Float[np.ndarray, "3 3"]
    """Rotation matrix of ``wxyz``."""
    velocity: Float[np.ndarray, "3"]
    """Velocity of the centre of mass, m/s."""
    angular_velocity: Float[np.ndarray, "3"]
    """Angular velocity in the world, rad/s."""
    angular_momentum: Float[np.ndarray, "3"]
    """Angular momentum, kg m^2/s."""

    def copy(self) -> BodyState:
        """One that may be moved on; arrays are never written to."""
        return BodyState(
            self.center,
            self.wxyz,
            self.rotation,
            self.velocity,
            self.angular_velocity,
            self.angular_momentum,
        )

    def pose(self, body: RigidBody) -> Pose:
        """Pose of the body's frame."""
        return Pose(self.center - self.rotation @ body.center, self.wxyz.copy())

    def velocity_at(self, point: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """Velocity of the body's material at a point of the world, m/s."""
        return np.asarray(self.velocity + cross(self.angular_velocity, point - self.center))

    @property
    def twist(self) -> Float[np.ndarray, "6"]:
        """Linear and angular velocity."""
        return np.concatenate([self.velocity, self.angular_velocity])


class BodyPoses(NamedTuple):
    """Where all bodies are, as compiled code takes it."""

    center: Float[np.ndarray, "B 3"]
    """Centres of mass, m."""
    rotation: Float[np.ndarray, "B 3 3"]
    """Rotation matrices to the world."""


def body_poses(bodies: list[BodyState]) -> BodyPoses:
    """Centres of mass and rotations of bodies."""
    return BodyPoses(
        np.array([now.center for now in bodies]).reshape(-1, 3),
        np.array([now.rotation for now in bodies]).reshape(-1, 3, 3),
    )


def make_world(problem: Problem) -> World:
    """Compiles models and looks distance fields up."""
    hands, first = [], 0
    for name, model in problem.hands.items():
        is_free = model.wrist_link == 0
        dynamics = HandDynamics(model, is_free=is_free)
        weights = np.ones(dynamics.num_velocities)
        if is_free:
            # A force at the wrist counts as the moment that it makes half a forearm away.
            weights[:3] = 0.12**2
        skin = HandSkin(skin_samples(model, _SPACING), skin_patches(model, _SPACING))
        hands.append(
            SteppedHand(
                name,
                model,
                is_free,
                first,
                dynamics,
                tree_of(model),
                skin.samples,
                Packed(skin),
                len(skin.patches.radius),
                digit_capsules(model),
                weights,
                joint_strength(model),
            )
        )
        first += dynamics.num_velocities
    bodies = []
    surfaces = pack_environment(problem.environment)
    for name, body in problem.bodies.items():
        target = Packed(Target(signed_distance_field(body), surfaces, True))
        corners = _corners(body) - body.center
        radius = float(np.sqrt((corners**2).sum(axis=1).max(initial=0.0)))
        inverse = np.linalg.inv(body.inertia)
        bodies.append(SteppedBody(name, body, first, target, corners, radius, inverse))
        first += 6
    # The environment has no field, but compiled code wants one.
    nowhere = make_field(np.ones((2, 2, 2)), np.zeros(3), 1.0)
    planes = [n for n, s in enumerate(problem.environment) if isinstance(s, HalfSpace)]
    boxes = [n for n in range(len(problem.environment)) if n not in planes]
    return World(
        tuple(hands),
        tuple(bodies),
        surfaces,
        Packed(Target(nowhere, surfaces, False)),
        (*planes, *boxes),
        np.array(problem.gravity),
        np.array([body.mass * problem.gravity for body in problem.bodies.values()]).reshape(-1, 3),
        BodyMasses(
            np.array([body.mass for body in problem.bodies.values()]),
            np.array([body.inertia for body in problem.bodies.values()]),
            np.array([part.inverse for part in bodies]),
            np.array([part.first for part in bodies], dtype=np.int64),
        ),
        np.concatenate([np.zeros(0), *(hand.torque_weights for hand in hands)]),
        sum(hand.count for hand in hands),
        first,
    )


def _corners(body: RigidBody) -> Float[np.ndarray, "V 3"]:
    """Corners of the hull, as evenly spread as their number allows."""
    hull = body.vertices[ConvexHull(body.vertices).vertices]
    if len(hull) <= _NUM_CORNERS:
        return hull
    chosen = [int(np.argmin(hull[:, 2]))]
    distance = np.linalg.norm(hull - hull[chosen[0]], axis=1)
    while len(chosen) < _NUM_CORNERS:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(hull - hull[chosen[-1]], axis=1))
    return hull[chosen]


def hand_state(hand: SteppedHand, q: Float[np.ndarray, " J"], root: Pose) -> HandState:
    """A hand at rest."""
    state = HandState(
        np.array(q, dtype=np.float64),
        np.array(root.position, dtype=np.float64),
        np.array(root.wxyz, dtype=np.float64),
        np.zeros(hand.count),
        np.zeros(hand.count),
        links_for(hand.model),
    )
    state.settle(hand.tree)
    return state


def body_state(body: SteppedBody, pose: Pose) -> BodyState:
    """A body at rest."""
    rotation = matrix_of(pose.wxyz)
    return BodyState(
        pose.position + rotation @ body.body.center,
        np.array(pose.wxyz, dtype=np.float64),
        rotation,
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
    )


def advance_hand(hand: SteppedHand, state: HandState, velocity: np.ndarray, step: float) -> None:
    """Moves a hand on with velocities of a frame, and places its links."""
    root = hand.num_root
    state.q = state.q + step * velocity[root:]
    if hand.is_free:
        state.position = state.position + step * velocity[:3]
        # The angular velocity is in the root's own axes.
        state.wxyz = turned_by(state.wxyz, step * velocity[3:6])
    state.velocity = np.array(velocity)
    state.settle(hand.tree)


def advance_body(
    body: SteppedBody, state: BodyState, force: np.ndarray, moment: np.ndarray, step: float
) -> None:
    """Moves a body on under a force and a moment about its centre of mass.

    Momenta are those between frames, the angular one with the inertia turned to the middle pose:
    the same scheme by which the certificate reads a motion, so that forces explain it exactly.
    """
    state.velocity = state.velocity + step * force / body.body.mass
    state.angular_momentum = state.angular_momentum + step * moment
    state.angular_velocity, state.wxyz = advance_rotation(
        body.inverse, state.wxyz, state.angular_velocity, state.angular_momentum, step
    )
    state.center = state.center + step * state.velocity
    state.rotation = matrix_of(state.wxyz)
