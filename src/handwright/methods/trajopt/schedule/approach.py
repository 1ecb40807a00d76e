"""First guesses of the wrist's way to the body, around what stands between them.

From a static start hands are drawn straight to the body. A wall in between holds them back for
good: no small change of a motion through a wall leads over it. So where the straight way is
blocked, the first guess goes around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.model.model import Room
from handwright.methods.trajopt.model.transcribe import Built, HandPart, make_room
from handwright.methods.trajopt.solver.system import pose_sample
from handwright.methods.trajopt.terms.collision import depth_in_surroundings

# What the hand may sink in on its way for it to count as free, m: costs push it out of that.
_SHALLOW = 5e-3
_NUM_PLACES = 16
# Ways around are tried in steps of this size up to the last, m, in so many directions.
_STEP, _MOST, _NUM_DIRECTIONS = 0.03, 0.45, 8
# Middle of the fingers' pads over the body, m.
_ABOVE = 0.03


class _Way(NamedTuple):
    """From the start by ``shift``, on an arc by ``around``; both in the world, m."""

    shift: Float[np.ndarray, "3"]
    around: Float[np.ndarray, "3"]

    def at(self, s: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Places after shares of the way."""
        ease = s * s * (3.0 - 2.0 * s)
        return np.outer(ease, self.shift) + np.outer(np.sin(np.pi * s), self.around)


def add_approach(built: Built, rng: np.random.Generator, keys: Float[np.ndarray, "K n"]) -> bool:
    """Moves wrists whose straight way to the body is blocked around what blocks it.

    Args:
        built: The problem; a motion that is not cyclic.
        rng: For the direction.
        keys: A static start, changed in place.

    Returns:
        Whether a way was blocked and one around it was found.
    """
    if not len(built.model.env.frictions):
        return False
    room = make_room(built.model)
    depth = _Depth(built, room)
    rates = built.model.layout.first_rate
    arrival = min(built.first_hold, len(keys) - 1)
    share = np.minimum(np.arange(len(keys)) / max(arrival, 1), 1.0)
    found = False
    for number, hand in enumerate(built.hands):
        if not hand.is_free:
            continue
        way = _way_around(depth, hand, _shift(built, room, number), rng)
        if way is None:
            continue
        turn = rotation.to_matrix(hand.root.wxyz)
        places = way.at(share) @ turn
        first = hand.first_coordinate
        keys[:, first : first + 3] += places
        keys[1:, rates + first : rates + first + 3] += (
            np.gradient(places, axis=0)[1:] / built.model.phase_time
        )
        found = True
    return found


class _Depth:
    """How deep hands are in the surroundings when one is shifted from its start."""

    def __init__(self, built: Built, room: Room) -> None:
        self._built, self._room = built, room
        self._model, self._bench = Packed(built.model), Packed(room)
        self._room.z[: len(built.start)] = built.start
        pose_sample(self._model, self._bench, 0.0)

    def __call__(self, hand: HandPart, shift: Float[np.ndarray, "3"]) -> float:
        first, z = hand.first_coordinate, self._room.z
        z[first : first + 3] = rotation.to_matrix(hand.root.wxyz).T @ shift
        pose_sample(self._model, self._bench, 0.0)
        z[first : first + 3] = 0.0
        return float(depth_in_surroundings(self._model, self._bench))

    def along(self, hand: HandPart, way: _Way) -> float:
        """The deepest of a way, but for its very start."""
        places = way.at(np.linspace(0.0, 1.0, _NUM_PLACES + 1)[1:])
        return max(self(hand, place) for place in places)


def _shift(built: Built, room: Room, number: int) -> Float[np.ndarray, "3"]:
    """From the middle of a hand's pads, as it starts, to a place over the body, m."""
    m = built.model
    own = np.flatnonzero((built.contact_hand == number) & (m.contacts.pad_joint >= 0))
    pads = [
        room.place[m.contacts.pad_joint[j]] + room.turn[m.contacts.pad_joint[j]] @ m.contacts.pad[j]
        for j in own
    ]
    body = built.start[m.layout.body_position]
    up = np.array([0.0, 0.0, m.body.reach + _ABOVE])
    return body + up - np.mean(pads, axis=0)


def _way_around(
    depth: _Depth, hand: HandPart, shift: Float[np.ndarray, "3"], rng: np.random.Generator
) -> _Way | None:
    """The least arc that is free; None where the straight way is, or no arc."""
    up = np.array([0.0, 0.0, 1.0])
    sizes = np.arange(_STEP, _MOST, _STEP).tolist()
    if depth.along(hand, _Way(shift, 0.0 * up)) < _SHALLOW:
        return None
    lift = next((s for s in (0.0, *sizes) if depth(hand, shift + s * up) < _SHALLOW), None)
    if lift is None:
        return None
    for _ in range(_NUM_DIRECTIONS):
        direction = rng.normal(size=3) * [0.5, 0.5, 1.0]
        direction[2] = abs(direction[2])
        direction /= np.linalg.norm(direction)
        for size in sizes:
            way = _Way(shift + lift * up, size * direction)
            if depth.along(hand, way) < _SHALLOW:
                return way
    return None
