"""A spatula that lies on a board with its handle over the edge: taken, used to flip, put back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox, Surface
from handwright.core.track import Track
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.io.goals.schema import BodyEntry
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.curves import Phase, aimed, columns, phases, variation, window
from tools.scenes.gripping import find_hold, wrists_around
from tools.scenes.stage import TABLE_HEIGHT, Reach, held, prop, reached, tracks_of, work_table
from tools.scenes.task import Hold, Task

FRAMES = 226
_BOARD_HEIGHT = 0.05
# Where the rest stands, along the spatula in its frame, m.
_REST = (-0.046, -0.038)
_PLACE = (0.01, 0.06)
_HEADING = 152.0
_GRIP = -0.085


@lru_cache(maxsize=1)
def spatula_part() -> BodyEntry:
    """A kitchen spatula of 60 g with a steel core of 40 g in its handle."""
    plastic, core, length = make_shape("spatula", mass=0.06), 0.04, 0.10
    at = np.array([-0.075, 0.0, 0.018])
    mass = plastic.mass + core
    center = core * at / mass
    rod = core * length**2 / 12.0 * np.diag([0.0, 1.0, 1.0])
    inertia = plastic.inertia + rod
    for part, place in ((plastic.mass, -center), (core, at - center)):
        inertia = inertia + part * (place @ place * np.eye(3) - np.outer(place, place))
    return BodyEntry(
        shape="spatula",
        mass=mass,
        center=tuple(center.tolist()),
        inertia=[tuple(row) for row in inertia.tolist()],
        friction=0.8,
    )


@lru_cache(maxsize=1)
def spatula() -> RigidBody:
    """The spatula as a body."""
    return prop("spatula", spatula_part())


def _slab(low: float, high: float) -> np.ndarray:
    """Corners of the part of the surface between two places along the spatula, m."""
    vertices, faces = spatula().vertices, spatula().faces
    start, end = (vertices[faces[:, side]].reshape(-1, 3) for side in ([0, 1, 2], [1, 2, 0]))
    parts = [vertices[(vertices[:, 0] > low) & (vertices[:, 0] < high)]]
    for cut in (low, high):
        crosses = (start[:, 0] < cut) & (end[:, 0] >= cut)
        first, second = start[crosses], end[crosses]
        share = (cut - first[:, :1]) / (second[:, :1] - first[:, :1])
        parts.append(first + share * (second - first))
    return np.concatenate(parts)


def surroundings() -> tuple[Surface, ...]:
    """The table, a board, and on its near edge the rest on which the handle lies."""
    bottom = float(spatula().vertices[:, 2].min())
    rest = float(_slab(*_REST)[:, 2].min()) - bottom
    wxyz = rotation.exp(np.radians([0.0, 0.0, _HEADING]))
    ahead = rotation.rotate(wxyz, np.array([1.0, 0.0, 0.0]))
    middle = np.array([*_PLACE, TABLE_HEIGHT])
    board = (0.105, 0.07, 0.5 * _BOARD_HEIGHT)
    # The board ends where the rest ends.
    forward = _REST[0] + board[0]
    stand = (0.5 * (_REST[1] - _REST[0]), 0.03, 0.5 * rest)
    return (
        work_table(),
        EnvironmentBox(
            Pose(middle + forward * ahead + [0.0, 0.0, board[2]], wxyz), np.array(board), 0.6
        ),
        EnvironmentBox(
            Pose(middle + 0.5 * sum(_REST) * ahead + [0.0, 0.0, _BOARD_HEIGHT + stand[2]], wxyz),
            np.array(stand),
            0.6,
        ),
    )


def find_spatula_hold() -> Hold:
    """The handle across the fingertips, the thumb on top of it."""
    body = spatula()
    slab = _slab(_GRIP - 0.01, _GRIP + 0.01)
    height = 0.5 * float(slab[:, 2].min() + slab[:, 2].max())
    half = 0.5 * float(np.ptp(slab[:, 2]))
    spots = np.array(
        [
            (_GRIP - 0.012, 0.002, height + half),
            (_GRIP + 0.022, 0.002, height - half),
            (_GRIP + 0.001, 0.0, height - half),
            (_GRIP - 0.020, -0.002, height - half),
            (_GRIP - 0.038, -0.004, height - half),
        ]
    )
    # Moments are about the centre of mass, which lies before the hand.
    ways = np.array([(0, 0, 1), (0, 0.7, 0.7), (0, -0.7, 0.7), (0.6, 0, 0.8), (-0.5, 0, 0.8)])
    force = 11.5 * body.mass * ways
    task = Task(
        human("right"),
        body,
        np.outer((-12.0, 0.0, 12.0), (1.0, 0.0, 0.0)),
        np.concatenate([force, np.zeros_like(force)], axis=1),
        spots,
        pivot=(_GRIP, 0.0, height),
        spread=0.008,
        palm_gap=(0.004, 0.05),
        digits=(True, True, True, True, False),
    )
    wrists = wrists_around(
        ((0.60, -0.78, -0.15), (-0.55, -0.55, 0.62)),
        grip=((0.095, -0.01, -0.065), (0.125, 0.02, -0.035)),
        at=((_GRIP, 0.0, height), (_GRIP, 0.0, height)),
        tilt=((-35.0, -20.0, -25.0), (35.0, 20.0, 25.0)),
        count=20,
    )
    return find_hold(task, wrists)


def make_spatula(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Taken, pushed under something, turned over by 96 degrees and back, put on its rest."""
    count, hold = FRAMES, holds["spatula"]
    rng = np.random.default_rng(31)
    free, high = window(count, 25, 205, 14), window(count, 36, 200, 16)
    yaw = phases(
        count, Phase(28, 60, -22.0, 0.1), Phase(90, 120, 9.0), Phase(128, 160, 6.0),
        Phase(178, 205, 7.0), start=_HEADING,
    ) + free * variation(rng, count, 3.0)  # fmt: skip
    pitch = phases(
        count, Phase(36, 62, 14.0), Phase(80, 104, -20.0, 0.1), Phase(112, 140, 8.0),
        Phase(168, 186, 6.0), Phase(184, 206, -8.0),
    ) + high * variation(rng, count, 3.0)  # fmt: skip
    roll = phases(
        count, Phase(40, 60, -6.0), Phase(86, 106, -10.0), Phase(160, 186, 16.0),
    ) + high * variation(rng, count, 3.0)  # fmt: skip
    # It is turned over by the forearm, whose axis lies between those of hand and handle.
    flip = phases(count, Phase(104, 129, 96.0, 0.15), Phase(139, 170, -96.0, -0.1))
    axis = rotation.rotate(hold.wrist.wxyz, np.array([0.8, 0.0, 0.0])) + np.array([0.5, 0.0, 0.0])
    rest = -float(spatula().vertices[:, 2].min()) + TABLE_HEIGHT + _BOARD_HEIGHT
    over = rotation.from_axis_angle(axis / np.linalg.norm(axis), np.radians(flip))
    wxyz = rotation.multiply(aimed(yaw, pitch, roll), over)
    start = aimed(*(np.array([a]) for a in (_HEADING, 0.0, 0.0)))[0]
    grip = np.array([*_PLACE, rest]) + rotation.rotate(start, hold.pivot)
    place = grip + columns(
        phases(
            count, Phase(27, 62, -0.06, 0.1), Phase(64, 92, -0.045), Phase(98, 128, 0.035),
            Phase(132, 166, -0.01), Phase(172, 204, 0.08),
        ) + free * variation(rng, count, 0.006),
        phases(
            count, Phase(26, 58, 0.05, 0.1), Phase(66, 94, 0.04), Phase(100, 130, -0.04),
            Phase(174, 204, -0.05),
        ) + free * variation(rng, count, 0.006),
        phases(
            count, Phase(22, 46, 0.125, 0.15), Phase(54, 75, -0.05), Phase(86, 110, 0.06),
            Phase(108, 128, 0.03), Phase(142, 172, -0.07), Phase(170, 184, 0.02),
            Phase(186, 210, -0.115, 0.1),
        ) + high * variation(rng, count, 0.005),
    )  # fmt: skip
    body = Pose.normalized(place - rotation.rotate(wxyz, hold.pivot), wxyz)
    loose = window(count, 23, 209, 12)
    relative = columns(
        phases(
            count, Phase(24, 44, 3.0), Phase(102, 124, -21.0, 0.2), Phase(128, 140, 4.0),
            Phase(142, 170, 12.0), Phase(186, 206, 4.0), start=7.0,
        ) + loose * variation(rng, count, 1.5),
        phases(count, Phase(30, 54, 5.0), Phase(84, 106, -9.0), Phase(140, 170, 6.0))
        + loose * variation(rng, count, 2.0),
        phases(count, Phase(28, 50, -5.0), Phase(64, 92, 8.0), Phase(150, 190, -5.0))
        + loose * variation(rng, count, 2.0),
    )  # fmt: skip
    wrist = reached(
        held(body, hold, relative),
        Reach(-3, 16, back=0.16, out=0.05, up=0.05, side=0.03, turn=(0.0, -8.0, 0.0)),
        Reach(215, 232, back=0.12, out=0.06, up=0.06, side=0.02),
    )
    return tracks_of({"right": wrist, "spatula": body})
