"""The last second of a motion that is still going on."""

from __future__ import annotations

from typing import Any

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.kernels.packed import Packed
from handwright.math.one_turn import matrix_of
from handwright.math.pose import Pose
from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.joints import sensed_hand
from handwright.methods.neural.sensing.motion import Motion, fill_spin
from handwright.methods.neural.sensing.trajectory import HALF_WINDOW

NOW = np.array([HALF_WINDOW])
"""The frame of a ``LiveView`` that can be measured: half a second before the newest."""


class LiveView:
    """A hand and the object that it senses, at 60 frames a second, half a second behind.

    It takes the place of a ``HandView``: ``finger_features(view, NOW, q[None])`` and
    ``fixed_features(view, NOW)`` are what a view of the whole motion gives for that frame. Before
    its first frame the motion stood still, so the first frame can be measured after 30 more.
    """

    def __init__(self, model: HandModel, body: RigidBody | SensedBody) -> None:
        """A window with nothing in it.

        Args:
            model: The hand.
            body: The object that it senses.
        """
        self.model = model
        count = 2 * HALF_WINDOW + 1
        turns, places = np.zeros((2, count, 3, 3)), np.zeros((4, count, 3))
        self._room = Motion(turns[0], places[0], turns[1], places[1], places[2], places[3], False)
        self._is_new = True
        self.packed: tuple[Any, ...] = (Packed(sensed_hand(model)), None, None)
        self.sense(body)
        self._pack()

    def __len__(self) -> int:
        return len(self._room.spin)

    def sense(self, body: RigidBody | SensedBody) -> None:
        """Takes another object in the place of the one that is sensed, for all of the window.

        Args:
            body: The new object; its grids are made now unless they are in the cache.
        """
        sensed = body if isinstance(body, SensedBody) else sensed_body(body)
        self.packed = (self.packed[0], Packed(sensed), self.packed[2])

    def advance(self, wrist: Pose, object_pose: Pose, other_wrist: Pose | None = None) -> None:
        """Adds the newest frame, and forgets the oldest.

        Args:
            wrist: In the world.
            object_pose: In the world.
            other_wrist: Of the other hand, in the world; None if there is no other hand.
        """
        room = self._room
        newest = [matrix_of(wrist.wxyz), wrist.position]
        newest += [matrix_of(object_pose.wxyz), object_pose.position]
        for rows, row in zip(room[:4], newest, strict=True):
            _append(rows, row, self._is_new)
        self._is_new = False
        if other_wrist is not None:
            _append(room.other_position, other_wrist.position, not room.has_other)
        if room.has_other != (other_wrist is not None):
            self._room = room._replace(has_other=other_wrist is not None)
            self._pack()
        fill_spin(room.object_rotation, room.spin)

    def _pack(self) -> None:
        # The kernels are compiled for arrays that nobody writes to, as views of a whole motion.
        *tracks, has_other = self._room
        motion = Motion._make([*(_unwritable(rows.view()) for rows in tracks), has_other])
        self.packed = (self.packed[0], self.packed[1], Packed(motion))


def _unwritable(rows: np.ndarray) -> np.ndarray:
    rows.setflags(write=False)
    return rows


def _append(rows: np.ndarray, row: np.ndarray, is_first: bool) -> None:
    """Moves rows up by one and writes the last; all of them if it is the first."""
    if is_first:
        rows[:] = row
    else:
        rows[:-1] = rows[1:]
        rows[-1] = row
