"""Forward kinematics of hands and body at one moment, and the derivatives of their points."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.workspace import SampleWorkspace


@kernel
def _rotate_about(axis: tuple, angle: float, before: np.ndarray, after: np.ndarray) -> None:
    """Writes ``before`` rotated about an axis of its own frame; both arrays may be the same."""
    ax, ay, az = axis
    s, c = math.sin(angle), math.cos(angle)
    for i in range(3):
        x, y, z = before[i, 0], before[i, 1], before[i, 2]
        along = (x * ax + y * ay + z * az) * (1.0 - c)
        after[i, 0] = c * x + s * (y * az - z * ay) + along * ax
        after[i, 1] = c * y + s * (z * ax - x * az) + along * ay
        after[i, 2] = c * z + s * (x * ay - y * ax) + along * az


@kernel
def pose_hands(m: Model, work: SampleWorkspace) -> None:
    """Poses and velocities of all links and capsules from the coordinates in ``work.z``."""
    f = m.forest
    first_rate = m.layout.first_rate
    for j in range(f.parent.shape[0]):
        p, d = f.parent[j], f.driver[j]
        value, rate = f.bias[j], 0.0
        if d >= 0:
            value += f.ratio[j] * work.z[d]
            rate = f.ratio[j] * work.z[first_rate + d]
        before = f.base_rotation[f.hand[j]] if p < 0 else work.rotation[p]
        for i in range(3):
            start = f.base_position[f.hand[j], i] if p < 0 else work.position[p, i]
            x, y, z = before[i, 0], before[i, 1], before[i, 2]
            work.position[j, i] = (
                start + x * f.offset[j, 0] + y * f.offset[j, 1] + z * f.offset[j, 2]
            )
            work.axis[j, i] = x * f.axis[j, 0] + y * f.axis[j, 1] + z * f.axis[j, 2]
            work.omega[j, i] = 0.0 if p < 0 else work.omega[p, i]
            work.origin_velocity[j, i] = 0.0 if p < 0 else work.origin_velocity[p, i]
        ax, ay, az = work.axis[j, 0], work.axis[j, 1], work.axis[j, 2]
        if f.is_slide[j]:
            for i in range(3):
                work.position[j, i] += value * work.axis[j, i]
                work.origin_velocity[j, i] += rate * work.axis[j, i]
                for k in range(3):
                    work.rotation[j, i, k] = before[i, k]
            continue
        _rotate_about((f.axis[j, 0], f.axis[j, 1], f.axis[j, 2]), value, before, work.rotation[j])
        ox, oy, oz = work.position[j, 0], work.position[j, 1], work.position[j, 2]
        # A rotation about an axis through o gives the velocity o x axis at the world's origin.
        work.origin_velocity[j, 0] += rate * (oy * az - oz * ay)
        work.origin_velocity[j, 1] += rate * (oz * ax - ox * az)
        work.origin_velocity[j, 2] += rate * (ox * ay - oy * ax)
        work.omega[j, 0] += rate * ax
        work.omega[j, 1] += rate * ay
        work.omega[j, 2] += rate * az
    s = m.skeleton
    for n in range(s.joint.shape[0]):
        j = s.joint[n]
        for i in range(3):
            x, y, z = work.rotation[j, i, 0], work.rotation[j, i, 1], work.rotation[j, i, 2]
            o = work.position[j, i]
            work.ends[n, 0, i] = o + x * s.start[n, 0] + y * s.start[n, 1] + z * s.start[n, 2]
            work.ends[n, 1, i] = o + x * s.end[n, 0] + y * s.end[n, 1] + z * s.end[n, 2]


@kernel
def pose_body(m: Model, work: SampleWorkspace, time: float) -> None:
    """Orientation, hinge axes and angular velocities of the body from ``work.z``.

    The rotation is spin(t) H1 H2 H3 R, with H1 to H3 about ``hinges`` and R = ``Body.rotation``.
    """
    b, layout = m.body, m.layout
    t = work.body_rotation
    for i in range(3):
        for k in range(3):
            t[i, k] = 1.0 if i == k else 0.0
        work.body_omega[0, i] = b.spin[i]
    rate = math.sqrt(b.spin[0] ** 2 + b.spin[1] ** 2 + b.spin[2] ** 2)
    if rate > 0.0:
        unit = (b.spin[0] / rate, b.spin[1] / rate, b.spin[2] / rate)
        _rotate_about(unit, rate * time, t, t)
    for h in range(3):
        x, y, z = b.hinges[h, 0], b.hinges[h, 1], b.hinges[h, 2]
        rate = work.z[layout.first_hinge_rate + h]
        for i in range(3):
            work.hinge_axis[h, i] = t[i, 0] * x + t[i, 1] * y + t[i, 2] * z
            work.body_omega[h + 1, i] = work.body_omega[h, i] + rate * work.hinge_axis[h, i]
        _rotate_about((x, y, z), work.z[layout.first_hinge + h], t, t)
    for i in range(3):
        x, y, z = t[i, 0], t[i, 1], t[i, 2]
        for k in range(3):
            t[i, k] = x * b.rotation[0, k] + y * b.rotation[1, k] + z * b.rotation[2, k]
    for i in range(3):
        x, y, z = t[i, 0], t[i, 1], t[i, 2]
        o = work.z[layout.first_body + i]
        work.rod_ends[0, i] = o + x * b.rod_start[0] + y * b.rod_start[1] + z * b.rod_start[2]
        work.rod_ends[1, i] = o + x * b.rod_end[0] + y * b.rod_end[1] + z * b.rod_end[2]


@kernel
def joint_motion(
    m: Model, work: SampleWorkspace, joint: int, x: float, y: float, z: float
) -> tuple:
    """Velocity of the world point (x, y, z) per unit rate of a joint that moves it."""
    ax, ay, az = work.axis[joint, 0], work.axis[joint, 1], work.axis[joint, 2]
    if m.forest.is_slide[joint]:
        return ax, ay, az
    rx, ry, rz = (
        x - work.position[joint, 0],
        y - work.position[joint, 1],
        z - work.position[joint, 2],
    )
    return ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx


@kernel
def add_link_gradient(
    m: Model,
    work: SampleWorkspace,
    joint: int,
    point: tuple,
    direction: tuple,
    row: int,
    sign: float,
) -> None:
    """Adds sign * direction . d(point of a link) / d(coordinate) to a row of ``work.dense``."""
    f = m.forest
    for n in range(f.chain.shape[1]):
        j = f.chain[joint, n]
        if j < 0:
            break
        d = f.driver[j]
        if d < 0:
            continue
        vx, vy, vz = joint_motion(m, work, j, point[0], point[1], point[2])
        along = vx * direction[0] + vy * direction[1] + vz * direction[2]
        work.dense[row, d] += sign * f.ratio[j] * along


@kernel
def add_body_gradient(
    m: Model, work: SampleWorkspace, point: tuple, direction: tuple, row: int, sign: float
) -> None:
    """Adds the same for a point of the body."""
    first, first_hinge = m.layout.first_body, m.layout.first_hinge
    dx, dy, dz = direction
    work.dense[row, first] += sign * dx
    work.dense[row, first + 1] += sign * dy
    work.dense[row, first + 2] += sign * dz
    x = point[0] - work.z[first]
    y = point[1] - work.z[first + 1]
    z = point[2] - work.z[first + 2]
    for h in range(3):
        ax, ay, az = work.hinge_axis[h, 0], work.hinge_axis[h, 1], work.hinge_axis[h, 2]
        along = dx * (ay * z - az * y) + dy * (az * x - ax * z) + dz * (ax * y - ay * x)
        work.dense[row, first_hinge + h] += sign * along
