"""Forward kinematics of hands and body at one moment, and the derivatives of their points."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.workspace import SampleWorkspace


@kernel
def _rotate_about(axis: tuple, angle: float, before: np.ndarray, after: np.ndarray) -> None:
    """Writes ``before`` rotated about an axis of its own frame; both arrays may be the same."""
    s, c = math.sin(angle), math.cos(angle)
    for i in range(3):
        v = vec.row(before, i)
        across, along = vec.cross(v, axis), vec.dot(v, axis) * (1.0 - c)
        for k in range(3):
            after[i, k] = c * v[k] + s * across[k] + along * axis[k]


@kernel
def pose_hands(m: Model, work: SampleWorkspace) -> None:
    """Poses and velocities of all links and capsules from the coordinates in ``work.z``."""
    f, s = m.forest, m.skeleton
    for j in range(f.parent.shape[0]):
        p, d = f.parent[j], f.driver[j]
        value, rate = f.bias[j], 0.0
        if d >= 0:
            value += f.ratio[j] * work.z[d]
            rate = f.ratio[j] * work.z[m.layout.first_rate + d]
        before, start = f.base_rotation[f.hand[j]], vec.row(f.base_position, f.hand[j])
        omega, velocity = vec.ZERO, vec.ZERO
        if p >= 0:
            before, start = work.rotation[p], vec.row(work.position, p)
            omega, velocity = vec.row(work.omega, p), vec.row(work.origin_velocity, p)
        position = vec.placed(before, start, vec.row(f.offset, j))
        axis = vec.rotated(before, vec.row(f.axis, j))
        if f.is_slide[j]:
            position = vec.plus_times(position, axis, value)
            velocity = vec.plus_times(velocity, axis, rate)
            for i in range(3):
                vec.write_row(work.rotation[j], i, vec.row(before, i))
        else:
            _rotate_about(vec.row(f.axis, j), value, before, work.rotation[j])
            # A rotation about an axis through o gives the velocity o x axis at the world's origin.
            velocity = vec.plus_times(velocity, vec.cross(position, axis), rate)
            omega = vec.plus_times(omega, axis, rate)
        vec.write_row(work.position, j, position)
        vec.write_row(work.axis, j, axis)
        vec.write_row(work.omega, j, omega)
        vec.write_row(work.origin_velocity, j, velocity)
    for n in range(s.joint.shape[0]):
        t, o = work.rotation[s.joint[n]], vec.row(work.position, s.joint[n])
        vec.write_row(work.ends[n], 0, vec.placed(t, o, vec.row(s.start, n)))
        vec.write_row(work.ends[n], 1, vec.placed(t, o, vec.row(s.end, n)))


@kernel
def pose_body(m: Model, work: SampleWorkspace, time: float) -> None:
    """Orientation, hinge axes and angular velocities of the body from ``work.z``.

    The rotation is spin(t) H1 H2 H3 R, with H1 to H3 about ``hinges`` and R = ``Body.rotation``.
    """
    b, layout, t = m.body, m.layout, work.body_rotation
    for i in range(3):
        for k in range(3):
            t[i, k] = 1.0 if i == k else 0.0
    omega, rate = vec.triple(b.spin, 0), vec.norm(b.spin)
    vec.write_row(work.body_omega, 0, omega)
    if rate > 0.0:
        _rotate_about(vec.over(omega, rate), rate * time, t, t)
    for h in range(3):
        own = vec.row(b.hinges, h)
        axis = vec.rotated(t, own)
        omega = vec.plus_times(omega, axis, work.z[layout.first_hinge_rate + h])
        vec.write_row(work.hinge_axis, h, axis)
        vec.write_row(work.body_omega, h + 1, omega)
        _rotate_about(own, work.z[layout.first_hinge + h], t, t)
    for i in range(3):
        v = vec.row(t, i)
        for k in range(3):
            t[i, k] = vec.dot(v, vec.column(b.rotation, k))
    center = vec.triple(work.z, layout.first_body)
    vec.write_row(work.rod_ends, 0, vec.placed(t, center, b.rod_start))
    vec.write_row(work.rod_ends, 1, vec.placed(t, center, b.rod_end))


@kernel
def joint_motion(m: Model, work: SampleWorkspace, joint: int, point: tuple) -> tuple:
    """Velocity of a point in the world per unit rate of a joint that moves it."""
    axis = vec.row(work.axis, joint)
    if m.forest.is_slide[joint]:
        return axis
    return vec.cross(axis, vec.minus(point, vec.row(work.position, joint)))


@kernel
def add_link_gradient(
    m: Model, work: SampleWorkspace, joint: int, point: tuple, direction: tuple, at: tuple
) -> None:
    """Adds the derivatives of a point of a link, along a direction, by the coordinates.

    ``at`` is the row of ``work.dense`` that they are added to, and a factor on them.
    """
    f, (n, factor) = m.forest, at
    for i in range(f.chain.shape[1]):
        j = f.chain[joint, i]
        if j < 0:
            break
        d = f.driver[j]
        if d >= 0:
            along = vec.dot(joint_motion(m, work, j, point), direction)
            work.dense[n, d] += factor * f.ratio[j] * along


@kernel
def add_body_gradient(
    m: Model, work: SampleWorkspace, point: tuple, direction: tuple, at: tuple
) -> None:
    """Adds the same for a point of the body."""
    first, first_hinge, (n, factor) = m.layout.first_body, m.layout.first_hinge, at
    arm = vec.minus(point, vec.triple(work.z, first))
    for a in range(3):
        work.dense[n, first + a] += factor * direction[a]
        along = vec.dot(direction, vec.cross(vec.row(work.hinge_axis, a), arm))
        work.dense[n, first_hinge + a] += factor * along
