"""Where scenes take place: a table, and a person who sits or stands before it.

Z is up. The person is at the table's near edge, towards -y, and looks along +y, so that +x is to
the right. Right hands come from the right shoulder, left hands from the left one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox
from handwright.core.track import Track
from handwright.geometry.distance.environment import table
from handwright.io.goals.file import make_body
from handwright.io.goals.schema import BodyEntry
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.scenes.catalogue import TRACKS
from tools.scenes.curves import columns, frame_times, ramp, turn_about, turns, variation
from tools.scenes.task import Hold

TABLE_HEIGHT = 0.75
"""m."""
SHOULDERS = {
    "right": np.array([0.19, -0.42, TABLE_HEIGHT + 0.36]),
    "left": np.array([-0.19, -0.42, TABLE_HEIGHT + 0.36]),
}
"""Of the person at the table, m."""


def work_table(friction: float = 0.6) -> EnvironmentBox:
    """The table of every scene: its near edge is 25 cm before the origin."""
    return table(TABLE_HEIGHT, size=(1.4, 0.8), center=(0.0, 0.15), friction=friction)


def prop(name: str, part: BodyEntry) -> RigidBody:
    """The body that the problem file of a scene describes."""
    return make_body(name, part, TRACKS)


def standing(body: RigidBody) -> float:
    """Height of the origin of a body that stands upright on the table, m."""
    return TABLE_HEIGHT - float(body.vertices[:, 2].min())


@dataclass(frozen=True, slots=True)
class Reach:
    """How a wrist comes to its place, or leaves it."""

    start: float
    """Frame."""
    end: float
    """Frame."""
    back: float = 0.15
    """Away along the hand, against the fingers, m."""
    out: float = 0.05
    """Away out of the back of the hand, m."""
    up: float = 0.05
    """Away upwards in the world, m."""
    side: float = 0.0
    """Away to the right in the world, m."""
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Turn about the hand's own axes when away, degrees."""


def reached(place: Pose, arrive: Reach | None = None, leave: Reach | None = None) -> Pose:
    """A wrist that arrives at a moving place and leaves it again, in an arc.

    Args:
        place: (T,) poses of the wrist while it is there.
        arrive: How it comes; it is there from the first frame if None.
        leave: How it goes; it stays to the last frame if None.
    """
    count = len(place)
    away = np.zeros((3, count))
    turn, lift, side = np.zeros((count, 3)), np.zeros(count), np.zeros(count)
    for reach, is_arrival in ((arrive, True), (leave, False)):
        if reach is None:
            continue
        # The palm comes up sideways a little later than the hand comes forward, and leaves first.
        late = 0.25 if is_arrival else -0.25
        forward = ramp(count, reach.start, reach.end, 0.15)
        sideways = ramp(count, reach.start, reach.end, -late)
        if is_arrival:
            forward, sideways = 1.0 - forward, 1.0 - sideways
        away += np.array([-reach.back * forward, 0.0 * forward, reach.out * sideways])
        lift += reach.up * forward
        side += reach.side * forward
        turn += forward[:, None] * np.array(reach.turn)
    offset = rotation.rotate(place.wxyz, away.T) + columns(side, np.zeros(count), lift)
    return Pose(place.position + offset, rotation.multiply(place.wxyz, turns(turn)))


def held(
    body: Pose,
    hold: Hold,
    rotvec: Float[np.ndarray, "T 3"],
    shift: Float[np.ndarray, "T 3"] | None = None,
) -> Pose:
    """(T,) poses of a wrist that holds a body and turns relative to it about the grip.

    Args:
        body: (T,) poses.
        hold: Where the wrist is in the middle of the relative motion.
        rotvec: Turn relative to that, in the body's frame, degrees.
        shift: Likewise, m.
    """
    return body @ turn_about(hold.pivot, rotvec, shift) @ hold.wrist


def waiting_hand(
    rng: np.random.Generator,
    count: int,
    place: tuple[float, float, float],
    wxyz: Float[np.ndarray, "4"],
) -> Pose:
    """(T,) poses of a wrist that waits over the table and drifts a little.

    Args:
        rng: For the drift.
        count: Number of frames.
        place: Along x and y, and above the table, m.
        wxyz: How it is turned.
    """
    drift = columns(*(variation(rng, count, 0.006) for _ in range(3)))
    turn = turns(columns(*(variation(rng, count, 3.0) for _ in range(3))))
    over = np.array([place[0], place[1], TABLE_HEIGHT + place[2]])
    return Pose.normalized(over + drift, rotation.multiply(turn, wxyz))


def tracks_of(poses: Mapping[str, Pose]) -> dict[str, Track]:
    """Tracks at the frame rate of the scenes."""
    return {name: Track(frame_times(len(pose)), pose) for name, pose in poses.items()}


def heading(wxyz: Float[np.ndarray, "4"]) -> float:
    """Direction in which a hand's fingers point, seen from above, degrees from +x to +y."""
    x = rotation.rotate(wxyz, np.array([1.0, 0.0, 0.0]))
    return float(np.degrees(np.arctan2(x[1], x[0])))
