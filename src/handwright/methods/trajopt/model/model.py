"""What the compiled residuals read: hands, contacts, body, goals and weights as plain arrays.

All hands are one forest of joints. A hand without a fixed base starts with six joints of its own,
three slides and three hinges, so that its wrist is moved by joints like any other link; the body
moves in the same way. Joint ``i`` moves link ``i``. A coordinate may drive several joints.

Letters in the shapes: J joints, H hands, C capsules, N contacts, Q coordinates, K keys, P phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.distance.environment import EnvironmentArrays
from handwright.geometry.distance.sdf import Field
from handwright.methods.trajopt.model.layout import KeyLayout

HAND_CONTACT = 0
ENVIRONMENT_CONTACT = 1

POINT_GOAL = 0
DIRECTION_GOAL = 1

ROD = 0
FIELD = 1


def columns(rows: Sequence[Any], names: Iterable[str]) -> dict[str, np.ndarray]:
    """Columns of a table by name, from rows that have attributes of these names."""
    return {name: np.array([getattr(row, name) for row in rows]) for name in names}


class Forest(NamedTuple):
    """Joints of all hands; a parent comes before its children."""

    parent: Int[np.ndarray, " J"]
    """Parent joint; -1 for a joint on the base."""
    hand: Int[np.ndarray, " J"]
    """Hand that the joint belongs to."""
    offset: Float[np.ndarray, "J 3"]
    """Position of the joint in the parent's frame, m."""
    axis: Float[np.ndarray, "J 3"]
    """Unit axis of the joint in the parent's frame."""
    is_slide: Bool[np.ndarray, " J"]
    """Whether the joint is a slide; all others are hinges."""
    driver: Int[np.ndarray, " J"]
    """Coordinate that moves the joint; -1 for a joint that does not move."""
    ratio: Float[np.ndarray, " J"]
    """Factor in: joint value = ratio * coordinate + bias."""
    bias: Float[np.ndarray, " J"]
    """Constant in the same equation, rad or m."""
    base_rotation: Float[np.ndarray, "H 3 3"]
    """Rotation of every hand's base in the world."""
    base_position: Float[np.ndarray, "H 3"]
    """Position of every hand's base in the world, m."""
    chain: Int[np.ndarray, "J D"]
    """Joints from the base to each joint, itself included; -1 after the last."""
    slot: Int[np.ndarray, "J D"]
    """Which of ``movers`` drives each joint of the chain; -1 for none."""
    movers: Int[np.ndarray, "J D"]
    """Coordinates that move each link, in ascending order; -1 after the last."""
    num_movers: Int[np.ndarray, " J"]
    """Number of coordinates that move each link."""


class Skeleton(NamedTuple):
    """Capsules of all hands, and which of them must not overlap."""

    joint: Int[np.ndarray, " C"]
    """Joint whose link carries the capsule."""
    start: Float[np.ndarray, "C 3"]
    """One end of the capsule's axis in the link's frame, m."""
    end: Float[np.ndarray, "C 3"]
    """The other end, m."""
    radius: Float[np.ndarray, " C"]
    """Radius against bodies and environment, which includes the bulge of the skin, m."""
    bare_radius: Float[np.ndarray, " C"]
    """Radius of the hand model, against other capsules, m."""
    pairs: Int[np.ndarray, "pairs 2"]
    """Pairs of capsules that may collide with each other."""


class Contacts(NamedTuple):
    """Everything that can push on the body: digits, palms and surfaces of the environment."""

    kind: Int[np.ndarray, " N"]
    """``HAND_CONTACT`` or ``ENVIRONMENT_CONTACT``."""
    first: Int[np.ndarray, " N"]
    """Capsules ``first`` to ``last - 1`` of ``capsules`` belong to the contact."""
    last: Int[np.ndarray, " N"]
    """See ``first``."""
    capsules: Int[np.ndarray, " members"]
    """Capsules of all contacts, one contact after the other."""
    surface: Int[np.ndarray, " N"]
    """Surface of the environment; -1 for contacts of hands."""
    friction: Float[np.ndarray, " N"]
    """Coefficient of friction."""
    squeeze: Float[np.ndarray, " N"]
    """Share of the least squeeze force that the contact must give."""
    min_force: Float[np.ndarray, " N"]
    """Least normal force besides the squeeze, in weights of the body."""
    slides: Bool[np.ndarray, " N"]
    """Whether the contact slides while it is on."""
    pad_joint: Int[np.ndarray, " N"]
    """Joint whose link carries the pad of a digit; -1 for palms and environment."""
    pad: Float[np.ndarray, "N 3"]
    """Preferred contact point, m: in the link's frame for digits, in the body's for environment."""


class Body(NamedTuple):
    """The body that is moved; the origin of its frame is its centre of mass."""

    mass: float
    """kg."""
    inertia: Float[np.ndarray, "3 3"]
    """Inertia tensor in the body's frame, kg m^2."""
    arm: float
    """Length by which moments are made comparable to forces, m: unit is weight times arm."""
    rotation: Float[np.ndarray, "3 3"]
    """Rotation of the body where its three hinge angles are zero and no spin has passed."""
    hinges: Float[np.ndarray, "3 3"]
    """World axes of the three hinges, outermost first, where all angles are zero."""
    spin: Float[np.ndarray, "3"]
    """Prescribed angular velocity in the world, rad/s; hinges move the body relative to it."""
    kind: int
    """``ROD`` for a capsule, ``FIELD`` for any other shape."""
    rod_start: Float[np.ndarray, "3"]
    """One end of the capsule's axis in the body's frame, m; read for ``ROD`` only."""
    rod_end: Float[np.ndarray, "3"]
    """The other end, m."""
    rod_radius: float
    """Radius of the capsule, m."""
    field: Field
    """Signed distances to the surface; read for ``FIELD`` only."""
    corners: Float[np.ndarray, "corners 3"]
    """Centres of the balls that must stay out of the environment, in the body's frame, m."""
    corner_radius: float
    """Radius of these balls, m."""
    reach: float
    """Radius of the ball about the centre of mass that contains the body, m."""


class Samples(NamedTuple):
    """Moments at which costs are evaluated."""

    phase: Int[np.ndarray, " S"]
    """Phase that the moment lies in."""
    fraction: Float[np.ndarray, " S"]
    """Share of the phase that has passed, 0 to 1."""
    time: Float[np.ndarray, " S"]
    """Time with unshifted keys, s; only spinning bodies read it, and their keys are not shifted."""
    weight: Float[np.ndarray, " S"]
    """Length of time that the sample stands for, with unshifted keys, s."""
    is_full: Bool[np.ndarray, " S"]
    """Whether all costs are evaluated; otherwise only goals are."""
    goal_first: Int[np.ndarray, " S"]
    """Goal rows ``goal_first`` to ``goal_last - 1`` belong to the sample."""
    goal_last: Int[np.ndarray, " S"]
    """See ``goal_first``."""


class GoalRows(NamedTuple):
    """Goals, one row for each goal and sample."""

    kind: Int[np.ndarray, " G"]
    """``POINT_GOAL`` or ``DIRECTION_GOAL``."""
    joint: Int[np.ndarray, " G"]
    """Joint whose link carries the feature; -1 for the body."""
    local: Float[np.ndarray, "G 3"]
    """Point (m) or unit direction in the frame of the link or body."""
    is_on_body: Bool[np.ndarray, " G"]
    """Whether the target is given in the body's frame instead of the world's."""
    target: Float[np.ndarray, "G 3"]
    """Where the point (m) or direction is to be."""
    weight: Float[np.ndarray, " G"]
    """One over the tolerance: 1/m for points, 1 for directions."""


class PushScenarios(NamedTuple):
    """Pushes on the body that contacts must be able to resist while hands hold it."""

    point: Float[np.ndarray, "D 3"]
    """Where each push acts, in the body's frame, m."""
    force: Float[np.ndarray, "D 3"]
    """Force of each push in the world, N."""
    size: float
    """Magnitude that all these forces share, N."""


class ScheduleState(NamedTuple):
    """What follows from the current schedule of contacts.

    This is the one part of a model that changes: ``schedule.apply_schedule`` writes into these
    arrays, and every model made from another by ``_replace`` shares them.
    """

    is_pushed: Bool[np.ndarray, " P"]
    """Whether the pushes may come in a phase."""
    clearance: Float[np.ndarray, "P C"]
    """Distance that a capsule keeps from the body in a phase, m; 0 where it may touch."""
    landing: Int[np.ndarray, "P N"]
    """Whether an idle contact was on in the last phase (1), will be on in the next (2), or both
    (3)."""
    easing: Int[np.ndarray, "P N"]
    """Whether a hold begins with the phase (1), ends with it (2), or both (3). Forces are
    continuous, so the least squeeze grows from zero and fades to it."""


class Model(NamedTuple):
    """A problem as arrays: constant while a motion is optimised, except for ``schedule``."""

    forest: Forest
    skeleton: Skeleton
    contacts: Contacts
    body: Body
    env: EnvironmentArrays
    samples: Samples
    goals: GoalRows
    pushes: PushScenarios
    schedule: ScheduleState
    gravity: Float[np.ndarray, "3"]
    """m/s^2."""
    lower: Float[np.ndarray, " Q"]
    """Lower limit of every coordinate; minus infinity for those of the body."""
    upper: Float[np.ndarray, " Q"]
    """Upper limit of every coordinate; infinity for those of the body."""
    layout: KeyLayout
    """Where each variable is in a key state."""
    is_pinned: Bool[np.ndarray, " K"]
    """Keys whose time is given; see ``pinned_keys``."""
    num_keys: int
    phase_time: float
    """Length of a phase with unshifted keys, s."""
    is_cyclic: bool

    @property
    def num_phases(self) -> int:
        """Number of phases: between any two neighbouring keys, and round the end of a cycle."""
        return len(self.schedule.is_pushed)

    def key_times(self, keys: Float[np.ndarray, "K n"]) -> Float[np.ndarray, " L"]:
        """Times of key states from the start, s, and of the end of the last phase of a cycle."""
        times = self.phase_time * np.arange(self.num_phases + 1.0)
        times[: len(keys)] += keys[:, self.layout.shift]
        return times

    @property
    def weight(self) -> float:
        """Weight of the body, N."""
        return float(self.body.mass * np.linalg.norm(self.gravity))


def with_radius(model: Model, radius: Float[np.ndarray, " C"]) -> Model:
    """The same model with other radii of capsules against bodies and environment, m."""
    return model._replace(skeleton=model.skeleton._replace(radius=radius))


class ResidualWeights(NamedTuple):
    """One over the tolerance of every residual; see ``stage_weights``."""

    gap: float
    """Weight of gaps between surfaces in contact, 1/m."""
    slip: float
    """Weight of relative velocities in contact, s/m."""
    force: float
    """Weight of unbalanced force, 1/(weight of the body)."""
    moment: float
    """Weight of unbalanced moment, 1/(weight x arm)."""
    cone: float
    """Weight of force outside its friction cone, 1/(weight of the body)."""
    pad: float
    """Weight of the distance from the preferred contact point, 1/m."""
    facing: float
    """Weight of the angle between the normals of hand and body, 1/rad."""
    limit: float
    """Weight of coordinates beyond their limits, 1/rad."""
    penetration: float
    """Weight of overlaps, 1/m."""
    goal: float
    """Factor on the goals' own weights."""
    squeeze: float
    """Least normal force of a thumb, in weights of the body; other contacts give shares of it."""
    attraction: float
    """Small number added to contact variables under the root, so that gradients stay finite."""
    friction: float
    """Share of the friction that may be used."""
    push: float
    """One over the share of a push that need not be resisted."""
    is_frozen: bool
    """Whether contact variables are 0 or 1 and no longer optimised."""
