"""The one input of every method: who acts on what, what is known, and what is wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.events import Grip, Push, Stroke, Toss, TouchSpan
from handwright.core.frozen import freeze_arrays, read_only_copy
from handwright.core.goal import Goal
from handwright.core.hand import LIMIT_SLACK, HandModel
from handwright.core.surface import EnvironmentBox, Surface
from handwright.core.track import Track, time_problems
from handwright.errors import UnknownNameError, refuse
from handwright.math import rotation
from handwright.math.one_turn import turn_to
from handwright.math.pose import Pose
from handwright.math.vectors import turn_between
from handwright.printable import is_printable, printable

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def standard_gravity() -> Float[np.ndarray, "3"]:
    """m/s^2, Z up."""
    return np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Hands, bodies and surroundings, with tracks and goals for some of them."""

    name: str
    times: Float[np.ndarray, " T"]
    """Frames of the motion, s."""
    hands: Mapping[str, HandModel]
    """By name, such as ``right``."""
    bodies: Mapping[str, RigidBody]
    """By name; no name may also be a hand's."""
    tracks: Mapping[str, Track] = field(default_factory=lambda: _NOTHING)
    """Known motion of hands (their root link) and bodies, by name."""
    goals: tuple[Goal, ...] = ()
    environment: tuple[Surface, ...] = ()
    gravity: Float[np.ndarray, "3"] = field(default_factory=standard_gravity)
    """m/s^2."""
    start: Mapping[str, Pose] = field(default_factory=lambda: _NOTHING)
    """Poses at the first frame of hands (their root link) and bodies that have no track."""
    postures: Mapping[str, Float[np.ndarray, " _"]] = field(default_factory=lambda: _NOTHING)
    """Joint values, rad, of hands at the first frame; see ``posture`` for those left out."""
    touches: tuple[TouchSpan, ...] = ()
    """When hands may touch bodies; a hand without a span may at any time."""
    strokes: tuple[Stroke, ...] = ()
    """When bodies press on surroundings and slide along them."""
    grips: tuple[Grip, ...] = ()
    """How hands take bodies."""
    pushes: tuple[Push, ...] = ()
    """Forces on bodies that no contact gives."""
    tosses: tuple[Toss, ...] = ()
    """Throws and catches, one after the other."""
    is_cyclic: bool = False
    """Whether the last frame leads on to the first: it is the first again, one round later."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        for name in ("hands", "bodies", "tracks", "start"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        postures = {name: read_only_copy(q) for name, q in self.postures.items()}
        object.__setattr__(self, "postures", MappingProxyType(postures))
        problems = [
            *time_problems(self.times),
            *self._name_problems(),
            *self._span_problems(),
            *self._start_problems(),
        ]
        if self.gravity.shape != (3,) or not np.isfinite(self.gravity).all():
            problems.append("gravity must be three finite numbers in m/s^2")
        refuse(f"Problem '{printable(self.name)}'", problems)

    def _name_problems(self) -> list[str]:
        problems = []
        if not self.hands and not self.bodies:
            problems.append("it has neither hands nor bodies")
        known = {*self.hands, *self.bodies}
        problems += [
            f"the name '{printable(name)}' holds control characters, expected text to print"
            for name in (self.name, *self.hands, *self.bodies)
            if not is_printable(name)
        ]
        problems += [
            f"'{name}' is both a hand and a body"
            for name in sorted(set(self.hands) & set(self.bodies))
        ]
        problems += [
            f"{what} '{name}' belongs to no hand or body (known: {', '.join(sorted(known))})"
            for what, names in (("track", self.tracks), ("start", self.start))
            for name in names
            if name not in known
        ]
        problems += [
            f"posture of '{name}', which is no hand (hands: {', '.join(self.hands) or 'none'})"
            for name in self.postures
            if name not in self.hands
        ]
        return problems

    def _span_problems(self) -> list[str]:
        if self.times.ndim != 1 or len(self.times) == 0:
            return []
        span = first, last = float(self.times[0]), float(self.times[-1])
        slack = _slack(span)
        problems = [
            f"track '{name}' runs from {track.times[0]:g} to {track.times[-1]:g} s but the frames "
            f"from {first:g} to {last:g} s"
            for name, track in self.tracks.items()
            if track.times[0] > first + slack or track.times[-1] < last - slack
        ]
        hands, bodies = self.hands, self.bodies
        listed: dict[str, list[list[str]]] = {
            "goal": [goal_problems(goal, hands, bodies, span) for goal in self.goals],
            "touch": [touch_problems(touch, hands, span) for touch in self.touches],
            "stroke": [
                stroke_problems(stroke, bodies, len(self.environment), span)
                for stroke in self.strokes
            ],
            "grip": [grip_problems(grip, hands, bodies, span) for grip in self.grips],
            "push": [push_problems(push, bodies, span) for push in self.pushes],
            "toss": [toss_problems(t, hands, bodies, self.environment) for t in self.tosses],
        }
        return problems + [
            f"{kind} {number} {text}"
            for kind, rows in listed.items()
            for number, texts in enumerate(rows)
            for text in texts
        ]

    def _start_problems(self) -> list[str]:
        problems = [
            f"start of '{name}' holds poses of shape {pose.shape}, expected a single one"
            for name, pose in self.start.items()
            if pose.shape != ()
        ]
        problems += [
            f"'{name}' has a track and a start, expected one of them"
            for name in self.start
            if name in self.tracks
        ]
        for name, q in self.postures.items():
            if name not in self.hands:
                continue
            tree = self.hands[name].joints
            if q.shape != (len(tree),):
                problems.append(f"posture of '{name}' has shape {q.shape}, expected ({len(tree)},)")
                continue
            excess = np.maximum(tree.lower - q, q - tree.upper)
            # Not "above", so that NaN is a problem too.
            if not excess.max(initial=0.0) <= LIMIT_SLACK:
                joint = tree.names[int(np.argmax(excess))]
                problems.append(f"posture of '{name}' breaks the limits of {joint}")
        return problems

    def __repr__(self) -> str:
        return (
            f"Problem({self.name!r}, {len(self.times)} frames, hands {list(self.hands)}, "
            f"bodies {list(self.bodies)}, tracks of {list(self.tracks)}, {len(self.goals)} goals)"
        )

    def track(self, name: str) -> Track:
        """The track of a hand or a body."""
        if name not in self.tracks:
            raise UnknownNameError(f"track of problem '{self.name}'", name, self.tracks)
        return self.tracks[name]

    def posture(self, hand: str) -> Float[np.ndarray, " J"]:
        """Joint values of a hand at the first frame, rad: those given, or the usual ones."""
        if hand not in self.hands:
            raise UnknownNameError(f"hand of problem '{self.name}'", hand, self.hands)
        given = self.postures.get(hand)
        return usual_posture(self.hands[hand]) if given is None else given


def usual_posture(model: HandModel) -> Float[np.ndarray, " J"]:
    """Joint values that a hand starts with unless told otherwise, rad: open, or mid-range."""
    if "open" in model.poses:
        return model.pose("open")
    return model.joints.clamp(0.5 * (model.joints.lower + model.joints.upper))


def goal_problems(
    goal: Goal,
    hands: Mapping[str, HandModel],
    bodies: Mapping[str, RigidBody],
    span: tuple[float, float],
) -> list[str]:
    """What keeps a goal from being one of a problem with these hands, bodies and times, s."""
    problems = []
    owner, frame = goal.feature.owner, goal.feature.frame
    if owner not in hands and owner not in bodies:
        known = ", ".join(sorted({*hands, *bodies}))
        problems.append(f"is for '{owner}', which is no hand or body (known: {known})")
    elif frame is not None and (owner not in hands or frame not in hands[owner].frames.names):
        frames = ", ".join(hands[owner].frames.names) if owner in hands else "it is a body"
        problems.append(f"is for '{owner}', which has no frame '{frame}' ({frames})")
    if goal.relative_to is not None and goal.relative_to not in bodies:
        problems.append(f"is relative to '{goal.relative_to}', which is no body")
    return problems + _outside(goal.start, goal.end, span)


def touch_problems(
    touch: TouchSpan, hands: Mapping[str, HandModel], span: tuple[float, float]
) -> list[str]:
    """What keeps a touch span from being one of a problem with these hands and times, s."""
    return _outside(touch.start, touch.end, span) + _no_hand(touch.hand, hands)


def stroke_problems(
    stroke: Stroke, bodies: Mapping[str, RigidBody], num_surfaces: int, span: tuple[float, float]
) -> list[str]:
    """What keeps a stroke from being one of a problem with these bodies, surfaces and times, s."""
    problems = _outside(stroke.start, stroke.end, span) + _no_body(stroke.body, bodies)
    if stroke.surface >= num_surfaces:
        problems.append(f"is on surface {stroke.surface}, but the surroundings have {num_surfaces}")
    return problems


def grip_problems(
    grip: Grip,
    hands: Mapping[str, HandModel],
    bodies: Mapping[str, RigidBody],
    span: tuple[float, float],
) -> list[str]:
    """What keeps a grip from being one of a problem with these hands, bodies and times, s."""
    outside = _outside(grip.start, grip.held, span)
    return [*outside, *_no_hand(grip.hand, hands), *_no_body(grip.body, bodies)]


def push_problems(
    push: Push, bodies: Mapping[str, RigidBody], span: tuple[float, float]
) -> list[str]:
    """What keeps a push from being one of a problem with these bodies and times, s."""
    return _outside(push.start, push.end, span) + _no_body(push.body, bodies)


def toss_problems(
    toss: Toss,
    hands: Collection[str],
    bodies: Collection[str],
    environment: Sequence[Surface],
) -> list[str]:
    """What keeps a toss from being one of a problem with these hands, bodies and surroundings."""
    problems = [*_no_hand(toss.hand, hands), *_no_body(toss.body, bodies)]
    if toss.surface is not None:
        if toss.surface >= len(environment):
            problems.append(
                f"is at surface {toss.surface}, but the surroundings have {len(environment)}"
            )
        elif not isinstance(environment[toss.surface], EnvironmentBox):
            problems.append(f"is at surface {toss.surface}, which is no box")
    return problems


def _no_hand(name: str, hands: Collection[str]) -> list[str]:
    known = ", ".join(hands) or "none"
    return [] if name in hands else [f"is for '{name}', which is no hand (hands: {known})"]


def _no_body(name: str, bodies: Collection[str]) -> list[str]:
    known = ", ".join(bodies) or "none"
    return [] if name in bodies else [f"is on '{name}', which is no body (bodies: {known})"]


def _outside(start: float, end: float, span: tuple[float, float]) -> list[str]:
    slack = _slack(span)
    if start < span[0] - slack or end > span[1] + slack:
        return [
            f"runs from {start:g} to {end:g} s, outside the frames ({span[0]:g} to {span[1]:g} s)"
        ]
    return []


def _slack(span: tuple[float, float]) -> float:
    return 1e-9 * max(1.0, span[1] - span[0])


def _whole_goals(problem: Problem, name: str) -> list[Goal]:
    """Goals of a body itself in the world, in the order of their times."""
    own = [
        goal
        for goal in problem.goals
        if goal.feature.owner == name and goal.feature.point is None and goal.relative_to is None
    ]
    return sorted(own, key=lambda goal: goal.start)


def _after(now: Pose, goal: Goal) -> Pose:
    """Where a body is that was there before, once a goal is over; what is free stays."""
    end, lasts = np.array([goal.end]), goal.end - goal.start
    position, wxyz = now.position, now.wxyz
    if goal.position is not None:
        position = np.where(goal.matters, goal.position_at(end)[0], position)
    elif goal.velocity is not None:
        position = position + lasts * goal.matters * goal.velocity
    if goal.axis is not None:
        axis = goal.axis / np.linalg.norm(goal.axis)
        here, there = (rotation.rotate(turn, axis) for turn in (wxyz, goal.wxyz_at(end)[0]))
        wxyz = rotation.multiply(rotation.exp(turn_between(here, there)), wxyz)
    elif goal.wxyz is not None:
        wxyz = goal.wxyz_at(end)[0]
    elif goal.spin is not None:
        wxyz = rotation.multiply(rotation.exp(lasts * goal.spin), wxyz)
    return Pose.normalized(position, wxyz)


def goal_pose_at(problem: Problem, name: str, time: float) -> Pose | None:
    """Pose of a body when the last goal before a time is met; None for one without a start."""
    now = problem.start.get(name)
    for goal in _whole_goals(problem, name):
        if now is not None and goal.start <= time + 1e-9:
            now = _after(now, goal)
    return now


def goal_poses(problem: Problem, name: str) -> list[Pose]:
    """Where goals bring a body, one after the other, and halfway in between."""
    now = problem.start.get(name)
    poses: list[Pose] = []
    for goal in _whole_goals(problem, name):
        if now is None:
            break
        then = _after(now, goal)
        half = rotation.multiply(rotation.exp(0.5 * turn_to(now.wxyz, then.wxyz)), now.wxyz)
        poses += [Pose.normalized(0.5 * (now.position + then.position), half), then]
        now = then
    return poses
