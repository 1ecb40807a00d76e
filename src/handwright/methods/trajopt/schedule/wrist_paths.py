"""First guesses of wrists: their path to the body, and how they then move with it.

From a static start hands are drawn straight to the body. A wall in between holds them back for
good, because no small change of a motion through a wall leads over it. So where the straight path
is blocked, the first guess goes around.

Hands that take hold of a body with wrists that have been rotated as its goals rotate it can rotate
with it, whereas hands from a static start often grip it in ways from which they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.model.hands import TranscribedHand
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import SampleWorkspace, make_workspace
from handwright.methods.trajopt.solver.system import pose_sample
from handwright.methods.trajopt.terms.collision import depth_in_environment

# Depth up to which a hand on its path counts as free, m: costs push it out of that.
_SHALLOW = 5e-3
_NUM_POINTS = 16
"""Points of a path at which the depth is checked."""
# Detours are tried in steps of this size up to the last, m, in so many directions.
_STEP, _MOST, _NUM_DIRECTIONS = 0.03, 0.45, 8
# Height of the middle of the fingers' pads over the body at the end of the path, m.
_ABOVE = 0.03


class _WristPath(NamedTuple):
    """A path from the start by ``shift`` along an arc of height ``detour``; in the world, m."""

    shift: Float[np.ndarray, "3"]
    detour: Float[np.ndarray, "3"]

    def at(self, s: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Positions relative to the start after shares of the path."""
        ease = s * s * (3.0 - 2.0 * s)
        return np.outer(ease, self.shift) + np.outer(np.sin(np.pi * s), self.detour)


def add_approach(
    transcription: Transcription, rng: np.random.Generator, keys: Float[np.ndarray, "K n"]
) -> bool:
    """Moves wrists whose straight path to the body is blocked around what blocks it.

    The keys are those of a static start and are changed in place. Returns whether a path was
    blocked and one around the obstacle was found.
    """
    model = transcription.model
    if not len(model.env.frictions):
        return False
    work = make_workspace(model)
    depth = _Depth(transcription, work)
    rates = model.layout.first_rate
    arrival = min(transcription.first_hold, len(keys) - 1)
    share = np.minimum(np.arange(len(keys)) / max(arrival, 1), 1.0)
    found = False
    for number, hand in enumerate(transcription.hands):
        if not hand.is_free:
            continue
        path = _find_detour(depth, hand, _shift_to_body(transcription, work, number), rng)
        if path is None:
            continue
        positions = path.at(share) @ rotation.to_matrix(hand.root.wxyz)
        own = hand.wrist_position
        keys[:, own] += positions
        velocity = np.gradient(positions, axis=0)[1:] / model.phase_time
        keys[1:, rates + own.start : rates + own.stop] += velocity
        found = True
    return found


class _Depth:
    """How deep hands are in the environment when one is shifted from its start."""

    def __init__(self, transcription: Transcription, work: SampleWorkspace) -> None:
        self._state = work.z
        self._model, self._work = Packed(transcription.model), Packed(work)
        self._state[: len(transcription.start)] = transcription.start
        pose_sample(self._model, self._work, 0.0)

    def __call__(self, hand: TranscribedHand, shift: Float[np.ndarray, "3"]) -> float:
        own = hand.wrist_position
        self._state[own] = rotation.to_matrix(hand.root.wxyz).T @ shift
        pose_sample(self._model, self._work, 0.0)
        self._state[own] = 0.0
        return float(depth_in_environment(self._model, self._work))

    def along(self, hand: TranscribedHand, path: _WristPath) -> float:
        """The largest depth along a path, except at its very start."""
        shifts = path.at(np.linspace(0.0, 1.0, _NUM_POINTS + 1)[1:])
        return max(self(hand, shift) for shift in shifts)


def _shift_to_body(
    transcription: Transcription, work: SampleWorkspace, number: int
) -> Float[np.ndarray, "3"]:
    """Vector from the middle of a hand's pads at the start to a point over the body, m."""
    m = transcription.model
    contacts = m.contacts
    own = np.flatnonzero((transcription.contact_hand == number) & (contacts.pad_joint >= 0))
    pads = [
        work.position[contacts.pad_joint[j]]
        + work.rotation[contacts.pad_joint[j]] @ contacts.pad[j]
        for j in own
    ]
    body = transcription.start[m.layout.body_position]
    up = np.array([0.0, 0.0, m.body.reach + _ABOVE])
    return body + up - np.mean(pads, axis=0)


def _find_detour(
    depth: _Depth,
    hand: TranscribedHand,
    shift: Float[np.ndarray, "3"],
    rng: np.random.Generator,
) -> _WristPath | None:
    """The lowest arc that is free; None where the straight path is free, or no arc is."""
    up = np.array([0.0, 0.0, 1.0])
    sizes = np.arange(_STEP, _MOST, _STEP).tolist()
    if depth.along(hand, _WristPath(shift, 0.0 * up)) < _SHALLOW:
        return None
    lift = next((s for s in (0.0, *sizes) if depth(hand, shift + s * up) < _SHALLOW), None)
    if lift is None:
        return None
    for _ in range(_NUM_DIRECTIONS):
        direction = rng.normal(size=3) * [0.5, 0.5, 1.0]
        direction[2] = abs(direction[2])
        direction /= np.linalg.norm(direction)
        for size in sizes:
            path = _WristPath(shift + lift * up, size * direction)
            if depth.along(hand, path) < _SHALLOW:
                return path
    return None


def wrists_following_body(
    problem: Problem,
    hands: Sequence[TranscribedHand],
    body: str,
    times: Float[np.ndarray, " K"],
    begin: float,
) -> Float[np.ndarray, "H K 6"]:
    """Positions (m) and hinge angles (rad) of each wrist at some times; zero for fixed bases.

    The body begins to move at the time ``begin``, s.
    """
    center = problem.start[body].apply(problem.bodies[body].center)
    turned = _body_rotations(problem, body, times, begin)
    wrists = np.zeros((len(hands), len(times), 6))
    for h, hand in enumerate(hands):
        if not hand.is_free:
            continue
        base = hand.root.wxyz
        arm = hand.root.position - center
        moved = rotation.rotate(turned, arm) - arm
        wrists[h, :, :3] = rotation.rotate(rotation.conjugate(base), moved)
        own = rotation.multiply(rotation.multiply(rotation.conjugate(base), turned), base)
        wrists[h, :, 3:] = wrist_angles(rotation.to_matrix(own))
    return wrists


def wrist_angles(matrix: Float[np.ndarray, "K 3 3"]) -> Float[np.ndarray, "K 3"]:
    """Hinge angles of the wrist for a rotation, rad: about y, then z, then x."""
    second = np.arcsin(np.clip(matrix[:, 1, 0], -1.0, 1.0))
    first = np.arctan2(-matrix[:, 2, 0], matrix[:, 0, 0])
    third = np.arctan2(-matrix[:, 1, 2], matrix[:, 1, 1])
    return np.stack([first, second, third], axis=1)


def _body_rotations(
    problem: Problem, body: str, times: Float[np.ndarray, " K"], begin: float
) -> Float[np.ndarray, "K 4"]:
    """Rotation of the body from its start to its goals, at a constant rate between them."""
    start = problem.start[body].wxyz
    at, rotated = [begin], [np.zeros(3)]
    for goal in sorted(problem.goals, key=lambda one: one.start):
        is_whole = goal.feature.owner == body and goal.relative_to is None and goal.spin is None
        if is_whole and goal.wxyz is not None and goal.start > at[-1]:
            at.append(goal.start)
            rotated.append(rotation.log(rotation.multiply(goal.wxyz, rotation.conjugate(start))))
    vectors = np.stack([np.interp(times, at, np.array(rotated)[:, i]) for i in range(3)], axis=1)
    return rotation.exp(vectors)
