"""A contact at one moment: where it is, how it slides, and its force relative to its cone.

Its residuals and their derivatives are a block, whose rows and columns are listed here too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.geometry.distance.capsules import point_segment
from handwright.geometry.distance.environment import surface_value_gradient
from handwright.geometry.distance.sdf import field_value_gradient
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.layout import BODY, force_index, origin_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, ROD, Model, ResidualWeights
from handwright.methods.trajopt.model.workspace import NUM_RESIDUALS, NUM_ROWS, SampleWorkspace
from handwright.methods.trajopt.terms.body import body_weight

# Rows of the residuals; those of vectors take three.
BODY_GAP, HAND_GAP, SLIP, CONE, SQUEEZE, PAD, FACING = 0, 1, 2, 5, 6, 7, 10
NORMAL = NUM_RESIDUALS
"""First of three more rows, in which the derivative of the normal is kept for later use."""
# Forces are smoothed to this share of the weight where their tangential part vanishes.
_ROUND = 1e-3


class Toucher(NamedTuple):
    """The hand or surface that touches the body."""

    joint: int
    """Joint whose link touches; -1 for the environment."""
    gap: float
    """Distance from the origin of the force to the hand or surface, m."""
    normal: tuple
    """Unit normal into the body, in the world."""
    reach: float
    """Distance of the origin from the capsule's axis, m."""
    axis: tuple
    """Direction of the capsule's axis beside its straight part; zero at its round ends."""
    omega: tuple
    """Angular velocity of the link, rad/s."""
    velocity: tuple
    """Velocity of the link's material at the origin, m/s."""
    off_pad: tuple
    """Vector from the preferred contact point to the origin, m."""


class ContactState(NamedTuple):
    """Geometry and velocity of a contact at one moment."""

    local: tuple
    """Origin of the force in the body's frame, m."""
    arm: tuple
    """Vector from the centre of mass to the origin, in the world, m."""
    point: tuple
    """Origin in the world, m."""
    distance: float
    """Distance of the origin from the body's surface, m."""
    outward: tuple
    """Gradient of that distance, in the body's frame."""
    slip: tuple
    """Velocity of the body relative to the hand or surface, at the origin, m/s."""
    facing: tuple
    """Sum of the normals out of the body and out of the hand; zero for bodies that are no rods."""
    toucher: Toucher


class ConeForce(NamedTuple):
    """A force relative to its friction cone; all forces in weights of the body."""

    force: tuple
    normal_part: float
    """Component along the normal."""
    tangential: tuple
    """Component along the surface."""
    tangential_size: float
    """Smoothed length of that component."""
    friction: float
    """Coefficient of friction that may be used."""
    excess: float
    """How far the force is outside the cone; negative inside."""
    shortfall: float
    """How much of the least normal force is missing; negative if none is."""
    slides: bool


@kernel
def body_distance(m: Model, p: tuple) -> tuple:
    """Signed distance of a point from the body, and its gradient, in the body's frame."""
    b = m.body
    if b.kind != ROD:
        d, x, y, z = field_value_gradient(b.field, p[0], p[1], p[2])
        return d, (x, y, z)
    distance, s = point_segment(p, b.rod_start, b.rod_end)
    away = vec.plus_times(vec.minus(p, b.rod_start), vec.minus(b.rod_end, b.rod_start), -s)
    length = distance + 1e-12
    return length - b.rod_radius, vec.over(away, length)


@kernel
def nearest_capsule(m: Model, work: SampleWorkspace, contact: int, p: tuple) -> tuple:
    """Capsule of a contact nearest to a point, and the point's vector from its axis.

    Returns:
        Its number, the fraction of its axis that is nearest, and the vector, m.
    """
    best, which, at = 1e30, -1, 0.0
    for n in range(m.contacts.first[contact], m.contacts.last[contact]):
        k = m.contacts.capsules[n]
        length, s = point_segment(p, work.ends[k, 0], work.ends[k, 1])
        if length - m.skeleton.radius[k] < best:
            best, which, at = length - m.skeleton.radius[k], k, s
    a, b = work.ends[which, 0], work.ends[which, 1]
    return which, at, vec.plus_times(vec.minus(p, a), vec.minus(b, a), -at)


@kernel
def _hand_toucher(m: Model, work: SampleWorkspace, j: int, p: tuple) -> Toucher:
    """The capsule of contact ``j`` that is nearest to the origin ``p``."""
    capsule, at, away = nearest_capsule(m, work, j, p)
    joint, reach = m.skeleton.joint[capsule], vec.norm(away) + 1e-9
    axis = vec.ZERO
    if 0.0 < at < 1.0:
        along = vec.minus(work.ends[capsule, 1], work.ends[capsule, 0])
        axis = vec.over(along, vec.norm(along))
    omega = vec.row(work.omega, joint)
    velocity = vec.plus(vec.row(work.origin_velocity, joint), vec.cross(omega, p))
    off_pad = vec.ZERO
    k = m.contacts.pad_joint[j]
    if k >= 0:
        pad = vec.rotated(work.rotation[k], m.contacts.pad[j])
        off_pad = vec.minus(vec.minus(p, vec.row(work.position, k)), pad)
    gap = reach - m.skeleton.radius[capsule]
    return Toucher(joint, gap, vec.over(away, reach), reach, axis, omega, velocity, off_pad)


@kernel
def from_support(m: Model, work: SampleWorkspace, j: int, local: tuple) -> tuple:
    """Vector from the support point of a contact with the environment to its origin, m."""
    return vec.rotated(work.body_rotation, vec.minus(local, m.contacts.pad[j]))


@kernel
def _environment_toucher(
    m: Model, work: SampleWorkspace, j: int, p: tuple, local: tuple
) -> Toucher:
    """The surface of contact ``j``, for the origin ``p``."""
    gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
    off_pad = vec.tangential((nx, ny, nz), from_support(m, work, j, local))
    return Toucher(-1, gap, (nx, ny, nz), 1.0, vec.ZERO, vec.ZERO, vec.ZERO, off_pad)


@kernel
def contact_state(m: Model, work: SampleWorkspace, j: int) -> ContactState:
    """Geometry and velocity of contact ``j``."""
    z, t, layout = work.z, work.body_rotation, m.layout
    local = vec.triple(z, origin_index(layout, j))
    arm = vec.rotated(t, local)
    p = vec.plus(vec.triple(z, layout.first_body), arm)
    distance, outward = body_distance(m, local)
    if m.contacts.kind[j] == HAND_CONTACT:
        toucher = _hand_toucher(m, work, j, p)
    else:
        toucher = _environment_toucher(m, work, j, p, local)
    velocity = vec.plus(
        vec.triple(z, layout.first_body_rate), vec.cross(vec.row(work.body_omega, 3), arm)
    )
    facing = vec.ZERO
    if toucher.joint >= 0 and m.body.kind == ROD:
        facing = vec.plus(vec.rotated(t, outward), toucher.normal)
    slip = vec.minus(velocity, toucher.velocity)
    return ContactState(local, arm, p, distance, outward, slip, facing, toucher)


@kernel
def cone_force(
    m: Model, w: ResidualWeights, work: SampleWorkspace, j: int, n: tuple, squeeze_share: float
) -> ConeForce:
    """The force of contact ``j`` relative to its cone about the normal ``n``."""
    f = vec.over(vec.triple(work.z, force_index(m.layout, j)), body_weight(m))
    slides = m.contacts.slides[j]
    # A sliding contact has all the friction, so no margin is left for it.
    mu = m.contacts.friction[j] * (1.0 if slides else w.friction)
    least = max(squeeze_share * w.squeeze * m.contacts.squeeze[j], m.contacts.min_force[j])
    return decompose_force(f, n, mu, least, slides)


@kernel
def decompose_force(f: tuple, n: tuple, mu: float, least: float, slides: bool) -> ConeForce:
    """A force on the body, in weights, relative to the cone about the unit normal into it.

    ``least`` is the least normal force, in weights too.
    """
    fn, ft = vec.dot(f, n), vec.tangential(n, f)
    size = math.sqrt(vec.dot(ft, ft) + _ROUND * _ROUND)
    return ConeForce(f, fn, ft, size, mu, size - _ROUND - mu * fn, least - fn, slides)


class ContactColumns(NamedTuple):
    """First column of each block of variables that a contact depends on."""

    hand: int
    """Coordinates that move the link, of which there are ``Forest.num_movers``."""
    body: int
    hand_rate: int
    body_rate: int
    force: int
    origin: int
    contact: int
    size: int


@kernel
def contact_columns(num_movers: int) -> ContactColumns:
    """Columns for a link that is moved by this many coordinates."""
    n = num_movers
    return ContactColumns(
        0, n, n + BODY, 2 * n + BODY, 2 * n + 12, 2 * n + 15, 2 * n + 18, 2 * n + 19
    )


@kernel
def list_contact_columns(m: Model, work: SampleWorkspace, j: int, joint: int) -> ContactColumns:
    """Lists the variables of contact ``j`` and clears their derivatives.

    ``joint`` is the one whose link touches; -1 for the environment.
    """
    layout, f = m.layout, m.forest
    num_movers = f.num_movers[joint] if joint >= 0 else 0
    at = contact_columns(num_movers)
    for i in range(num_movers):
        work.columns[at.hand + i] = f.movers[joint, i]
        work.columns[at.hand_rate + i] = layout.first_rate + f.movers[joint, i]
    for i in range(BODY):
        work.columns[at.body + i] = layout.first_body + i
        work.columns[at.body_rate + i] = layout.first_body_rate + i
    for i in range(3):
        work.columns[at.force + i] = force_index(layout, j) + i
        work.columns[at.origin + i] = origin_index(layout, j) + i
    work.columns[at.contact] = layout.first_contact + j
    for r in range(NUM_ROWS):
        for i in range(at.size):
            work.jacobian[r, i] = 0.0
    return at
