"""A contact at one moment: where it is, how it slides, and its force relative to its cone."""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.geometry.distance.environment import surface_value_gradient
from handwright.geometry.distance.sdf import field_value_gradient
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import force_index, origin_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, ROD, Model, ResidualWeights
from handwright.methods.trajopt.model.vectors import cross, dot, rotated, tangential
from handwright.methods.trajopt.model.workspace import SampleWorkspace

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
def body_distance(m: Model, x: float, y: float, z: float) -> tuple:
    """Signed distance to the body and its gradient, at a point in the body's frame."""
    b = m.body
    if b.kind != ROD:
        return field_value_gradient(b.field, x, y, z)
    p0, p1 = b.rod_start, b.rod_end
    u = (p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2])
    w = (x - p0[0], y - p0[1], z - p0[2])
    uu = dot(u, u)
    s = min(max(dot(w, u) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    e = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
    length = math.sqrt(dot(e, e)) + 1e-12
    return length - b.rod_radius, e[0] / length, e[1] / length, e[2] / length


@kernel
def nearest_capsule(m: Model, work: SampleWorkspace, contact: int, p: tuple) -> tuple:
    """Capsule of a contact nearest to a point: its number, and the fraction of its axis."""
    best, which, at = 1e30, -1, 0.0
    for n in range(m.contacts.first[contact], m.contacts.last[contact]):
        k = m.contacts.capsules[n]
        a, b = work.ends[k, 0], work.ends[k, 1]
        u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        w = (p[0] - a[0], p[1] - a[1], p[2] - a[2])
        uu = dot(u, u)
        s = min(max(dot(w, u) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
        e = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
        length = math.sqrt(dot(e, e))
        if length - m.skeleton.radius[k] < best:
            best, which, at = length - m.skeleton.radius[k], k, s
    return which, at


@kernel
def _hand_toucher(m: Model, work: SampleWorkspace, j: int, p: tuple) -> Toucher:
    """The capsule of contact ``j`` that is nearest to the origin ``p``."""
    capsule, at = nearest_capsule(m, work, j, p)
    joint = m.skeleton.joint[capsule]
    a, b = work.ends[capsule, 0], work.ends[capsule, 1]
    u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    e = (p[0] - a[0] - at * u[0], p[1] - a[1] - at * u[1], p[2] - a[2] - at * u[2])
    reach = math.sqrt(dot(e, e)) + 1e-9
    axis = (0.0, 0.0, 0.0)
    if 0.0 < at < 1.0:
        length = math.sqrt(dot(u, u))
        axis = (u[0] / length, u[1] / length, u[2] / length)
    omega = (work.omega[joint, 0], work.omega[joint, 1], work.omega[joint, 2])
    circling = cross(omega, p)
    off_pad = (0.0, 0.0, 0.0)
    k = m.contacts.pad_joint[j]
    if k >= 0:
        pad = rotated(work.rotation[k], m.contacts.pad[j])
        off_pad = (
            p[0] - work.position[k, 0] - pad[0],
            p[1] - work.position[k, 1] - pad[1],
            p[2] - work.position[k, 2] - pad[2],
        )
    return Toucher(
        joint,
        reach - m.skeleton.radius[capsule],
        (e[0] / reach, e[1] / reach, e[2] / reach),
        reach,
        axis,
        omega,
        (
            work.origin_velocity[joint, 0] + circling[0],
            work.origin_velocity[joint, 1] + circling[1],
            work.origin_velocity[joint, 2] + circling[2],
        ),
        off_pad,
    )


@kernel
def from_support(m: Model, work: SampleWorkspace, j: int, local: tuple) -> tuple:
    """Vector from the support point of a contact with the environment to its origin, m."""
    q = m.contacts.pad[j]
    return rotated(work.body_rotation, (local[0] - q[0], local[1] - q[1], local[2] - q[2]))


@kernel
def _environment_toucher(
    m: Model, work: SampleWorkspace, j: int, p: tuple, local: tuple
) -> Toucher:
    """The surface of contact ``j``, for the origin ``p``."""
    gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
    n, none = (nx, ny, nz), (0.0, 0.0, 0.0)
    off_pad = tangential(n, from_support(m, work, j, local))
    return Toucher(-1, gap, n, 1.0, none, none, none, off_pad)


@kernel
def contact_state(m: Model, work: SampleWorkspace, j: int) -> ContactState:
    """Geometry and velocity of contact ``j``."""
    z, v = work.z, m.layout.first_body_rate
    r, b = origin_index(m.layout, j), m.layout.first_body
    local = (z[r], z[r + 1], z[r + 2])
    arm = rotated(work.body_rotation, z[r : r + 3])
    p = (z[b] + arm[0], z[b + 1] + arm[1], z[b + 2] + arm[2])
    distance, gx, gy, gz = body_distance(m, local[0], local[1], local[2])
    if m.contacts.kind[j] == HAND_CONTACT:
        toucher = _hand_toucher(m, work, j, p)
    else:
        toucher = _environment_toucher(m, work, j, p, local)
    omega = (work.body_omega[3, 0], work.body_omega[3, 1], work.body_omega[3, 2])
    circling = cross(omega, arm)
    slip = (
        z[v] + circling[0] - toucher.velocity[0],
        z[v + 1] + circling[1] - toucher.velocity[1],
        z[v + 2] + circling[2] - toucher.velocity[2],
    )
    facing = (0.0, 0.0, 0.0)
    if toucher.joint >= 0 and m.body.kind == ROD:
        out, n = rotated(work.body_rotation, (gx, gy, gz)), toucher.normal
        facing = (out[0] + n[0], out[1] + n[1], out[2] + n[2])
    return ContactState(local, arm, p, distance, (gx, gy, gz), slip, facing, toucher)


@kernel
def cone_force(
    m: Model, w: ResidualWeights, work: SampleWorkspace, j: int, n: tuple, squeeze_share: float
) -> ConeForce:
    """The force of contact ``j`` relative to its cone about the normal ``n``."""
    i, g, z = force_index(m.layout, j), m.gravity, work.z
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    f = (z[i] / weight, z[i + 1] / weight, z[i + 2] / weight)
    slides = m.contacts.slides[j]
    # A sliding contact has all the friction, so no margin is left for it.
    mu = m.contacts.friction[j] * (1.0 if slides else w.friction)
    least = max(squeeze_share * w.squeeze * m.contacts.squeeze[j], m.contacts.min_force[j])
    return decompose_force(f, n, mu, least, slides)


@kernel
def decompose_force(f: tuple, n: tuple, mu: float, least: float, slides: bool) -> ConeForce:
    """A force, in weights, relative to the cone about a normal.

    Args:
        f: The force on the body.
        n: Unit normal into the body.
        mu: Coefficient of friction.
        least: Least normal force.
        slides: Whether the contact slides.
    """
    fn = dot(f, n)
    ft = (f[0] - fn * n[0], f[1] - fn * n[1], f[2] - fn * n[2])
    size = math.sqrt(dot(ft, ft) + _ROUND * _ROUND)
    return ConeForce(f, fn, ft, size, mu, size - _ROUND - mu * fn, least - fn, slides)
