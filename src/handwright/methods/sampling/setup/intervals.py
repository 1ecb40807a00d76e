"""When hands must act on a body, which hands can, and where the surroundings carry it instead.

A body needs hands in the frames in which its surroundings alone cannot give the wrench that its
track asks for. Frames that need hands, with short rests between them, are one interval.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.contact.sliding import relative_velocity, standing_frames
from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.support import contacts_along
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import force_contacts, required_wrench
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.methods.sampling.setup.limits import GROUND_GAP, TOLERANCES

# Residual up to which the surroundings are said to carry a body, in weights.
_CARRIED = 3e-3
# Rests shorter than this, s, do not end an interval.
_SHORT_REST = 0.35
# A hand whose root stays farther than this from the body's surface, m, takes no part.
_ARM_LENGTH = 0.24


class CarryInterval(NamedTuple):
    """Frames in which hands must act on one body."""

    body: str
    hands: dict[str, HandModel]
    """Hands that can act on it."""
    start: int
    """First frame that needs hands."""
    stop: int
    """One after the last frame that needs hands."""


class GroundContacts(NamedTuple):
    """Contacts in the body's frame; those of frame t are rows ``first[t]`` to ``first[t + 1]``."""

    first: Int[np.ndarray, " T_plus_1"]
    point: Float[np.ndarray, "E 3"]
    """m."""
    normal: Float[np.ndarray, "E 3"]
    """Into the body, of unit length."""
    friction: Float[np.ndarray, " E"]
    drag: Float[np.ndarray, "E 3"]
    """Unit direction of friction on the body where it slides, else zero."""
    surface: Int[np.ndarray, " E"]
    """Number of the surface in the problem's environment."""


def ground_contacts(
    problem: Problem, body: RigidBody, pose: Pose, times: Float[np.ndarray, " T"]
) -> GroundContacts:
    """Finds the contacts of a body, posed in the world, with the surroundings in every frame."""
    along = [
        contacts_along(surface, body, pose, within=GROUND_GAP) for surface in problem.environment
    ]
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    rows: list[tuple[np.ndarray, ...]] = [(none, nothing, nothing, np.zeros(0), none)]
    for t in range(len(times)):
        for number, surface in enumerate(problem.environment):
            found = along[number][t]
            near = found.gap <= GROUND_GAP
            ones = np.ones(int(near.sum()), dtype=np.int64)
            rows.append(
                (t * ones, found.point[near], found.normal[near], surface.friction * ones,
                 number * ones)
            )  # fmt: skip
    frame, point, normal, friction, which = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    first = np.searchsorted(frame, np.arange(len(times) + 1))
    still = standing_frames(len(times))
    slip = relative_velocity(times, *still, pose, frame, np.zeros_like(frame), point)
    slip -= np.einsum("ni,ni->n", slip, normal)[:, None] * normal
    speed = np.linalg.norm(slip, axis=1, keepdims=True)
    # The surroundings drag the body along with them, which is against its motion.
    drag = np.where(speed > TOLERANCES.static_speed, slip / np.maximum(speed, 1e-12), 0.0)
    back = pose[frame].inverse()
    point, normal, drag = (
        np.ascontiguousarray(part)
        for part in (back.apply(point), back.rotate(normal), back.rotate(drag))
    )
    return GroundContacts(first, point, normal, friction, drag, which)


def weight_of(problem: Problem, body: RigidBody) -> float:
    """Weight of a body, N; without gravity, the force that accelerates it by 1 m/s^2."""
    return float(body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0))


def wrench_in_body_frame(
    problem: Problem, body: RigidBody, track: Track, cutoff_hz: float | None
) -> Float[np.ndarray, "T 6"]:
    """Force and moment that contacts must give in every frame, N and N m."""
    required = required_wrench(track, body, gravity=problem.gravity, cutoff_hz=cutoff_hz)
    body_rotation = rotation.to_matrix(track.pose.wxyz)
    parts = [
        np.einsum("tji,tj->ti", body_rotation, part) for part in (required.force, required.moment)
    ]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


@lru_cache(maxsize=8)
def hands_needed(problem: Problem, name: str, *, cutoff_hz: float | None) -> Bool[np.ndarray, " T"]:
    """Whether the surroundings alone cannot move a body as its track shows.

    This is cached, since it is asked for more than once.
    """
    body, times = problem.bodies[name], problem.times
    track = Track(times, problem.track(name).at(times))
    ground = ground_contacts(problem, body, track.pose, times)
    weight, gyration = weight_of(problem, body), body.radius_of_gyration
    left = forces_of_frames(
        force_contacts(
            ground.point,
            ground.normal,
            center=body.center,
            friction=ground.friction,
            drag=ground.drag,
        ),
        ground.first,
        wrench_in_body_frame(problem, body, track, cutoff_hz),
        force_scale=weight,
        length_scale=gyration,
    ).residual
    force, moment = np.linalg.norm(left[:, :3], axis=1), np.linalg.norm(left[:, 3:], axis=1)
    needed = np.maximum(force, moment / gyration) > _CARRIED * weight
    needed.setflags(write=False)
    return needed


def find_carry_intervals(problem: Problem, *, cutoff_hz: float | None) -> list[CarryInterval]:
    """All intervals of a problem, sorted by their first frames."""
    intervals = []
    step = float(np.median(np.diff(problem.times)))
    for name, body in problem.bodies.items():
        pose = problem.track(name).at(problem.times)
        frames = np.flatnonzero(hands_needed(problem, name, cutoff_hz=cutoff_hz))
        if frames.size == 0:
            continue
        breaks = np.flatnonzero(np.diff(frames) > max(1, round(_SHORT_REST / step)))
        for part in np.split(frames, breaks + 1):
            start, stop = int(part[0]), int(part[-1]) + 1
            hands = _hands_near(problem, body, pose, start, stop)
            intervals.append(CarryInterval(name, hands, start, stop))
    return sorted(intervals, key=lambda interval: interval.start)


def _hands_near(
    problem: Problem, body: RigidBody, pose: Pose, start: int, stop: int
) -> dict[str, HandModel]:
    """The hands that come near a body from frame ``start`` to before ``stop``."""
    near = {}
    for name, model in problem.hands.items():
        roots = problem.track(name).at(problem.times)[start:stop]
        local = (pose[start:stop].inverse() @ roots).position
        nearest = min(
            float(np.linalg.norm(body.vertices - position, axis=1).min()) for position in local
        )
        size = 0.5 * float(np.linalg.norm(np.ptp(body.vertices, axis=0)))
        if nearest < _ARM_LENGTH + 0.5 * size:
            near[name] = model
    return near
