"""What the compiled residuals read: hands, contacts, body, goals and weights as plain arrays.

All hands are one forest of joints. A hand without a fixed base starts with six joints of its own,
three slides and three hinges, so that its wrist is moved by joints like any other link; the body
moves in the same way. Joint ``i`` moves link ``i``. A coordinate may drive several joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.geometry.distance.environment import EnvironmentArrays
from handwright.geometry.distance.sdf import Field
from handwright.methods.trajopt.model.layout import KeyLayout

HAND_CONTACT = 0
GROUND_CONTACT = 1

POINT_GOAL = 0
DIRECTION_GOAL = 1

ROD = 0
FIELD = 1


class Forest(NamedTuple):
    """J joints of all hands; parents come first."""

    parent: np.ndarray
    """-1 for a joint on the base."""
    hand: np.ndarray
    offset: np.ndarray
    """(J, 3) in the parent's frame, m."""
    axis: np.ndarray
    """(J, 3), in the parent's frame."""
    is_slide: np.ndarray
    driver: np.ndarray
    """Coordinate that moves the joint; -1 for a joint that stays."""
    ratio: np.ndarray
    bias: np.ndarray
    """Joint value = ratio * coordinate + bias."""
    base_turn: np.ndarray
    """(H, 3, 3)."""
    base_place: np.ndarray
    """(H, 3), m."""
    chain: np.ndarray
    """(J, D) joints from the base to each joint, itself included; -1 after the last."""
    slot: np.ndarray
    """(J, D) which of ``movers`` drives each joint of the chain; -1 for none."""
    movers: np.ndarray
    """(J, D) coordinates that move each link, ascending; -1 after the last."""
    num_movers: np.ndarray


class Skeleton(NamedTuple):
    """Capsules of all hands, and which of them must not meet."""

    joint: np.ndarray
    start: np.ndarray
    """(C, 3) in the link's frame, m."""
    end: np.ndarray
    radius: np.ndarray
    """Against bodies and surroundings, bulge of the skin included, m."""
    bare_radius: np.ndarray
    """Against other capsules, m."""
    pairs: np.ndarray
    """(P, 2) capsules that may collide with each other."""


class Contacts(NamedTuple):
    """N places that can push on the body: digits, palms and surroundings."""

    kind: np.ndarray
    first: np.ndarray
    """Capsules ``first`` to ``last - 1`` of ``capsules`` belong to the contact."""
    last: np.ndarray
    capsules: np.ndarray
    surface: np.ndarray
    """Of the surroundings, for contacts with these."""
    friction: np.ndarray
    squeeze: np.ndarray
    """Share of the least squeeze that each must give."""
    least: np.ndarray
    """Least force along the normal besides, in weights of the body."""
    slides: np.ndarray
    """Whether the contact slides while it is on."""
    pad_joint: np.ndarray
    """Link that carries the preferred place; -1 for palms and surroundings."""
    pad: np.ndarray
    """(N, 3) preferred place in that link's frame, or for surroundings in the body's, m."""


class Body(NamedTuple):
    """The body that is moved; its frame has the centre of mass as origin."""

    mass: float
    inertia: np.ndarray
    """kg m^2, in the body's frame."""
    arm: float
    """Moments are counted in weights times this length, m."""
    turn: np.ndarray
    """(3, 3) orientation where the three hinges are zero and no spin has passed."""
    hinges: np.ndarray
    """(3, 3) axes of the three hinges, outermost first, before any of them turns."""
    spin: np.ndarray
    """rad/s in the world: prescribed turning, about which the hinges move the body."""
    kind: int
    rod_start: np.ndarray
    rod_end: np.ndarray
    rod_radius: float
    """For ``ROD``: ends and radius of the capsule that the body is."""
    field: Field
    """For ``FIELD``: signed distances."""
    knobs: np.ndarray
    """(K, 3) points, each with ``knob_radius``, that must stay out of the surroundings, m."""
    knob_radius: float
    reach: float
    """Radius of the ball about the centre of mass that holds the body, m."""


class Samples(NamedTuple):
    """S moments at which costs are taken."""

    phase: np.ndarray
    fraction: np.ndarray
    """0 to 1 within the phase."""
    time: np.ndarray
    """s, without shifts of keys: only bodies that spin ask for it, and then keys stay."""
    weight: np.ndarray
    """s: how much time a sample stands for, without shifts of keys."""
    is_full: np.ndarray
    """False where only goals are looked at."""
    goal_first: np.ndarray
    goal_last: np.ndarray


class GoalRows(NamedTuple):
    """G goals, each for one sample."""

    kind: np.ndarray
    joint: np.ndarray
    """Link that carries the feature; -1 for the body."""
    local: np.ndarray
    """(G, 3) point (m) or direction in the link's or the body's frame."""
    is_on_body: np.ndarray
    """Whether the target is given in the body's frame."""
    target: np.ndarray
    """(G, 3)."""
    weight: np.ndarray
    """1/m for points; 1 for directions."""


class Disturbances(NamedTuple):
    """D pushes that contacts must be able to take while hands hold the body."""

    point: np.ndarray
    """(D, 3) where they push, in the body's frame, m."""
    force: np.ndarray
    """(D, 3) in the world, N."""
    size: float
    """Of each of these forces, N."""


class Model(NamedTuple):
    """Everything that does not change while a motion is optimised with one schedule of contacts."""

    forest: Forest
    skeleton: Skeleton
    contacts: Contacts
    body: Body
    env: EnvironmentArrays
    samples: Samples
    goals: GoalRows
    pushes: Disturbances
    is_pushed: np.ndarray
    """(phases,) whether the pushes may come in a phase. Follows the schedule of contacts."""
    clearance: np.ndarray
    """(phases, C) distance that a capsule keeps from the body in a phase, m; 0 where it may touch.
    Follows the schedule of contacts."""
    landing: np.ndarray
    """(phases, N) whether an idle contact was on in the last phase (1), will be on in the next (2),
    or both (3). Follows the schedule."""
    easing: np.ndarray
    """(phases, N) whether a hold begins with the phase (1), ends with it (2), or both (3): forces
    are continuous, so the least squeeze grows from zero and fades to it. Follows the schedule."""
    gravity: np.ndarray
    lower: np.ndarray
    """Of every coordinate; those of the body are infinite."""
    upper: np.ndarray
    layout: KeyLayout
    """Where each variable is in a key state."""
    is_pinned: np.ndarray
    """(K,) keys whose time stays; see ``timing``."""
    num_keys: int
    phase_time: float
    """s, without shifts of keys."""
    is_cyclic: bool

    @property
    def weight(self) -> float:
        """Of the body, N."""
        return float(self.body.mass * np.linalg.norm(self.gravity))


def with_radius(model: Model, radius: np.ndarray) -> Model:
    """The same model with other radii of capsules against bodies and surroundings, m."""
    return model._replace(skeleton=model.skeleton._replace(radius=radius))


class Weights(NamedTuple):
    """One over the tolerance of every residual; see ``stages``."""

    gap: float
    """1/m."""
    slip: float
    """s/m."""
    force: float
    """1/weights of the body."""
    moment: float
    """1/(weight x arm)."""
    cone: float
    """1/weights."""
    pad: float
    """1/m."""
    facing: float
    """1/rad, of the angle between the normals of hand and body."""
    limit: float
    """1/rad."""
    penetration: float
    """1/m."""
    goal: float
    """Factor on the goals' own weights."""
    squeeze: float
    """Least normal force of a thumb, in weights; others have shares of it."""
    attraction: float
    """Small number added to contact variables under the root, so that slopes stay finite."""
    friction: float
    """Share of the friction that may be used."""
    push: float
    """One over the share of a push that need not be taken."""
    is_frozen: bool
    """Contact variables are 0 or 1 and stay."""


class Room(NamedTuple):
    """Room for one sample."""

    z: np.ndarray
    """A state as in the keys, then accelerations of the body."""
    turn: np.ndarray
    """(J, 3, 3) of the links."""
    place: np.ndarray
    """(J, 3), m."""
    axis: np.ndarray
    """(J, 3) of the joints in the world."""
    omega: np.ndarray
    """(J, 3) angular velocity of the links, rad/s."""
    speed: np.ndarray
    """(J, 3) velocity of the links' points at the world's origin, m/s."""
    ends: np.ndarray
    """(C, 2, 3) of the capsules, m."""
    body_turn: np.ndarray
    hinge: np.ndarray
    """(3, 3) axes of the body's hinges in the world."""
    swing: np.ndarray
    """(4, 3) angular velocity of the body after 0 to 3 hinges."""
    rod: np.ndarray
    """(2, 3) ends of the body's axis in the world."""
    rows: np.ndarray
    """(R, columns) of a block of residuals."""
    residual: np.ndarray
    columns: np.ndarray
    dense: np.ndarray
    """(3, coordinates) slopes of up to three residuals."""
    square: np.ndarray
    """Sum of products of slopes, lower half."""
    slope: np.ndarray
    stretch: np.ndarray
    """(2, columns) how the state changes with the length of its phase, and products with that."""
