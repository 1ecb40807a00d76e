"""When hands must act on a body, and which hands can.

A body needs hands in the frames in which its surroundings alone cannot give the wrench that its
track asks for. Frames that need hands, with short rests between them, are one interval.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.math.pose import Pose
from handwright.mechanics import force_contacts, least_forces, required_wrench
from handwright.methods.sampling.setup.ground_contacts import ground_contacts

# Residual up to which the surroundings are said to carry a body, in weights.
_CARRIED = 3e-3
# Rests shorter than this, s, do not end an interval.
_SHORT_REST = 0.35
# A hand whose root stays farther than this from the body's surface, m, takes no part.
_ARM_LENGTH = 0.24


class CarryInterval(NamedTuple):
    """Frames in which hands must act on one body."""

    body: str
    hands: tuple[str, ...]
    start: int
    """First frame that needs hands."""
    stop: int
    """One after the last frame that needs hands."""


def needs_hands(
    problem: Problem, body: RigidBody, pose: Pose, *, cutoff_hz: float | None
) -> np.ndarray:
    """(T,) whether the surroundings alone cannot move a body as its track shows."""
    times = problem.times
    wanted = required_wrench(Track(times, pose), body, gravity=problem.gravity, cutoff_hz=cutoff_hz)
    ground = ground_contacts(problem, body, pose, times)
    weight = body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0)
    gyration = body.radius_of_gyration
    needed = np.zeros(len(times), dtype=bool)
    for t in range(len(times)):
        rows = slice(ground.first[t], ground.first[t + 1])
        here = pose[t]
        local = np.concatenate(
            [here.inverse().rotate(part[t][None])[0] for part in (wanted.force, wanted.moment)]
        )
        if rows.start == rows.stop:
            rest = local
        else:
            contacts = force_contacts(
                ground.point[rows],
                ground.normal[rows],
                center=body.center,
                friction=ground.friction[rows],
                drag=ground.drag[rows],
            )
            found = least_forces(contacts, local, force_scale=weight, length_scale=gyration)
            rest = found.residual
        missing = max(np.linalg.norm(rest[:3]), np.linalg.norm(rest[3:]) / gyration)
        needed[t] = missing > _CARRIED * weight
    return needed


@lru_cache(maxsize=8)
def hands_needed(problem: Problem, name: str, *, cutoff_hz: float | None) -> np.ndarray:
    """``needs_hands`` of a body along its track; cached, since it is asked for more than once."""
    pose = problem.track(name).at(problem.times)
    needed = needs_hands(problem, problem.bodies[name], pose, cutoff_hz=cutoff_hz)
    needed.setflags(write=False)
    return needed


def find_carry_intervals(problem: Problem, *, cutoff_hz: float | None) -> list[CarryInterval]:
    """All holdings of a problem, in the order of their first frames."""
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
) -> tuple[str, ...]:
    """Names of the hands that come near a body from frame ``start`` to before ``stop``."""
    near = []
    for name in problem.hands:
        roots = problem.track(name).at(problem.times)[start:stop]
        local = (pose[start:stop].inverse() @ roots).position
        nearest = min(
            float(np.linalg.norm(body.vertices - position, axis=1).min()) for position in local
        )
        size = 0.5 * float(np.linalg.norm(np.ptp(body.vertices, axis=0)))
        if nearest < _ARM_LENGTH + 0.5 * size:
            near.append(name)
    return tuple(near)
