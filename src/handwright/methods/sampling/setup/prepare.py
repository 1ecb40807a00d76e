"""A problem made ready for the search: holdings, stages, candidates and policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.tolerances import STATIC_SPEED
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import sample_field
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.sampling.constraints.apply import (
    apply_constraints,
    apply_limits,
    digit_rows,
    find_constraints,
    narrow_kept,
)
from handwright.methods.sampling.constraints.grips import (
    capsule_force_weights,
    idle_finger_probability,
    penalise_unsuited,
)
from handwright.methods.sampling.constraints.kept import SLACK
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
from handwright.methods.sampling.search.plan import Policy
from handwright.methods.sampling.search.step import Steps
from handwright.methods.sampling.search.workspace import Workspace, make_workspace
from handwright.methods.sampling.setup.candidates import (
    Candidates,
    key_frames,
    make_candidates,
    surface_points,
)
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne, hands_as_one
from handwright.methods.sampling.setup.hold_data import (
    HoldData,
    Limits,
    make_hold_data,
    slice_hold_data,
)
from handwright.methods.sampling.setup.intervals import CarryInterval, find_carry_intervals
from handwright.methods.sampling.setup.phalanges import is_near_palm, with_phalanx_points

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

# Frames of the hand on the body before it is needed and after, if there are as many.
_LEAD, _TAIL = 4, 2
# Frames and turn, rad, from one key frame to the next, at most.
_KEY_STEP, _KEY_ROTATION = 6, 0.35
_NUM_POINTS = 700
# The same on each part that digits are told to hold.
_NUM_POINTS_OF_PART = 400
_EDGE_CLEARANCE = 0.005
_SEARCH_SAMPLES = 50
_JUDGE_SAMPLES = 400
_SKIN_SPACING = 0.0025
# Shares of the shear of skin that search and judge use: smoothing moves contacts a little, and so
# does the mesh, which a certificate looks at instead of the grid.
_SHEAR_SHARES = (0.75, 0.85)
# Contacts that are looked at on the exact mesh, m: those that a certificate looks at.
_JUDGED_GAP = 1e-3
# What hands press with anyway, N: light bodies are held with many times their weight.
_EASY_FORCE = 25.0
# Shares of the depth of soft tissue to which pads that hold sink in, and other skin may: the rest
# is for what the search and smoothing miss.
_PAD_SHARE, _SKIN_SHARE = 0.2, 0.4
# Points of a body that are deeper in the grid, m, are walls of a hollow that is filled.
_OFF_SURFACE = 1e-3
# Height of a relocating pad over the surface, m.
_LIFT = 0.010
# Least frames of a relocation and how far it goes in one, m, at the usual pace.
_FLIGHT_FRAMES, _STRIDE = 4, 0.008
# How much places are preferred that stay within reach for long; more where nothing shall change.
_LASTING, _LASTING_STATIC = 3.0, 12.0


class HoldSearch(NamedTuple):
    """One holding, ready to be searched."""

    interval: CarryInterval
    models: tuple[HandModel, ...]
    hands: HandsAsOne
    data: HoldData
    """All frames of the holding's own time, approach and retreat included."""
    strict: HoldData
    """The same, to be judged by."""
    times: np.ndarray
    """(T,) of the stage, s."""
    first: int
    """Frame of the problem at which the stage starts."""
    start: int
    """Frame of the problem at which the search starts."""
    stop: int
    """One after the frame at which it ends."""
    searched: HoldData
    """The frames of the search."""
    candidates: Candidates
    steps: Steps
    policy: Policy
    work: Workspace
    body: RigidBody
    distance: ExactDistance
    skin_depth: float
    """To which soft skin of digits may sink in, m."""
    force_weight: np.ndarray
    """(C,) of force at each part of the hands, where forces leave a choice."""
    parts: HeldParts
    """Where digits are told to hold the body."""
    pins: tuple[int, ...]
    """Numbers of the pins that are for this holding."""
    infeasibility: str
    """Why the wishes of an artist cannot be met; empty if they can."""


def joints_of(hold: HoldSearch, h: int) -> slice:
    """Columns of one hand among the joints of all hands of a holding."""
    first = int(hold.data.offset[h])
    return slice(first, first + hold.models[h].num_joints)


def root_of(hold: HoldSearch, h: int) -> Pose:
    """(T,) of a hand in the body's frame, over all frames of the stage."""
    data = hold.data
    return Pose(data.root_position[:, h].copy(), rotation.from_matrix(data.root_rotation[:, h]))


def prepare(problem: Problem, method: ContactSampling) -> list[HoldSearch]:
    """Makes all holdings of a problem ready."""
    intervals = find_carry_intervals(problem, cutoff_hz=method.smoothing_hz)
    count = len(problem.times)
    holds = []
    for number, interval in enumerate(intervals):
        earlier = [h.stop for h in intervals[:number] if set(h.hands) & set(interval.hands)]
        later = [h.start for h in intervals[number + 1 :] if set(h.hands) & set(interval.hands)]
        # Hands that hold several bodies in turn change over half-way.
        first = (max(earlier) + interval.start) // 2 if earlier else 0
        last = (interval.stop + min(later)) // 2 if later else count
        if interval.hands:
            holds.append(_prepare_hold(problem, method, interval, first, last))
    used = {number for hold in holds for number in hold.pins}
    for number, pin in enumerate(method.pins):
        if holds and number not in used:
            spans = ", ".join(
                f"{problem.times[hold.start]:.3g} to {problem.times[hold.stop - 1]:.3g} s by "
                f"{' and '.join(hold.interval.hands)}"
                for hold in holds
            )
            infeasibility = (
                f"Pin {number} ({pin.digit} from {pin.start:g} s) is at a time at which its hand "
                f"holds nothing; bodies are held {spans}. Start it then."
            )
            holds[0] = holds[0]._replace(infeasibility=infeasibility)
            break
    return holds


def _prepare_hold(
    problem: Problem, method: ContactSampling, interval: CarryInterval, first: int, last: int
) -> HoldSearch:
    times = problem.times[first:last]
    step = float(np.median(np.diff(problem.times)))
    models = tuple(problem.hands[name] for name in interval.hands)
    hands = hands_as_one(models, _SKIN_SPACING)
    body = problem.bodies[interval.body]
    weight = body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0)
    skin_depth = _SKIN_SHARE * method.soft_tissue
    limits = Limits(
        gap=9e-4,
        penetration=6e-4 + method.soft_tissue,
        digits=9e-4,
        anchor=1.2e-3,
        slip=0.8 * STATIC_SPEED * step,
        shear=_SHEAR_SHARES[0] * method.skin_shear,
        step=method.finger_speed * step,
        force=max(method.max_force, _EASY_FORCE / weight),
        friction_margin=method.friction_margin,
        max_samples=_SEARCH_SAMPLES,
    )
    data = make_hold_data(
        problem,
        body,
        problem.track(interval.body).at(times),
        [problem.track(name).at(times) for name in interval.hands],
        times,
        hands,
        limits,
        cutoff_hz=method.smoothing_hz,
        pad_depth=_PAD_SHARE * method.soft_tissue,
        skin_depth=skin_depth,
        fills_hollows=method.fills_hollows,
    )
    wraps = method.grip != "precision" and is_near_palm(data, models)
    grip: Grip = "power" if wraps else method.grip
    if wraps:
        data = with_phalanx_points(data, models, _PAD_SHARE * method.soft_tissue)
    apply_limits(data, hands, interval, models, times, method)
    data = narrow_kept(data, interval, models, times, method, SLACK)
    strict = data._replace(
        limits=limits._replace(
            gap=_JUDGED_GAP,
            slip=0.9 * STATIC_SPEED * step,
            shear=_SHEAR_SHARES[1] * method.skin_shear,
            penetration=8e-4 + method.soft_tissue,
            max_samples=_JUDGE_SAMPLES,
            friction_margin=0.98,
        )
    )
    start = max(interval.start - _LEAD, first)
    stop = min(interval.stop + _TAIL, last)
    looser = data
    if method.kept:
        # What is kept has passed the judge, and nothing can be spared for smoothing there.
        looser = looser._replace(
            limits=strict.limits._replace(slip=STATIC_SPEED * step, max_samples=_SEARCH_SAMPLES)
        )
    searched = slice_hold_data(looser, start - first, stop - first)
    work = make_workspace(data)
    parts = find_held_parts(body, interval, models, method)
    point, normal = _candidate_points(body, parts)
    if method.fills_hollows:
        is_outside = sample_field(data.field, point)[0] > -_OFF_SURFACE
        point, normal = point[is_outside], normal[is_outside]
    for ball in method.forbidden:
        far = np.linalg.norm(point - np.array(ball.center), axis=1) > ball.radius
        point, normal = point[far], normal[far]
    distance = ExactDistance.from_body(body)
    own_times = problem.times[start:stop]
    constraints = find_constraints(searched, interval, models, own_times, method, distance)
    frames = np.union1d(
        key_frames(searched.root_rotation, _KEY_STEP, _KEY_ROTATION), constraints.frames
    )
    candidates = make_candidates(
        searched,
        models,
        np.concatenate([point, constraints.point]),
        np.concatenate([normal, constraints.normal]),
        frames,
        work,
        skin_depth=skin_depth,
    )
    candidates = penalise_unsuited(searched, work, candidates, grip)
    parts, candidates = keep_to_parts(parts, candidates, data.hand_of_digit)
    candidates, schedule, infeasibility = apply_constraints(
        searched, work, candidates, constraints, start
    )
    for pin in constraints.pins:
        if parts.strays(pin.digit, pin.point[None], pin.normal[None]):
            infeasibility = (
                f"{pin.text} lies beside the part that hold or held_by gives this digit. Move the "
                "pin, or name the part for other digits."
            )
    policy = _policy(interval, models, searched, own_times, method, grip, wraps, schedule)
    steps = Steps(
        force_weight=np.ones(policy.slide.shape),
        idle_force_factor=method.idle_force_price,
        lift=_LIFT,
        alone=data.hold_weights._replace(digits=0.0),
    )
    return HoldSearch(
        interval, models, hands, data, strict, times, first, start, stop, searched, candidates,
        steps, policy, work, body, distance, skin_depth, capsule_force_weights(data, grip), parts,
        tuple(pin.number for pin in constraints.pins), infeasibility,
    )  # fmt: skip


def _candidate_points(body: RigidBody, parts: HeldParts) -> tuple[np.ndarray, np.ndarray]:
    """Points that digits may be told to touch, on all of the body or on parts, and normals."""
    regions = [*([None] * parts.is_anywhere()), *parts.all_regions()]
    drawn = []
    for region in regions:
        points, normals = surface_points(
            body,
            _NUM_POINTS if region is None else _NUM_POINTS_OF_PART,
            np.random.default_rng(0),
            edge_clearance=_EDGE_CLEARANCE,
            holds=None if region is None else region.holds,
        )
        if region is not None and len(points) == 0:
            raise InvalidValueError(
                f"held_by: no place of body '{body.name}' was found in {region.where}. Expected a "
                "centre on its surface, in its own frame, and a radius of some millimetres."
            )
        drawn.append((points, normals))
    point, normal = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
    return point, normal


def _policy(
    interval: CarryInterval,
    models: tuple[HandModel, ...],
    data: HoldData,
    times: np.ndarray,
    method: ContactSampling,
    grip: Grip,
    wraps: bool,
    schedule: DigitSchedule,
) -> Policy:
    shape = (len(times), len(data.hand_of_digit))
    chances = [np.full(shape, chance) for chance in CHANCES[method.strategy]]
    for preference in method.preferences:
        when = np.flatnonzero(frames_within(times, preference.start, preference.end))
        rows = np.array(digit_rows(interval, models, preference.digits))
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
        leave_free=idle_finger_probability(grip, method.leave_free),
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
    )
