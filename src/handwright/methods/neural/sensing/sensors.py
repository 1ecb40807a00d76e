"""The three sensors of section 5, for one frame and one posture: compiled.

What the readings are, in which order and in which units, ``features`` says.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.tree import Links, forward, placed_row, turned
from handwright.math.vec3 import Vec3, row3
from handwright.methods.neural.sensing.body import REACH, SensedBody
from handwright.methods.neural.sensing.joints import NUM_JOINTS, NUM_SITES, SensedHand
from handwright.methods.neural.sensing.motion import Motion, place_wrist
from handwright.methods.neural.sensing.rays import (
    FAR_SLACK,
    body_distance,
    body_distance_normal,
    proximity,
)

POSE_SIZE = 9 * NUM_JOINTS
NUM_MOMENTS = 6
"""Moments at which proximity and distance are sensed, the measured frame first."""
MOMENT_STEP = 6
"""Frames from one moment to the next."""
GRID = 10
"""Cells of the ambient grid along each axis."""
CELL = 0.018
"""Edge of a cell, m."""

# From the middle of a cell to its corners, m.
_HALF_DIAGONAL = 0.5 * math.sqrt(3.0) * CELL
_DISTANCES = POSE_SIZE + NUM_MOMENTS * NUM_SITES
_NORMALS = _DISTANCES + NUM_MOMENTS * NUM_JOINTS
FINGER_SIZE = _NORMALS + 3 * NUM_JOINTS


class Posed(NamedTuple):
    """A posed hand in the frame of its wrist: room that ``pose_hand`` fills."""

    links: Links
    joint: np.ndarray
    """(22, 3), m."""
    site: np.ndarray
    """(104, 3), m."""
    normal: np.ndarray
    """(104, 3), out of the hand."""


@inlined
def _in_wrist(links: Links, wrist: int, v: Vec3) -> Vec3:
    r = links.rotation
    return (
        r[wrist, 0, 0] * v[0] + r[wrist, 1, 0] * v[1] + r[wrist, 2, 0] * v[2],
        r[wrist, 0, 1] * v[0] + r[wrist, 1, 1] * v[1] + r[wrist, 2, 1] * v[2],
        r[wrist, 0, 2] * v[0] + r[wrist, 1, 2] * v[1] + r[wrist, 2, 2] * v[2],
    )


@inlined
def _from_wrist(links: Links, wrist: int, v: Vec3) -> Vec3:
    p = links.position
    return _in_wrist(links, wrist, (v[0] - p[wrist, 0], v[1] - p[wrist, 1], v[2] - p[wrist, 2]))


@inlined
def _store(table: np.ndarray, row: int, v: Vec3) -> None:
    table[row, 0], table[row, 1], table[row, 2] = v


@kernel
def pose_hand(hand: SensedHand, q: np.ndarray, posed: Posed) -> None:
    """Places joints and sites in the frame of the wrist; the root of the links must be placed."""
    links, wrist = posed.links, hand.wrist
    forward(hand.tree, q, links)
    for n in range(NUM_JOINTS):
        place = placed_row(links, hand.link[n], hand.local, n)
        _store(posed.joint, n, _from_wrist(links, wrist, place))
    for n in range(NUM_SITES):
        link = hand.site_link[n]
        place = placed_row(links, link, hand.site_local, n)
        _store(posed.site, n, _from_wrist(links, wrist, place))
        ux, uy, uz = row3(hand.site_normal, n)
        _store(posed.normal, n, _in_wrist(links, wrist, turned(links, link, ux, uy, uz)))


@kernel
def write_pose(hand: SensedHand, posed: Posed, out: np.ndarray) -> None:
    """Writes places and directions of the 22 joints, as a right hand would have them."""
    links, wrist, mirror = posed.links, hand.wrist, hand.mirror
    for n in range(NUM_JOINTS):
        link = hand.link[n]
        out[3 * n] = posed.joint[n, 0]
        out[3 * n + 1] = mirror * posed.joint[n, 1]
        out[3 * n + 2] = posed.joint[n, 2]
        ax, ay, az = row3(hand.along, n)
        along = _in_wrist(links, wrist, turned(links, link, ax, ay, az))
        ax, ay, az = row3(hand.dorsal, n)
        dorsal = _in_wrist(links, wrist, turned(links, link, ax, ay, az))
        at = 3 * NUM_JOINTS + 6 * n
        out[at], out[at + 1], out[at + 2] = along[0], mirror * along[1], along[2]
        out[at + 3], out[at + 4], out[at + 5] = dorsal[0], mirror * dorsal[1], dorsal[2]


@inlined
def turned_by(turn: np.ndarray, v: Vec3) -> Vec3:
    """The product of a matrix and a vector."""
    return (
        turn[0, 0] * v[0] + turn[0, 1] * v[1] + turn[0, 2] * v[2],
        turn[1, 0] * v[0] + turn[1, 1] * v[1] + turn[1, 2] * v[2],
        turn[2, 0] * v[0] + turn[2, 1] * v[1] + turn[2, 2] * v[2],
    )


@inlined
def moved_by(turn: np.ndarray, shift: np.ndarray, v: Vec3) -> Vec3:
    """A point of the wrist frame in the object's frame."""
    a, b, c = turned_by(turn, v)
    return a + shift[0], b + shift[1], c + shift[2]


@kernel
def write_fingers(
    hand: SensedHand,
    body: SensedBody,
    motion: Motion,
    frame: int,
    posed: Posed,
    place: tuple,
    out: np.ndarray,
) -> None:
    """Writes pose, proximity, signed distances and normals of a posed hand at a frame.

    Args:
        hand: The hand.
        body: What it senses.
        motion: Tracks of both.
        frame: The measured frame.
        posed: Filled by ``pose_hand``.
        place: Room for a turn (3, 3) and a shift (3,).
        out: (1020,), written.
    """
    write_pose(hand, posed, out)
    turn, shift = place
    for moment in range(NUM_MOMENTS):
        place_wrist(motion, frame + MOMENT_STEP * moment, turn, shift)
        first = POSE_SIZE + moment * NUM_SITES
        for n in range(NUM_SITES):
            p = moved_by(turn, shift, row3(posed.site, n))
            out[first + n] = proximity(body, p, turned_by(turn, row3(posed.normal, n)), REACH)
        first = _DISTANCES + moment * NUM_JOINTS
        for n in range(NUM_JOINTS):
            x, y, z = moved_by(turn, shift, row3(posed.joint, n))
            if moment > 0:
                d = body_distance(body, x, y, z)
            else:
                d, gx, gy, gz = body_distance_normal(body, x, y, z)
                at = _NORMALS + 3 * n
                out[at] = turn[0, 0] * gx + turn[1, 0] * gy + turn[2, 0] * gz
                out[at + 1] = hand.mirror * (turn[0, 1] * gx + turn[1, 1] * gy + turn[2, 1] * gz)
                out[at + 2] = turn[0, 2] * gx + turn[1, 2] * gy + turn[2, 2] * gz
            out[first + n] = min(max(d, -REACH), REACH)


@kernel
def write_distances(body: SensedBody, posed: Posed, place: tuple, out: np.ndarray) -> None:
    """Writes signed distances of the 22 joints, m, with the wrist placed."""
    turn, shift = place
    for n in range(NUM_JOINTS):
        x, y, z = moved_by(turn, shift, row3(posed.joint, n))
        out[n] = body_distance(body, x, y, z)


@kernel
def write_ambient(hand: SensedHand, body: SensedBody, place: tuple, out: np.ndarray) -> None:
    """Writes how much of each cell of the ambient grid the body fills (section 5.1), 0 to 1.

    A cell counts as touched if it would touch the body's surface were that flat: a half space at
    the distance d from the middle of a cube of edge s, whose normal n is given in the axes of the
    cube, is met by the cube if d <= s/2 (|n_x| + |n_y| + |n_z|).

    Args:
        hand: The hand.
        body: What it senses.
        place: Turn (3, 3) and shift (3,) from the wrist frame to that of the body.
        out: (1000,), written; the cell along x (to the fingers) slowest, along z fastest. Along y
            cells count from the little finger to the thumb, of either hand.
    """
    turn, shift = place
    begin = -0.5 * CELL * (GRID - 1)
    at = 0
    for i in range(GRID):
        cx = hand.grid_center[0] + begin + CELL * i
        for j in range(GRID):
            cy = hand.grid_center[1] + hand.mirror * (begin + CELL * j)
            for k in range(GRID):
                cz = hand.grid_center[2] + begin + CELL * k
                x, y, z = moved_by(turn, shift, (cx, cy, cz))
                out[at] = _filled(body, turn, x, y, z)
                at += 1


@inlined
def _filled(body: SensedBody, turn: np.ndarray, x: float, y: float, z: float) -> float:
    """How much of the cell around a point of the body's frame is filled."""
    # The coarse grid stays in the processor's caches, and decides nearly all cells.
    rough = field_value(body.far, x, y, z)
    slack = FAR_SLACK * body.far.spacing
    if rough > slack + _HALF_DIAGONAL:
        return 0.0
    if rough < -slack:
        return 1.0
    d, gx, gy, gz = field_value_gradient(body.near, x, y, z)
    if d <= 0.0:
        return 1.0
    spread = 0.0
    for axis in range(3):
        spread += abs(turn[0, axis] * gx + turn[1, axis] * gy + turn[2, axis] * gz)
    # At least 1, whatever the direction: the ball within a cell touches its faces.
    if d > 0.5 * CELL * max(spread, 1.0):
        return 0.0
    return 1.0 - d / CELL
