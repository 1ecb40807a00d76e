"""Where everything is at one moment, how fast it moves, and what moves it."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model, Room


@kernel
def _turn_about(axis: tuple, angle: float, before: np.ndarray, after: np.ndarray) -> None:
    """Writes ``before`` turned about an axis of its own frame; both may be the same."""
    ax, ay, az = axis
    s, c = math.sin(angle), math.cos(angle)
    for i in range(3):
        x, y, z = before[i, 0], before[i, 1], before[i, 2]
        along = (x * ax + y * ay + z * az) * (1.0 - c)
        after[i, 0] = c * x + s * (y * az - z * ay) + along * ax
        after[i, 1] = c * y + s * (z * ax - x * az) + along * ay
        after[i, 2] = c * z + s * (x * ay - y * ax) + along * az


@kernel
def pose_hands(m: Model, room: Room) -> None:
    """Places all links and capsules from the coordinates and rates in ``room.z``."""
    f = m.forest
    first_rate = m.layout.first_rate
    for j in range(f.parent.shape[0]):
        p, d = f.parent[j], f.driver[j]
        value, rate = f.bias[j], 0.0
        if d >= 0:
            value += f.ratio[j] * room.z[d]
            rate = f.ratio[j] * room.z[first_rate + d]
        before = f.base_turn[f.hand[j]] if p < 0 else room.turn[p]
        for i in range(3):
            start = f.base_place[f.hand[j], i] if p < 0 else room.place[p, i]
            x, y, z = before[i, 0], before[i, 1], before[i, 2]
            room.place[j, i] = start + x * f.offset[j, 0] + y * f.offset[j, 1] + z * f.offset[j, 2]
            room.axis[j, i] = x * f.axis[j, 0] + y * f.axis[j, 1] + z * f.axis[j, 2]
            room.omega[j, i] = 0.0 if p < 0 else room.omega[p, i]
            room.speed[j, i] = 0.0 if p < 0 else room.speed[p, i]
        ax, ay, az = room.axis[j, 0], room.axis[j, 1], room.axis[j, 2]
        if f.is_slide[j]:
            for i in range(3):
                room.place[j, i] += value * room.axis[j, i]
                room.speed[j, i] += rate * room.axis[j, i]
                for k in range(3):
                    room.turn[j, i, k] = before[i, k]
            continue
        _turn_about((f.axis[j, 0], f.axis[j, 1], f.axis[j, 2]), value, before, room.turn[j])
        ox, oy, oz = room.place[j, 0], room.place[j, 1], room.place[j, 2]
        # The velocity at the world's origin of a turn about an axis through o is o x axis.
        room.speed[j, 0] += rate * (oy * az - oz * ay)
        room.speed[j, 1] += rate * (oz * ax - ox * az)
        room.speed[j, 2] += rate * (ox * ay - oy * ax)
        room.omega[j, 0] += rate * ax
        room.omega[j, 1] += rate * ay
        room.omega[j, 2] += rate * az
    s = m.skeleton
    for n in range(s.joint.shape[0]):
        j = s.joint[n]
        for i in range(3):
            x, y, z = room.turn[j, i, 0], room.turn[j, i, 1], room.turn[j, i, 2]
            o = room.place[j, i]
            room.ends[n, 0, i] = o + x * s.start[n, 0] + y * s.start[n, 1] + z * s.start[n, 2]
            room.ends[n, 1, i] = o + x * s.end[n, 0] + y * s.end[n, 1] + z * s.end[n, 2]


@kernel
def pose_body(m: Model, room: Room, time: float) -> None:
    """Orientation, hinge axes and angular velocities of the body from ``room.z``.

    The orientation is spin(t) H1 H2 H3 turn, with H1 to H3 about ``hinges``.
    """
    b, layout = m.body, m.layout
    t = room.body_turn
    for i in range(3):
        for k in range(3):
            t[i, k] = 1.0 if i == k else 0.0
        room.swing[0, i] = b.spin[i]
    rate = math.sqrt(b.spin[0] ** 2 + b.spin[1] ** 2 + b.spin[2] ** 2)
    if rate > 0.0:
        unit = (b.spin[0] / rate, b.spin[1] / rate, b.spin[2] / rate)
        _turn_about(unit, rate * time, t, t)
    for h in range(3):
        x, y, z = b.hinges[h, 0], b.hinges[h, 1], b.hinges[h, 2]
        rate = room.z[layout.first_hinge_rate + h]
        for i in range(3):
            room.hinge[h, i] = t[i, 0] * x + t[i, 1] * y + t[i, 2] * z
            room.swing[h + 1, i] = room.swing[h, i] + rate * room.hinge[h, i]
        _turn_about((x, y, z), room.z[layout.first_hinge + h], t, t)
    for i in range(3):
        x, y, z = t[i, 0], t[i, 1], t[i, 2]
        for k in range(3):
            t[i, k] = x * b.turn[0, k] + y * b.turn[1, k] + z * b.turn[2, k]
    for i in range(3):
        x, y, z = t[i, 0], t[i, 1], t[i, 2]
        o = room.z[layout.first_body + i]
        room.rod[0, i] = o + x * b.rod_start[0] + y * b.rod_start[1] + z * b.rod_start[2]
        room.rod[1, i] = o + x * b.rod_end[0] + y * b.rod_end[1] + z * b.rod_end[2]


@kernel
def joint_motion(m: Model, room: Room, joint: int, x: float, y: float, z: float) -> tuple:
    """Velocity of the world point (x, y, z) per unit speed of a joint that moves it."""
    ax, ay, az = room.axis[joint, 0], room.axis[joint, 1], room.axis[joint, 2]
    if m.forest.is_slide[joint]:
        return ax, ay, az
    rx, ry, rz = x - room.place[joint, 0], y - room.place[joint, 1], z - room.place[joint, 2]
    return ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx


@kernel
def add_link_slopes(
    m: Model, room: Room, joint: int, point: tuple, direction: tuple, row: int, sign: float
) -> None:
    """Adds sign * direction . d(point of a link) to a dense row, for every coordinate."""
    f = m.forest
    for n in range(f.chain.shape[1]):
        j = f.chain[joint, n]
        if j < 0:
            break
        d = f.driver[j]
        if d < 0:
            continue
        vx, vy, vz = joint_motion(m, room, j, point[0], point[1], point[2])
        along = vx * direction[0] + vy * direction[1] + vz * direction[2]
        room.dense[row, d] += sign * f.ratio[j] * along


@kernel
def add_body_slopes(
    m: Model, room: Room, point: tuple, direction: tuple, row: int, sign: float
) -> None:
    """The same for a point of the body."""
    first, first_hinge = m.layout.first_body, m.layout.first_hinge
    dx, dy, dz = direction
    room.dense[row, first] += sign * dx
    room.dense[row, first + 1] += sign * dy
    room.dense[row, first + 2] += sign * dz
    x = point[0] - room.z[first]
    y = point[1] - room.z[first + 1]
    z = point[2] - room.z[first + 2]
    for h in range(3):
        ax, ay, az = room.hinge[h, 0], room.hinge[h, 1], room.hinge[h, 2]
        along = dx * (ay * z - az * y) + dy * (az * x - ax * z) + dz * (ax * y - ay * x)
        room.dense[row, first_hinge + h] += sign * along
