"""Transcription of a problem into the arrays that the residuals read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.geometry.distance.environment import EnvironmentArrays, surface_value_gradient
from handwright.methods.trajopt.model.contacts import (
    environment_arrays,
    list_contacts,
    make_contacts,
)
from handwright.methods.trajopt.model.goal_rows import goal_samples, pinned_keys
from handwright.methods.trajopt.model.hands import (
    TranscribedHand,
    capsule_numbers,
    coordinate_bounds,
    count_coordinates,
    make_forest,
    make_skeleton,
    transcribe_hands,
)
from handwright.methods.trajopt.model.layout import key_layout
from handwright.methods.trajopt.model.model import Body, Contacts, Model, ScheduleState
from handwright.methods.trajopt.model.shape import make_body, resting_points, tip_pushes
from handwright.methods.trajopt.schedule.goal_digits import has_goal, must_touch

# Contacts of the body with each surface; a body that no goal moves and that is pressed on has more.
_NUM_SUPPORTS, _NUM_STILL_SUPPORTS = 2, 4
# A body that starts this near to a surface lies on it, m.
_RESTING_GAP = 1e-3
_LIFTING_TIME = 1.0
"""How long before the first goal for the body hands take hold of it, s."""
KEY_SLACK = 0.01
"""Largest distance between the end of a touch span and a key, in phases."""
# By how many times phases may be shorter than asked for, so that such spans fit.
_MOST_DENSE = 3
# Factor on all squeezes where digits turn a body in the hand: they hold it by turns, and others
# soon take over what one of them presses with.
_GAIT_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class TranscriptionSettings:
    """How finely a problem is transcribed, and with which options."""

    num_phases: int
    """Number of phases, all of the same length; three or more."""
    fractions: Sequence[float]
    """Moments of every phase at which costs are evaluated, above 0 and below 1."""
    is_coupled: bool = True
    """Whether joints follow others as in people; see ``couple_joints``."""
    num_pushes: int = 0
    """Number of pushes that the grasp must resist; see ``push_corners``."""
    push_size: float = 0.0
    """Size of all weaker pushes that they stand for, N."""
    has_free_times: bool = False
    """Whether keys may be shifted in time; see ``pinned_keys``."""


class Transcription(NamedTuple):
    """A problem as arrays, with what the search for schedules needs to know of it."""

    problem: Problem
    model: Model
    hands: tuple[TranscribedHand, ...]
    body_name: str
    body: RigidBody
    start: Float[np.ndarray, " n"]
    """Key state in which everything stands still."""
    contact_hand: Int[np.ndarray, " N"]
    """Hand of each contact; -1 for the environment."""
    contact_names: tuple[str, ...]
    surfaces: Int[np.ndarray, " S"]
    """For every surface of ``model.env``, its number in the problem."""
    rests_on: Bool[np.ndarray, " N"]
    """Contacts with surfaces that the body lies on as it starts."""
    may_grip: Bool[np.ndarray, " N"]
    """Contacts of hands, without digits that have goals of their own: those have other tasks."""
    is_turned_in_hand: bool
    """Whether the body is to turn on and on, so that digits have to let go by turns."""
    in_spans: Bool[np.ndarray, " N"]
    """Contacts of hands that may touch at given times only, in problems where nothing but hands
    holds the body and they do not turn it: they hold it throughout these times."""
    first_hold: int
    """Phase from which hands are drawn to the body; past the last if it need not be held."""
    capsule_number: Int[np.ndarray, " C"]
    """For every capsule of ``model.skeleton``, its number in its hand model."""
    required: Bool[np.ndarray, "P N"]
    """Contacts that must be on: strokes in the phases that they fill, and digits that goals put on
    the body for whole phases."""
    allowed: Bool[np.ndarray, "P N"]
    """Contacts that may be on: a hand with touch spans touches within them only, and a stroke is
    where it has to be."""


def transcribe(problem: Problem, settings: TranscriptionSettings) -> Transcription:
    """Everything that a problem with one body and start poses says, as arrays."""
    (body_name, body), *_ = problem.bodies.items()
    hands = transcribe_hands(problem, is_coupled=settings.is_coupled)
    shape = make_body(problem, body_name)
    is_moved = any(goal.feature.owner == body_name for goal in problem.goals)
    supports = resting_points(shape, _NUM_SUPPORTS if is_moved else _NUM_STILL_SUPPORTS)
    entries = list_contacts(problem, hands, body, supports)
    names = tuple(entry.name for entry in entries)
    contact_hand = np.array([entry.hand for entry in entries], dtype=np.int64)
    may_grip = (contact_hand >= 0) & ~has_goal(problem, hands, names)
    is_turned = problem.is_cyclic and bool(shape.spin.any())
    contacts = make_contacts(entries)
    contacts.squeeze[~may_grip] = 0.0
    if is_turned:
        contacts.squeeze[:] *= _GAIT_SHARE
    model = _make_model(problem, settings, hands, shape, contacts)
    first_hold = _first_hold(problem, body_name, model)
    required = _stroke_phases(problem, model) | must_touch(problem, hands, body, names, model)
    return Transcription(
        problem=problem,
        model=model,
        hands=hands,
        body_name=body_name,
        body=body,
        start=_start_state(problem, body_name, hands, model),
        contact_hand=contact_hand,
        contact_names=names,
        surfaces=environment_arrays(problem)[1],
        rests_on=_rests_on(problem, body_name, shape, contacts),
        may_grip=may_grip,
        is_turned_in_hand=is_turned,
        in_spans=_in_spans(problem, hands, contact_hand) & may_grip & (not is_turned),
        first_hold=first_hold,
        capsule_number=capsule_numbers(hands),
        required=required,
        allowed=_allowed(problem, model, hands, contact_hand, required, first_hold),
    )


def _make_model(
    problem: Problem,
    settings: TranscriptionSettings,
    hands: tuple[TranscribedHand, ...],
    shape: Body,
    contacts: Contacts,
) -> Model:
    """The arrays that compiled functions read, with an empty schedule."""
    body, *_ = problem.bodies.values()
    num_phases, num_contacts = settings.num_phases, len(contacts.kind)
    phase_time = float(problem.times[-1] - problem.times[0]) / num_phases
    lower, upper = coordinate_bounds(hands)
    samples, goals = goal_samples(problem, hands, body, num_phases, phase_time, settings.fractions)
    skeleton = make_skeleton(hands)
    return Model(
        forest=make_forest(hands),
        skeleton=skeleton,
        contacts=contacts,
        body=shape,
        env=EnvironmentArrays(*(np.array(part) for part in environment_arrays(problem)[0])),
        samples=samples,
        goals=goals,
        pushes=tip_pushes(body, settings.num_pushes, settings.push_size),
        schedule=ScheduleState(
            is_pushed=np.zeros(num_phases, dtype=np.bool_),
            clearance=np.zeros((num_phases, len(skeleton.joint))),
            landing=np.zeros((num_phases, num_contacts), dtype=np.int64),
            easing=np.zeros((num_phases, num_contacts), dtype=np.int64),
        ),
        gravity=np.array(problem.gravity),
        lower=lower,
        upper=upper,
        layout=key_layout(count_coordinates(hands), num_contacts, settings.num_pushes),
        is_pinned=pinned_keys(problem, num_phases, is_free=settings.has_free_times),
        num_keys=num_phases + (0 if problem.is_cyclic else 1),
        phase_time=phase_time,
        is_cyclic=problem.is_cyclic,
    )


def _start_state(
    problem: Problem, body: str, hands: tuple[TranscribedHand, ...], model: Model
) -> Float[np.ndarray, " n"]:
    """Hands and body at their start poses, without motion and forces."""
    start = np.zeros(model.layout.size)
    for hand in hands:
        start[hand.finger_coordinates] = hand.q[hand.couplings.leading]
    start[model.layout.body_position] = problem.start[body].apply(problem.bodies[body].center)
    return start


def _stroke_phases(problem: Problem, model: Model) -> Bool[np.ndarray, "P N"]:
    """Strokes fill the phases whose middle they cover, and one at least."""
    phases, num_contacts = model.num_phases, model.layout.num_contacts
    required = np.zeros((phases, num_contacts), dtype=bool)
    middle = problem.times[0] + model.phase_time * (np.arange(phases) + 0.5)
    first = num_contacts - len(problem.strokes)
    for n, stroke in enumerate(problem.strokes):
        inside = (middle >= stroke.start) & (middle <= stroke.end)
        inside[np.argmin(np.abs(middle - 0.5 * (stroke.start + stroke.end)))] = True
        required[:, first + n] = inside
    return required


def _allowed(
    problem: Problem,
    model: Model,
    hands: tuple[TranscribedHand, ...],
    contact_hand: Int[np.ndarray, " N"],
    required: Bool[np.ndarray, "P N"],
    first_hold: int,
) -> Bool[np.ndarray, "P N"]:
    """Which contacts may be on in which phase; see ``Transcription.allowed``."""
    phases, slides = model.num_phases, model.contacts.slides
    allowed = np.ones(required.shape, dtype=bool)
    allowed[:, slides] = required[:, slides]
    begin = problem.times[0] + model.phase_time * np.arange(phases)
    slack = 1e-6 + KEY_SLACK * model.phase_time
    for h, hand in enumerate(hands):
        inside = [
            (begin >= span.start - slack) & (begin + model.phase_time <= span.end + slack)
            for span in problem.touches
            if span.hand == hand.name
        ]
        if inside:
            allowed[:, contact_hand == h] = np.any(inside, axis=0)[:, None]
    if first_hold >= phases:
        # Nobody has to hold the body, so hands keep off but where goals ask them to touch it.
        allowed[:, contact_hand >= 0] &= required[:, contact_hand >= 0]
    return allowed


def _in_spans(
    problem: Problem, hands: tuple[TranscribedHand, ...], contact_hand: Int[np.ndarray, " N"]
) -> Bool[np.ndarray, " N"]:
    """Contacts of hands with touch spans, in problems without an environment."""
    named = {span.hand for span in problem.touches}
    has_spans = np.array([hand.name in named for hand in hands] + [False])
    return np.asarray(has_spans[contact_hand] & (not problem.environment))


def _rests_on(
    problem: Problem, body: str, shape: Body, contacts: Contacts
) -> Bool[np.ndarray, " N"]:
    """Which contacts are with surfaces that a point of the body touches as it starts."""
    env, _ = environment_arrays(problem)
    center = problem.start[body].apply(problem.bodies[body].center)
    points = shape.corners @ shape.rotation.T + center
    lies = [
        min(surface_value_gradient(env, n, *point)[0] for point in points)
        < _RESTING_GAP + shape.corner_radius
        for n in range(len(env.frictions))
    ]
    rests = np.array([number >= 0 and lies[number] for number in contacts.surface])
    rests[len(rests) - len(problem.strokes) :] = False
    return rests


def _first_hold(problem: Problem, body: str, model: Model) -> int:
    """Hands take a body one second before the first goal for it, or have it from the start."""
    if model.is_cyclic or not problem.environment:
        return 0
    goals = [goal.start for goal in problem.goals if goal.feature.owner == body]
    if not goals:
        return model.num_phases
    time = min(goals) - problem.times[0] - _LIFTING_TIME
    return max(round(time / model.phase_time), 2)


def phases_of(problem: Problem, phase_time: float) -> int:
    """Number of phases of about this length, s, that fill the motion.

    They are shorter where spans in which hands may touch begin or end between keys, since contacts
    change at keys only: what is thrown flies for one phase or more.
    """
    duration = float(problem.times[-1] - problem.times[0])
    fewest = max(round(duration / phase_time), 3)
    ends = {end for span in problem.touches for end in (span.start, span.end)}
    share = (np.array(sorted(ends)) - problem.times[0]) / duration
    for count in range(fewest, _MOST_DENSE * fewest + 1):
        at = share * count
        if (np.abs(at - np.round(at)) < KEY_SLACK).all():
            return count
    return fewest
