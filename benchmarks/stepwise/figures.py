"""What the benchmark of stepping measures on one scene."""

from __future__ import annotations

import time
from dataclasses import replace
from math import degrees
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from handwright.core.clip import Clip
from handwright.core.goal import lasting_goals
from handwright.core.problem import Problem
from handwright.evidence import certify
from handwright.evidence.metrics.goals import worst_goal_error
from handwright.methods import Session
from handwright.methods.stepwise.reaction import reaction
from handwright.physics.replay.play import replay

FRAME = 1.0 / 30.0
"""A frame, s."""
HOLD = 10.0
"""How long the end is held, s."""
NUM_PASSES = 3
"""How often a motion is stepped through for its speed."""
# Bodies that end farther from their goals than this were dropped, mm: nothing is held then.
_LOST = 20.0


def measure_scene(problem: Problem, *, seed: int) -> dict[str, Any]:
    """Figures of one scene: the motion, a hold after it, and what a simulated hand makes of it.

    Args:
        problem: With grips.
        seed: Of the grasps.
    """
    with threadpool_limits(limits=1):
        session, seconds = timed(problem, seed)
        clip, tally = session.clip("stepwise"), session.tally
        frames = (problem.times[-1] - problem.times[0]) / FRAME
        goal_mm, goal_deg = end_error(clip)
        row: dict[str, Any] = {
            "hands": len(problem.hands),
            "fps": frames / seconds if tally.infeasible == 0 else None,
            "contacts_max": tally.contacts_max,
            "infeasible_steps": tally.infeasible,
            "goal_error": goal_mm,
            "goal_error_deg": goal_deg,
            "energy_gain_J": tally.added_energy,
            "drift_um_s": None if goal_mm > _LOST else hold_drift(session),
        }
        certificate = certify(clip)
        row |= {"certified": certificate.passed, "verdict": certificate.verdict}
        if problem.pushes:
            row |= _pushed(problem, clip, seed)
    return row


def timed(problem: Problem, seed: int) -> tuple[Session, float]:
    """A session at the end of a problem, and the least processor time for its frames, s.

    It is the time of the one thread that steps, whatever else the machine does. Neighbours that
    share its caches still slow a thread down, so every frame counts with the least of a few passes,
    which do the same to the last bit.

    Args:
        problem: With grips.
        seed: Of the grasps.
    """
    session = Session(problem, seed=seed)
    steps = np.diff(problem.times).tolist()
    least = np.full(len(steps), np.inf)
    for _ in range(NUM_PASSES):
        session.reset()
        for n, step in enumerate(steps):
            begin = time.thread_time()
            session.step(step)
            least[n] = min(least[n], time.thread_time() - begin)
    return session, float(least.sum())


def stepped(problem: Problem, seed: int) -> Session:
    """A session at the end of a problem."""
    session = Session(problem, seed=seed)
    for step in np.diff(problem.times):
        session.step(float(step))
    return session


def end_error(clip: Clip) -> tuple[float, float]:
    """Largest distance, mm, and angle, degrees, from any goal at its end."""
    ends = tuple(goal.at_end() for goal in clip.problem.goals)
    return worst_goal_error(replace(clip, problem=replace(clip.problem, goals=ends)))


def hold_drift(session: Session) -> float:
    """Speed, um/s, with which the worst body drifts while its last goals stay; steps it on."""
    end = session.time + HOLD
    goals = [replace(goal, end=end) for goal in lasting_goals(session.problem.goals)]
    before = session.moments[-1]
    for _ in range(round(HOLD / FRAME)):
        session.step(FRAME, goals=goals)
    after = session.moments[-1]
    ways = [
        np.linalg.norm(after.bodies[name].apply(body.center) - pose.apply(body.center))
        for name, body in session.problem.bodies.items()
        for pose in (before.bodies[name],)
    ]
    return float(1e6 * max(ways) / HOLD)


def _pushed(problem: Problem, clip: Clip, seed: int) -> dict[str, Any]:
    """Ours and a simulated hand with stiff servos, under the same pushes."""
    calm = stepped(replace(problem, pushes=()), seed).clip("stepwise")
    end = max(push.end for push in problem.pushes)
    found = [reaction(clip, calm, push.body, end) for push in problem.pushes]
    peer = replay(calm, hold=HOLD, pushes=problem.pushes)
    return {
        "displaced_mm": 1e3 * max(one.displacement for one in found),
        "tilted_deg": degrees(max(one.tilt for one in found)),
        "back_after_s": None
        if any(one.back_after is None for one in found)
        else max(one.back_after or 0.0 for one in found),
        "dropped": any(one.is_dropped for one in found),
        "peer_displaced_mm": 1e3 * max(body.position_error for body in peer.bodies.values()),
        "peer_tilted_deg": degrees(max(body.turn_error for body in peer.bodies.values())),
        "peer_drift_um_s": 1e6 * max(body.drift for body in peer.bodies.values()) / HOLD,
        "peer_dropped": peer.dropped,
    }
