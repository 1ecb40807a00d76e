"""How far a motion is from the goals and touch spans of its problem, from the clip alone.

A goal over a span of time is held against every frame within it and against both its ends; a goal
of a moment against that moment, between frames if need be. The largest error counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.goal import Feature, Goal
from handwright.core.tolerances import GoalTolerances
from handwright.core.track import Track
from handwright.evidence.contacts.probes import capsule_gaps, exact_distance
from handwright.kinematics.fk import frame_poses, link_poses, posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose

# Capsules that are deeper in a body than this touch it, m; the rest is rounding of shapes.
_TOUCHING_DEPTH = 5e-4
_NO_TIME = 1e-9


class GoalError(NamedTuple):
    """How far a motion is from one goal, at the worst time."""

    number: int
    """Of the goal in its problem."""
    position_mm: float
    """NaN if the goal asks for no place."""
    angle_deg: float
    """NaN if it asks for no orientation."""
    speed_m_s: float
    """NaN if it asks for no velocity."""
    spin_deg_s: float
    """NaN if it asks for no spin."""


def goal_errors(clip: Clip) -> tuple[GoalError, ...]:
    """Errors of all goals, in their order."""
    return tuple(_goal_error(clip, number, goal) for number, goal in enumerate(clip.problem.goals))


def worst_goal_error(clip: Clip) -> tuple[float, float]:
    """Largest distance, mm, and angle, degrees, of any goal; 0 where none asks for it."""
    errors = goal_errors(clip)
    position = max((e.position_mm for e in errors if not np.isnan(e.position_mm)), default=0.0)
    angle = max((e.angle_deg for e in errors if not np.isnan(e.angle_deg)), default=0.0)
    return position, angle


def worst_goal_rate(clip: Clip) -> tuple[float, float]:
    """Largest difference from any wanted velocity, m/s, and spin, degrees/s; 0 where none is."""
    errors = goal_errors(clip)
    speed = max((e.speed_m_s for e in errors if not np.isnan(e.speed_m_s)), default=0.0)
    spin = max((e.spin_deg_s for e in errors if not np.isnan(e.spin_deg_s)), default=0.0)
    return speed, spin


def missed_goals(clip: Clip, allowed: GoalTolerances) -> list[str]:
    """Goals that a motion does not meet, a sentence for each, in the order of the problem.

    Args:
        clip: The motion.
        allowed: How far it may be from them, and when they count.
    """
    goals = clip.problem.goals
    if allowed.at_end:
        ends = tuple(goal.at_end() for goal in goals)
        clip = replace(clip, problem=replace(clip.problem, goals=ends))
    limits = (
        ("mm", 1e3 * allowed.position),
        ("degrees", np.degrees(allowed.angle)),
        ("m/s", allowed.velocity),
        ("degrees/s", np.degrees(allowed.spin)),
    )
    missed = []
    for goal, error in zip(goals, goal_errors(clip), strict=True):
        parts = [
            f"{value:.3g} {unit} (allowed {limit:.3g})"
            for value, (unit, limit) in zip(error[1:], limits, strict=True)
            if value > limit
        ]
        if parts:
            when = (
                f"at {goal.end:g} s" if allowed.at_end else f"at {goal.start:g} to {goal.end:g} s"
            )
            missed.append(f"'{goal.feature.owner}' is {' and '.join(parts)} from its goal {when}.")
    return missed


def touch_excess(clip: Clip) -> float:
    """Time for which hands touch bodies outside their touch spans, s; that of the worst hand.

    A hand touches where the clip lists a contact of it, and where one of its capsules is half a
    millimetre or more in a body. Frames within one frame's time of a span are not counted.
    """
    if clip.num_frames < 2:
        return 0.0
    frame_time = float(np.median(np.diff(clip.times)))
    worst = 0.0
    for hand in clip.hands:
        outside = _outside_spans(clip, hand, slack=frame_time)
        if outside.any():
            touches = _listed_touches(clip, hand) | _deep_touches(clip, hand, outside)
            worst = max(worst, frame_time * int(np.sum(touches & outside)))
    return worst


def _goal_error(clip: Clip, number: int, goal: Goal) -> GoalError:
    times = clip.times
    asked = [
        np.inf if part is not None else np.nan
        for part in (goal.position, goal.wxyz, goal.velocity, goal.spin)
    ]
    if goal.start < times[0] - _NO_TIME or goal.end > times[-1] + _NO_TIME:
        # Nobody knows what happens outside the clip.
        return GoalError(number, *asked)
    within = times[(times > goal.start) & (times < goal.end)]
    moments = np.array([goal.start, *within, goal.end])
    track = Track(times, feature_poses(clip, goal.feature))
    reached = track.at(moments)
    if goal.relative_to is not None:
        owner = Track(times, clip.bodies[goal.relative_to])
        reached = owner.at(moments).inverse() @ reached
        track = Track(times, owner.pose.inverse() @ track.pose)
    position = angle = speed = spin = np.nan
    if goal.position is not None:
        off = (reached.position - goal.position_at(moments))[:, goal.matters]
        position = 1e3 * float(np.linalg.norm(off, axis=1).max())
    if goal.wxyz is not None:
        wanted = goal.wxyz_at(moments)
        if goal.axis is None:
            off = rotation.angle(reached.wxyz, wanted)
        else:
            one, two = (rotation.rotate(wxyz, goal.axis) for wxyz in (reached.wxyz, wanted))
            off = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), np.sum(one * two, axis=1))
        angle = float(np.degrees(off.max()))
    if goal.velocity is not None:
        off = (_rates(track, moments)[:, :3] - goal.velocity)[:, goal.matters]
        speed = float(np.linalg.norm(off, axis=1).max())
    if goal.spin is not None:
        off = _rates(track, moments)[:, 3:] - goal.spin
        spin = float(np.degrees(np.linalg.norm(off, axis=1).max()))
    return GoalError(number, position, angle, speed, spin)


def _rates(track: Track, moments: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 6"]:
    """Velocities, m/s, and angular velocities, rad/s: those of frames, which are of their middle.

    A moment within half a frame of where a span begins or ends has the velocity of the frame
    within: what comes before and after is no part of it.
    """
    times, pose = track.times, track.pose
    if len(times) < 2:
        return np.zeros((len(moments), 6))
    step = np.diff(times)[:, None]
    turned = rotation.multiply(pose.wxyz[1:], rotation.conjugate(pose.wxyz[:-1]))
    rates = np.concatenate([np.diff(pose.position, axis=0), rotation.log(turned)], axis=1) / step
    middle = 0.5 * (times[1:] + times[:-1])
    first, last = moments[0] + 0.5 * step.min(), moments[-1] - 0.5 * step.min()
    within = np.clip(moments, first, last) if first <= last else moments
    return np.stack([np.interp(within, middle, rate) for rate in rates.T], axis=1)


def feature_poses(clip: Clip, feature: Feature) -> Pose:
    """(T,) poses of a feature in the world."""
    if feature.owner in clip.bodies:
        pose = clip.bodies[feature.owner]
    else:
        model, motion = clip.problem.hands[feature.owner], clip.hands[feature.owner]
        if feature.frame is not None:
            every = frame_poses(model, motion.q, motion.root)
            pose = every[:, model.frames.index(feature.frame)]
        else:
            rotations, positions = link_poses(model, motion.q, motion.root)
            link = model.wrist_link
            pose = Pose(positions[:, link], rotation.from_matrix(rotations[:, link]))
    if feature.point is None:
        return pose
    return Pose(pose.apply(feature.point), pose.wxyz)


def _outside_spans(clip: Clip, hand: str, *, slack: float) -> Bool[np.ndarray, " T"]:
    """Frames in which a hand may not touch; none for a hand without spans."""
    spans = [span for span in clip.problem.touches if span.hand == hand]
    if not spans:
        return np.zeros(clip.num_frames, dtype=bool)
    allowed = np.zeros(clip.num_frames, dtype=bool)
    for span in spans:
        first, last = span.start - slack - _NO_TIME, span.end + slack + _NO_TIME
        allowed |= (clip.times >= first) & (clip.times <= last)
    return ~allowed


def _listed_touches(clip: Clip, hand: str) -> Bool[np.ndarray, " T"]:
    """Frames in which the clip lists contacts of a hand."""
    contacts, found = clip.contacts, np.zeros(clip.num_frames, dtype=bool)
    if hand in contacts.touchers:
        found[contacts.frame[contacts.toucher == contacts.touchers.index(hand)]] = True
    return found


def _deep_touches(clip: Clip, hand: str, looked: Bool[np.ndarray, " T"]) -> Bool[np.ndarray, " T"]:
    """Frames among those looked at in which a capsule of a hand is in a body."""
    model, motion = clip.problem.hands[hand], clip.hands[hand]
    frames = np.flatnonzero(looked)
    world = posed_capsules(model, motion.q[frames], motion.root[frames])
    found = np.zeros(clip.num_frames, dtype=bool)
    for name, body in clip.problem.bodies.items():
        back = clip.bodies[name][frames].inverse()[:, None]
        gaps = capsule_gaps(
            exact_distance(body),
            back.apply(world.start).reshape(-1, 3),
            back.apply(world.end).reshape(-1, 3),
            np.tile(world.radius, len(frames)),
            reach=0.0,
        ).gap.reshape(len(frames), -1)
        found[frames[gaps.min(axis=1, initial=np.inf) <= -_TOUCHING_DEPTH]] = True
    return found
