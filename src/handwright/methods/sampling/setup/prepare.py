"""A problem made ready for the search: data, candidates and policies of all its holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import sample_field
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.sampling.constraints.apply import (
    Constraints,
    apply_constraints,
    digit_rows,
    find_constraints,
    limit_digits,
)
from handwright.methods.sampling.constraints.grips import (
    capsule_force_weights,
    idle_finger_probability,
    penalise_unsuited,
)
from handwright.methods.sampling.constraints.guide import guide_postures
from handwright.methods.sampling.constraints.preferences import (
    CHANCES,
    RELOCATION_TIME,
    Grip,
    frames_within,
)
from handwright.methods.sampling.constraints.regions import (
    HeldParts,
    find_held_parts,
    keep_to_parts,
)
from handwright.methods.sampling.constraints.schedule import DigitSchedule
from handwright.methods.sampling.search.policy import Policy, guided_policy
from handwright.methods.sampling.search.workspace import Workspace, make_workspace
from handwright.methods.sampling.setup.candidates import (
    Candidates,
    key_frames,
    make_candidates,
    surface_points,
)
from handwright.methods.sampling.setup.guidance import (
    guide_contacts,
    guided_points,
    no_guide,
    slice_guide,
    with_guide_pads,
    with_guide_postures,
)
from handwright.methods.sampling.setup.hold_data import (
    PAD_SHARE,
    SKIN_SHARE,
    HoldData,
    make_hold_data,
    slice_hold_data,
)
from handwright.methods.sampling.setup.intervals import CarryInterval, find_carry_intervals
from handwright.methods.sampling.setup.limits import check_limits, kept_limits
from handwright.methods.sampling.setup.palms import is_near_palm, with_phalanx_points

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

# Frames in which hands are on the body before they are needed and after, if there are as many.
_LEAD, _TAIL = 4, 2
# Largest number of frames, and largest rotation, rad, from one key frame to the next.
_KEY_STEP, _KEY_ROTATION = 6, 0.35
# Number of points of the body that digits may be told to touch, and on each part that is named.
_NUM_POINTS, _NUM_POINTS_OF_PART = 700, 400
_EDGE_CLEARANCE = 0.005
# Points of a body that are deeper in the grid, m, are walls of a hollow that is filled.
_OFF_SURFACE = 1e-3
# Least frames of a relocation and how far it goes in one, m, at the usual pace.
_FLIGHT_FRAMES, _STRIDE = 4, 0.008
# Share of a guide's weight with which it is followed if it cannot be closely.
_LOOSE = 0.25
# How much candidates that stay within reach for long are preferred; more if nothing shall change.
_LASTING, _LASTING_STATIC = 3.0, 12.0


class HoldSearch(NamedTuple):
    """One hold, ready to be searched."""

    interval: CarryInterval
    data: HoldData
    """All frames of the hold, approach and retreat included, with the limits of the search."""
    strict: HoldData
    """The same with the limits by which finished motions are checked."""
    searched: HoldData
    """The frames of the search only."""
    times: Float[np.ndarray, " T"]
    """Times of all frames of the hold, s."""
    first: int
    """Frame of the problem at which the hold starts."""
    start: int
    """Frame of the problem at which the search starts."""
    stop: int
    """One after the frame of the problem at which the search ends."""
    candidates: Candidates
    policy: Policy
    looser: tuple[Policy, ...]
    """What is tried if that finds nothing: keeping less to the guide, and without it."""
    work: Workspace
    body: RigidBody
    distance: ExactDistance
    skin_depth: float
    """Depth to which soft skin of digits may sink in, m."""
    force_weight: Float[np.ndarray, " C"]
    """Weight of force at each capsule of the hands, where forces leave a choice."""
    parts: HeldParts
    """Where digits are told to hold the body."""
    pins: tuple[int, ...]
    """Numbers of the pins that are for this hold."""
    infeasibility: str
    """Why the constraints of an artist cannot be met; empty if they can."""

    @property
    def guided(self) -> bool:
        """Whether postures are those of a guide."""
        return self.policy.guide.weight > 0.0

    @property
    def models(self) -> tuple[HandModel, ...]:
        """The hands, in the order of their joints."""
        return tuple(self.interval.hands.values())

    def joints(self, h: int) -> slice:
        """Columns of one hand among the joints of all."""
        first = int(self.data.hands.offset[h])
        return slice(first, first + self.models[h].num_joints)

    def posed(
        self, q: Float[np.ndarray, "T J"], h: int
    ) -> tuple[HandModel, Float[np.ndarray, "T N"], Pose]:
        """One hand, its part of the joint values of all, rad, and its root in the body's frame."""
        data = self.data
        wxyz = rotation.from_matrix(data.root_rotation[:, h])
        return self.models[h], q[:, self.joints(h)], Pose(data.root_position[:, h].copy(), wxyz)


def prepare(problem: Problem, method: ContactSampling) -> list[HoldSearch]:
    """Makes all holds of a problem ready to be searched."""
    intervals = find_carry_intervals(problem, cutoff_hz=method.smoothing_hz)
    holds = []
    for number, interval in enumerate(intervals):
        earlier = [other.stop for other in intervals[:number] if _share_hands(other, interval)]
        later = [other.start for other in intervals[number + 1 :] if _share_hands(other, interval)]
        # Hands that hold several bodies in turn change over half-way.
        first = (max(earlier) + interval.start) // 2 if earlier else 0
        last = (interval.stop + min(later)) // 2 if later else len(problem.times)
        if interval.hands:
            holds.append(_prepare_hold(problem, method, interval, first, last))
    unused = _describe_unused_pin(problem, method, holds)
    if unused:
        # Pins are asked about before any hold is searched, so that the first one may tell of it.
        holds[0] = holds[0]._replace(infeasibility=unused)
    return holds


def _share_hands(first: CarryInterval, second: CarryInterval) -> bool:
    return bool(set(first.hands) & set(second.hands))


def _describe_unused_pin(problem: Problem, method: ContactSampling, holds: list[HoldSearch]) -> str:
    """A message on a pin that is for no hold; empty if there is none, or no hold."""
    used = {number for hold in holds for number in hold.pins}
    for number, pin in enumerate(method.pins):
        if holds and number not in used:
            spans = ", ".join(
                f"{problem.times[hold.start]:.3g} to {problem.times[hold.stop - 1]:.3g} s by "
                f"{' and '.join(hold.interval.hands)}"
                for hold in holds
            )
            return (
                f"Pin {number} ({pin.digit} from {pin.start:g} s) is at a time at which its hand "
                f"holds nothing; bodies are held {spans}. Start it then."
            )
    return ""


def _prepare_hold(
    problem: Problem, method: ContactSampling, interval: CarryInterval, first: int, last: int
) -> HoldSearch:
    """Makes the hold from frame ``first`` to before ``last`` ready."""
    times = problem.times[first:last]
    step = float(np.median(np.diff(problem.times)))
    models = tuple(interval.hands.values())
    body = problem.bodies[interval.body]
    data = make_hold_data(problem, interval, times, method)
    wraps = method.grip != "precision" and is_near_palm(data, models)
    if wraps:
        data = with_phalanx_points(data, models, PAD_SHARE * method.soft_tissue)
    data = limit_digits(data, interval, times, method)
    guide = no_guide(len(times), len(data.hands.hand_of_digit))
    if method.guide:
        postures = guide_postures(method.guide, interval, times)
        depth = PAD_SHARE * method.soft_tissue
        guide = guide_contacts(data, models, postures, step, method.guide[0].weight, depth)
        data = with_guide_postures(data, np.clip(postures, data.low, data.high))
        data = with_guide_pads(data, guide)
    grip: Grip = "power" if wraps else method.grip
    strict = data._replace(limits=check_limits(data.limits, method, step))
    start, stop = max(interval.start - _LEAD, first), min(interval.stop + _TAIL, last)
    searched = slice_hold_data(data, start - first, stop - first)
    if method.kept:
        searched = searched._replace(limits=kept_limits(strict.limits, step))
    work = make_workspace(data)
    distance = ExactDistance.from_body(body)
    own_times = problem.times[start:stop]
    parts = find_held_parts(body, interval, method)
    own_guide = slice_guide(guide, start - first, stop - first)
    point, normal = guided_points(own_guide, *_candidate_points(body, data, parts, method))
    constraints = find_constraints(searched, interval, own_times, method, distance)
    point = np.concatenate([point, constraints.point])
    normal = np.concatenate([normal, constraints.normal])
    keys = key_frames(searched.root_rotation, _KEY_STEP, _KEY_ROTATION)
    keys = np.union1d(keys, constraints.frames)
    depth = SKIN_SHARE * method.soft_tissue
    candidates = make_candidates(
        searched,
        models,
        (point, normal),
        keys,
        work,
        skin_depth=depth,
        guide=own_guide if method.guide else None,
    )
    candidates = penalise_unsuited(searched, work, candidates, grip)
    parts, candidates = keep_to_parts(parts, candidates, data.hands.hand_of_digit)
    candidates, schedule, infeasibility = apply_constraints(
        searched, work, candidates, constraints, start
    )
    policy = _policy(interval, own_times, method, wraps, schedule, candidates)
    looser: tuple[Policy, ...] = ()
    if method.guide:
        loose = own_guide._replace(weight=_LOOSE * own_guide.weight)
        looser = guided_policy(policy, loose, candidates), policy
        policy = guided_policy(policy, own_guide, candidates)
    return HoldSearch(
        interval=interval,
        data=data,
        strict=strict,
        searched=searched,
        times=times,
        first=first,
        start=start,
        stop=stop,
        candidates=candidates,
        policy=policy,
        looser=looser,
        work=work,
        body=body,
        distance=distance,
        skin_depth=depth,
        force_weight=capsule_force_weights(data, grip),
        parts=parts,
        pins=tuple(pin.number for pin in constraints.pins),
        infeasibility=_describe_stray_pin(parts, constraints) or infeasibility,
    )


def _candidate_points(
    body: RigidBody, data: HoldData, parts: HeldParts, method: ContactSampling
) -> tuple[Float[np.ndarray, "P 3"], Float[np.ndarray, "P 3"]]:
    """Points on all of the body or on the parts that are named, m, and outward normals there.

    Raises:
        InvalidValueError: A part has no points.
    """
    drawn = []
    for region in [*([None] * parts.is_anywhere()), *parts.all_regions()]:
        points, normals = surface_points(
            body,
            _NUM_POINTS if region is None else _NUM_POINTS_OF_PART,
            np.random.default_rng(0),
            edge_clearance=_EDGE_CLEARANCE,
            holds=None if region is None else region.holds,
        )
        if region is not None and len(points) == 0:
            raise InvalidValueError(
                f"grasp_regions: no point of body '{body.name}' was found in {region.where}. "
                "Expected a centre on its surface, in its own frame, and a radius of some "
                "millimetres."
            )
        drawn.append((points, normals))
    point, normal = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
    is_allowed = np.ones(len(point), dtype=bool)
    if method.treat_as_solid:
        is_allowed &= sample_field(data.field, point)[0] > -_OFF_SURFACE
    for ball in method.forbidden:
        is_allowed &= np.linalg.norm(point - np.array(ball.center), axis=1) > ball.radius
    return point[is_allowed], normal[is_allowed]


def _describe_stray_pin(parts: HeldParts, constraints: Constraints) -> str:
    """A message on a pin beside the part that its digit is told to hold; empty if there is none."""
    for pin in reversed(constraints.pins):
        if parts.strays(pin.digit, pin.point[None], pin.normal[None]):
            return (
                f"{pin.text} lies beside the part that grasp_region or grasp_regions gives this "
                "digit. Move the pin, or name the part for other digits."
            )
    return ""


def _policy(
    interval: CarryInterval,
    times: Float[np.ndarray, " T"],
    method: ContactSampling,
    wraps: bool,
    schedule: DigitSchedule,
    candidates: Candidates,
) -> Policy:
    """How plans are drawn, by the method's settings."""
    chances = [np.full(schedule.pin.shape, chance) for chance in CHANCES[method.strategy]]
    for preference in method.preferences:
        when = np.flatnonzero(frames_within(times, preference.start, preference.end))
        rows = np.array(digit_rows(interval, preference.digits))
        for table, chance in zip(chances, CHANCES[preference.strategy], strict=True):
            table[np.ix_(when, rows)] = chance
    slide, relocate, land = chances
    step = float(np.median(np.diff(times)))
    haste = method.relocation_time / RELOCATION_TIME
    return Policy(
        window=1 if method.baseline else method.window,
        slide=slide,
        relocate=relocate,
        land=land,
        help=np.ones(slide.shape),
        leave_free=np.full(
            slide.shape,
            idle_finger_probability(
                "power" if wraps else method.grip, method.idle_finger_probability
            ),
        ),
        slide_step=0.05 * step,
        flight=max(round(_FLIGHT_FRAMES * haste), round(method.relocation_time / step)),
        stride=_STRIDE / haste,
        look_ahead=0 if method.baseline else max(1, round(0.33 / step)),
        comfort=method.comfort,
        lasting=_LASTING_STATIC if method.strategy == "static" else _LASTING,
        grasp_tries=20 if method.baseline else 120,
        is_informed=not method.baseline,
        wraps=wraps,
        schedule=schedule,
        guide=no_guide(*schedule.pin.shape),
        favour=np.ones(candidates.cost.shape),
    )
