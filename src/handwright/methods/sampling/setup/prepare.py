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
    apply_limits,
    digit_rows,
    find_wishes,
    narrow_kept,
    obey,
)
from handwright.methods.sampling.constraints.grips import capsule_prices, leave_free_of, suited
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
from handwright.methods.sampling.constraints.schedule import Orders
from handwright.methods.sampling.search.plan import Policy
from handwright.methods.sampling.search.step import Steps
from handwright.methods.sampling.search.workspace import Room, make_room
from handwright.methods.sampling.setup.candidates import (
    Candidates,
    key_frames,
    make_candidates,
    surface_points,
)
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne, hands_as_one
from handwright.methods.sampling.setup.hold_data import Limits, Stage, make_stage, part_of_stage
from handwright.methods.sampling.setup.intervals import Holding, find_holdings
from handwright.methods.sampling.setup.phalanges import is_at_palm, wrapping

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

# Frames of the hand on the body before it is needed and after, if there are as many.
_LEAD, _TAIL = 4, 2
# Frames and turn, rad, from one key frame to the next, at most.
_KEY_STEP, _KEY_TURN = 6, 0.35
_PLACES = 700
# The same on each part that digits are told to hold.
_PLACES_OF_PART = 400
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


class Prepared(NamedTuple):
    """One holding, ready to be searched."""

    holding: Holding
    models: tuple[HandModel, ...]
    hands: HandsAsOne
    stage: Stage
    """All frames of the holding's own time, approach and retreat included."""
    strict: Stage
    """The same, to be judged by."""
    times: np.ndarray
    """(T,) of the stage, s."""
    first: int
    """Frame of the problem at which the stage starts."""
    start: int
    """Frame of the problem at which the search starts."""
    stop: int
    """One after the frame at which it ends."""
    searched: Stage
    """The frames of the search."""
    candidates: Candidates
    steps: Steps
    policy: Policy
    room: Room
    body: RigidBody
    distance: ExactDistance
    skin_depth: float
    """To which soft skin of digits may sink in, m."""
    price: np.ndarray
    """(C,) of force at each part of the hands, where forces leave a choice."""
    parts: HeldParts
    """Where digits are told to hold the body."""
    pins: tuple[int, ...]
    """Numbers of the pins that are for this holding."""
    trouble: str
    """Why the wishes of an artist cannot be met; empty if they can."""


def joints_of(one: Prepared, h: int) -> slice:
    """Columns of one hand among the joints of all hands of a holding."""
    first = int(one.stage.offset[h])
    return slice(first, first + one.models[h].num_joints)


def root_of(one: Prepared, h: int) -> Pose:
    """(T,) of a hand in the body's frame, over all frames of the stage."""
    stage = one.stage
    return Pose(stage.root_position[:, h].copy(), rotation.from_matrix(stage.root_rotation[:, h]))


def prepare(problem: Problem, method: ContactSampling) -> list[Prepared]:
    """Makes all holdings of a problem ready."""
    holdings = find_holdings(problem, cutoff_hz=method.smoothing_hz)
    count = len(problem.times)
    prepared = []
    for number, holding in enumerate(holdings):
        earlier = [h.stop for h in holdings[:number] if set(h.hands) & set(holding.hands)]
        later = [h.start for h in holdings[number + 1 :] if set(h.hands) & set(holding.hands)]
        # Hands that hold several bodies in turn change over half-way.
        first = (max(earlier) + holding.start) // 2 if earlier else 0
        last = (holding.stop + min(later)) // 2 if later else count
        if holding.hands:
            prepared.append(_prepare_one(problem, method, holding, first, last))
    used = {number for one in prepared for number in one.pins}
    for number, pin in enumerate(method.pins):
        if prepared and number not in used:
            spans = ", ".join(
                f"{problem.times[one.start]:.3g} to {problem.times[one.stop - 1]:.3g} s by "
                f"{' and '.join(one.holding.hands)}"
                for one in prepared
            )
            trouble = (
                f"Pin {number} ({pin.digit} from {pin.start:g} s) is at a time at which its hand "
                f"holds nothing; bodies are held {spans}. Start it then."
            )
            prepared[0] = prepared[0]._replace(trouble=trouble)
            break
    return prepared


def _prepare_one(
    problem: Problem, method: ContactSampling, holding: Holding, first: int, last: int
) -> Prepared:
    times = problem.times[first:last]
    step = float(np.median(np.diff(problem.times)))
    models = tuple(problem.hands[name] for name in holding.hands)
    hands = hands_as_one(models, _SKIN_SPACING)
    body = problem.bodies[holding.body]
    weight = body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0)
    skin_depth = _SKIN_SHARE * method.soft_tissue
    limits = Limits(
        gap=9e-4,
        penetration=6e-4 + method.soft_tissue,
        digits=9e-4,
        anchor=1.2e-3,
        slip=0.8 * STATIC_SPEED * step,
        shear=_SHEAR_SHARES[0] * method.skin_stretch,
        step=method.finger_speed * step,
        force=max(method.max_force, _EASY_FORCE / weight),
        friction_margin=method.friction_margin,
        max_samples=_SEARCH_SAMPLES,
    )
    stage = make_stage(
        problem,
        body,
        problem.track(holding.body).at(times),
        [problem.track(name).at(times) for name in holding.hands],
        times,
        hands,
        limits,
        cutoff_hz=method.smoothing_hz,
        pad_depth=_PAD_SHARE * method.soft_tissue,
        skin_depth=skin_depth,
        fills_hollows=method.treat_as_solid,
    )
    wraps = method.grip != "precision" and is_at_palm(stage, models)
    grip: Grip = "power" if wraps else method.grip
    if wraps:
        stage = wrapping(stage, models, _PAD_SHARE * method.soft_tissue)
    apply_limits(stage, hands, holding, models, times, method)
    stage = narrow_kept(stage, holding, models, times, method, SLACK)
    strict = stage._replace(
        limits=limits._replace(
            gap=_JUDGED_GAP,
            slip=0.9 * STATIC_SPEED * step,
            shear=_SHEAR_SHARES[1] * method.skin_stretch,
            penetration=8e-4 + method.soft_tissue,
            max_samples=_JUDGE_SAMPLES,
            friction_margin=0.98,
        )
    )
    start = max(holding.start - _LEAD, first)
    stop = min(holding.stop + _TAIL, last)
    looser = stage
    if method.kept:
        # What is kept has passed the judge, and nothing can be spared for smoothing there.
        looser = looser._replace(
            limits=strict.limits._replace(slip=STATIC_SPEED * step, max_samples=_SEARCH_SAMPLES)
        )
    searched = part_of_stage(looser, start - first, stop - first)
    room = make_room(stage)
    parts = find_held_parts(body, holding, models, method)
    point, normal = _places(body, parts)
    if method.treat_as_solid:
        is_outside = sample_field(stage.field, point)[0] > -_OFF_SURFACE
        point, normal = point[is_outside], normal[is_outside]
    for ball in method.forbidden:
        far = np.linalg.norm(point - np.array(ball.center), axis=1) > ball.radius
        point, normal = point[far], normal[far]
    distance = ExactDistance.from_body(body)
    own_times = problem.times[start:stop]
    wishes = find_wishes(searched, holding, models, own_times, method, distance)
    frames = np.union1d(key_frames(searched.root_rotation, _KEY_STEP, _KEY_TURN), wishes.frames)
    candidates = make_candidates(
        searched,
        models,
        np.concatenate([point, wishes.point]),
        np.concatenate([normal, wishes.normal]),
        frames,
        room,
        skin_depth=skin_depth,
    )
    candidates = suited(searched, room, candidates, grip)
    parts, candidates = keep_to_parts(parts, candidates, stage.hand_of_digit)
    candidates, orders, trouble = obey(searched, room, candidates, wishes, start)
    for pin in wishes.pins:
        if parts.strays(pin.digit, pin.point[None], pin.normal[None]):
            trouble = (
                f"{pin.text} lies beside the part that grasp_region or grasp_regions gives this "
                "digit. Move the pin, or name the part for other digits."
            )
    policy = _policy(holding, models, searched, own_times, method, grip, wraps, orders)
    steps = Steps(
        price=np.ones(policy.slide.shape),
        free_price=method.idle_force_weight,
        lift=_LIFT,
        alone=stage.hold._replace(digits=0.0),
    )
    return Prepared(
        holding, models, hands, stage, strict, times, first, start, stop, searched, candidates,
        steps, policy, room, body, distance, skin_depth, capsule_prices(stage, grip), parts,
        tuple(pin.number for pin in wishes.pins), trouble,
    )  # fmt: skip


def _places(body: RigidBody, parts: HeldParts) -> tuple[np.ndarray, np.ndarray]:
    """Points that digits may be told to touch, on all of the body or on parts, and normals."""
    regions = [*([None] * parts.is_anywhere()), *parts.all_regions()]
    drawn = []
    for region in regions:
        points, normals = surface_points(
            body,
            _PLACES if region is None else _PLACES_OF_PART,
            np.random.default_rng(0),
            edge_clearance=_EDGE_CLEARANCE,
            holds=None if region is None else region.holds,
        )
        if region is not None and len(points) == 0:
            raise InvalidValueError(
                f"grasp_regions: no place of body '{body.name}' was found in {region.where}. "
                "Expected a centre on its surface, in its own frame, and a radius of some "
                "millimetres."
            )
        drawn.append((points, normals))
    point, normal = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
    return point, normal


def _policy(
    holding: Holding,
    models: tuple[HandModel, ...],
    stage: Stage,
    times: np.ndarray,
    method: ContactSampling,
    grip: Grip,
    wraps: bool,
    orders: Orders,
) -> Policy:
    shape = (len(times), len(stage.hand_of_digit))
    chances = [np.full(shape, chance) for chance in CHANCES[method.strategy]]
    for preference in method.preferences:
        when = np.flatnonzero(frames_within(times, preference.start, preference.end))
        rows = np.array(digit_rows(holding, models, preference.digits))
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
        leave_free=leave_free_of(grip, method.idle_finger_probability),
        slide_step=0.05 * step,
        flight=max(round(_FLIGHT_FRAMES * haste), round(method.relocation_time / step)),
        stride=_STRIDE / haste,
        look_ahead=0 if method.baseline else max(1, round(0.33 / step)),
        comfort=method.comfort,
        lasting=_LASTING_STATIC if method.strategy == "static" else _LASTING,
        grasp_tries=20 if method.baseline else 120,
        is_informed=not method.baseline,
        wraps=wraps,
        orders=orders,
    )
