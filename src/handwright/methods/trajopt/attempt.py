"""One attempt from one seed: a static start with noise, continuation, rounding, tightening."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.model.goal_rows import with_samples_at
from handwright.methods.trajopt.model.model import Weights, with_radius
from handwright.methods.trajopt.model.transcribe import Built, make_room
from handwright.methods.trajopt.refine import refined_keys
from handwright.methods.trajopt.schedule.approach import add_approach
from handwright.methods.trajopt.schedule.gaits import sampled_gait, start_origins
from handwright.methods.trajopt.schedule.schedule import (
    LEAST_HOLD,
    apply_schedule,
    eased,
    first_touch,
    hangs,
    other_schedules,
    rounded,
)
from handwright.methods.trajopt.schedule.stages import EXACT, FINE, LOOSE, TIGHT, quiet, weights
from handwright.methods.trajopt.skin_fit import SkinFit, fit_skin
from handwright.methods.trajopt.solver.descent import Descent, make_blocks
from handwright.methods.trajopt.solver.measures import LIMITS, Measured, measure
from handwright.methods.trajopt.terms.contact import body_distance
from handwright.methods.trajopt.terms.regularization import Quiet

# Factors on the laws of contact and motion in the stages before rounding.
CONTINUATION = (0.02, 0.1, 1.0)
_FLOOR = 0.3
"""Least contact variable of hands from shortly before the first goal on: pulls them in. For those
that do not lead it holds in the first stage only, unless there is a gait."""
# Tolerances of the passes on fine keys, with factors on goals and on smoothness.
_PASSES = ((EXACT, 10.0, 1.0), (FINE, 100.0, 0.1))
_HOPELESS = 40.0, 100.0
"""Costs from which on an attempt is given up: after the tight pass and repair, and after a pass on
fine keys."""
_NOISE, _FINE_NOISE = 0.02, 0.004
"""Of coordinates and origins as a motion starts, rad and m."""
_DETOURS = 0.5
"""Share of starts with a detour of the wrist, of this size in m."""
_DETOUR = 0.15
_NUM_LEADING = 4
"""Contacts of a hand that are meant to hold: with one more than needed, pushes are withstood."""
_SKIN_OFF, _SKIN_WRONG = 3e-4, 9e-4
"""Gap or depth of the skin, m, from which on capsules are fitted to it, and a motion is no good."""
_NUM_MENDS, _LOST = 3, 200.0
"""Times that the last pass is run again, and the cost at which that is given up."""
_MENDED = 3.0
"""Excess of errors over their limits up to which that is worth while."""
_REPAIR_GAIN = 0.97
_PRESS = 0.5
"""Force with which digits press where goals put them on a body that lies, in weights of it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an attempt is made."""

    squeeze: float
    friction: float
    stage_iterations: int = 45
    tight_iterations: int = 40
    fine_iterations: int = 60
    repair_iterations: int = 20
    max_repairs: int = 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where an attempt ended."""

    keys: Float[np.ndarray, "K n"]
    radius: Float[np.ndarray, " C"]
    """Of the capsules, fitted to the skin, m."""
    measured: Measured
    cost: float
    iterations: int
    is_balanced: bool
    """Somewhere the body is held by one or two contacts, which cannot keep it from turning."""
    is_off_skin: bool
    """Somewhere the skin is too far from what its capsule touches, or too deep in it."""

    @property
    def is_good(self) -> bool:
        """Whether the motion keeps the laws and meets its goals."""
        return self.measured.excess <= 1.0 and not self.is_balanced and not self.is_off_skin

    @property
    def cause(self) -> str:
        """What is wrong with it: a measure, or a sentence."""
        if self.measured.excess <= 1.0 and self.is_balanced:
            return "the body is balanced on one or two contacts"
        if self.measured.excess <= 1.0 and self.is_off_skin:
            return "the skin is not where its capsules touch"
        return self.measured.cause


def _never() -> bool:
    return False


def attempt(
    coarse: Built,
    fine: Built,
    seed: int | tuple[int, ...],
    recipe: Recipe,
    allowed: Bool[np.ndarray, "P N"],
    is_over: Callable[[], bool] = _never,
) -> Outcome:
    """One motion.

    Args:
        coarse: The problem, for finding a schedule of contacts.
        fine: The same with keys twice as dense, for the motion itself.
        seed: Of the noise.
        recipe: Iterations and shares.
        allowed: Contacts that may be used, by phase of ``coarse``.
        is_over: Says when the time is up; what has been reached by then is the outcome.
    """
    # It sets an environment variable when it is loaded, so not before it is needed.
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        work, is_on, loose_cost = _find_schedule(coarse, seed, recipe, allowed, is_over)
        keys = refined_keys(coarse, work.keys)
        is_on = np.repeat(is_on, 2, axis=0)
        finer = _descent(fine, apply_schedule(fine, keys, is_on))
        _let_lie(fine, finer, first_touch(fine, is_on))
        _press_where_asked(fine, finer, is_on)
        _hold_softly(fine, finer)
        finer.iterations, finer.is_over = work.iterations, is_over
        cost, skin = loose_cost, None
        # What is far off with loose tolerances is not worth tightening: the next start is.
        for (tolerances, goal, calm), hopeless in zip(_PASSES, _HOPELESS, strict=True):
            if cost >= hopeless:
                measured = measure(fine, finer.keys, finer.room)
                break
            stage = weights(
                tolerances,
                is_frozen=True,
                friction=recipe.friction,
                squeeze=recipe.squeeze,
                goal=goal,
            )
            calm_stage = quiet(fine, factor=calm, is_on=is_on)
            cost = finer.run(stage, calm_stage, recipe.fine_iterations)
            # What is quick passes through thin things between two moments.
            measured = measure(fine, finer.keys, finer.room)
            finer.model = with_samples_at(fine.model, measured.depth > LIMITS["penetration"])
        else:
            if measured.excess < _MENDED:
                final = _Final(cost, measured, fit_skin(fine, finer.keys))
                cost, measured, skin = _mended(fine, finer, (stage, calm_stage), recipe, final)
    return Outcome(
        keys=finer.keys,
        radius=finer.model.skeleton.radius,
        measured=measured,
        cost=cost,
        iterations=finer.iterations,
        is_balanced=hangs(fine, is_on),
        is_off_skin=skin is None or not skin.is_within(_SKIN_WRONG),
    )


class _Final(NamedTuple):
    """What the last pass came to."""

    cost: float
    measured: Measured
    skin: SkinFit

    @property
    def badness(self) -> tuple[bool, float]:
        """Sorts what may be returned before what may not, and then by the worst error of skin."""
        error = max(self.skin.gap, self.skin.depth)
        is_good = self.measured.excess <= 1.0 and error <= _SKIN_WRONG
        return not is_good, error if is_good else max(self.measured.excess, error / _SKIN_WRONG)


def _mended(
    fine: Built,
    finer: Descent,
    stage: tuple[Weights, Quiet],
    recipe: Recipe,
    found: _Final,
) -> _Final:
    """The last pass once more, with what it left out, until nothing is wrong.

    Capsules are fitted to the skin where it is off, and moments at which something overlaps between
    two samples become samples. The model of ``finer`` has the radii that go with its keys.
    """
    best, now = found, found
    kept = finer.keys, finer.model
    wanted = np.zeros(len(found.measured.depth), dtype=bool)
    for _ in range(_NUM_MENDS):
        # In a gait digits touch in many places, which one radius does not fit.
        is_fitted = fine.is_turned_in_hand or now.skin.is_within(_SKIN_OFF)
        if (is_fitted and now.measured.excess <= 1.0) or now.cost >= _LOST:
            break
        radius = finer.model.skeleton.radius - (0.0 if is_fitted else now.skin.excess)
        fitted = fine._replace(model=with_radius(fine.model, radius))
        wanted |= now.measured.depth > LIMITS["penetration"]
        finer.model = with_samples_at(fitted.model, wanted)
        cost = finer.run(*stage, recipe.fine_iterations)
        now = _Final(cost, measure(fitted, finer.keys, finer.room), fit_skin(fitted, finer.keys))
        if now.badness < best.badness:
            best, kept = now, (finer.keys, finer.model)
    finer.keys, finer.model = kept
    return best


def _find_schedule(
    built: Built,
    seed: int | tuple[int, ...],
    recipe: Recipe,
    allowed: Bool[np.ndarray, "P N"],
    is_over: Callable[[], bool],
) -> tuple[Descent, Bool[np.ndarray, "P N"], float]:
    """Continuation from a static start, rounding, and repair; with the cost."""
    m, calm = built.model, quiet(built)
    m.clearance[:], m.landing[:], m.easing[:], m.is_pushed[:] = 0.0, 0, 0, False
    rng = np.random.default_rng(seed)
    held = allowed
    if built.is_turned_in_hand:
        held = sampled_gait(built, rng, allowed)
        m.easing[:] = eased(held, is_cyclic=True)
    work = static_start(built, rng, held)
    work.is_over = is_over
    first_c = m.first_share
    first = built.first_hold
    stroked = np.flatnonzero(built.required[:, built.contact_hand < 0].any(axis=1))
    _let_lie(built, work, min([first, *stroked.tolist()]))
    work.floor[first : len(allowed)] = np.where(built.may_grip & held[first:], _FLOOR, 0.0)
    work.keys[:, first_c:] = np.maximum(work.keys[:, first_c:], work.floor)
    leads = built.may_grip
    # In the hand everything starts near where it has to be.
    for laws in CONTINUATION[1:] if built.is_turned_in_hand else CONTINUATION:
        stage = weights(
            LOOSE, laws=laws, is_frozen=False, friction=recipe.friction, squeeze=recipe.squeeze
        )
        work.run(stage, calm, recipe.stage_iterations)
        if laws == CONTINUATION[0]:
            leads = _leading(built, work.keys)
            work.floor[:, ~leads] = 0.0
    keys, is_on = rounded(built, work.keys, allowed, leads)
    work.keys = apply_schedule(built, keys, is_on)
    _let_lie(built, work, first_touch(built, is_on))
    tight = weights(TIGHT, is_frozen=True, friction=recipe.friction, squeeze=recipe.squeeze)
    if built.is_turned_in_hand:
        # A gait is whole: one contact more or less does not mend it, another gait may.
        _hold_softly(built, work)
        return work, is_on, work.run(tight, calm, recipe.tight_iterations)
    cost = work.run(tight, calm, recipe.tight_iterations)
    return _repaired(built, work, (is_on, cost), (tight, calm), recipe, allowed)


def _leading(built: Built, keys: Float[np.ndarray, "K n"]) -> Bool[np.ndarray, " N"]:
    """Contacts that stay drawn in: thumbs, and the strongest others, so many for each hand.

    Without a thumb, fingers balance the body instead of holding it; with less than three contacts
    it can turn. Hands that pass a body round and round, at no set times, may have fewer.
    """
    m = built.model
    nq, nc = m.num_coordinates, m.num_contacts
    force = np.linalg.norm(keys[:, 2 * nq : 2 * nq + 3 * nc].reshape(-1, nc, 3), axis=2)
    load = (force * keys[:, -nc:])[built.first_hold :].sum(axis=0)
    leads = np.asarray(m.contacts.squeeze >= 1.0)
    if m.is_cyclic and not built.in_spans.any():
        return leads
    for h in range(len(built.hands)):
        own = (built.contact_hand == h) & built.may_grip
        # One more than needed is a digit: a body rolls on a palm.
        for count, fits in ((LEAST_HOLD, own), (_NUM_LEADING, own & (m.contacts.pad_joint >= 0))):
            others = np.flatnonzero(fits & ~leads)
            missing = count - int(leads[own].sum())
            leads[others[np.argsort(-load[others])[: max(missing, 0)]]] = True
    return leads


def static_start(built: Built, rng: np.random.Generator, allowed: np.ndarray) -> Descent:
    """Stands still but for noise, ways around things and gaits; contacts are undecided."""
    m = built.model
    nq, nc, count = m.num_coordinates, m.num_contacts, m.num_keys
    weight = m.weight
    forces, origins, c = (
        slice(2 * nq, 2 * nq + 3 * nc),
        slice(2 * nq + 3 * nc, 2 * nq + 6 * nc),
        m.first_share,
    )
    keys = np.tile(built.start, (count, 1))
    moves = slice(0 if m.is_cyclic else 1, count)
    # In the hand gaits differ from start to start, and the body lies where the fingers are.
    noise = _FINE_NOISE if built.is_turned_in_hand else _NOISE
    keys[moves, :nq] += noise * rng.normal(size=(count, nq))[moves]
    takes_detour = rng.uniform() < _DETOURS
    if not m.is_cyclic and not add_approach(built, rng, keys) and takes_detour:
        _add_detour(built, rng, keys)
        _carry_wrists(built, keys)
    keys[:, origins] += noise * rng.normal(size=(count, 3 * nc))
    if built.is_turned_in_hand:
        keys[:, origins] += start_origins(built, allowed).reshape(count, -1)
    keys[:, forces] += 0.05 * weight * rng.normal(size=(count, 3 * nc))
    keys[: len(allowed), c:] = np.where(built.required, 1.0, np.where(allowed, 0.5, 0.0))
    work = _descent(built, keys)
    work.fixed[: len(allowed), c:] |= ~allowed | built.required
    return work


def _let_lie(built: Built, work: Descent, until: int) -> None:
    """Keeps a body that lies on something where it is up to a key, and lets it move from there."""
    m = built.model
    if m.is_cyclic or not built.rests_on.any():
        return
    nq = m.num_coordinates
    for columns in (slice(nq - 6, nq), slice(2 * nq - 6, 2 * nq)):
        work.keys[: until + 1, columns] = built.start[columns]
        work.fixed[: until + 1, columns] = True
        work.fixed[until + 1 :, columns] = False


def _press_where_asked(built: Built, work: Descent, is_on: Bool[np.ndarray, "P N"]) -> None:
    """Has digits press on a body that lies where goals put them on it, softly at first.

    Costs ask for small forces, so without this they would touch it and no more. Forces are
    continuous, and so is what lies below: a press begins and ends with no force.
    """
    m = built.model
    if built.first_hold < len(is_on) or not built.rests_on.any():
        return
    nq, nc = m.num_coordinates, m.num_contacts
    weight = m.weight
    presses = is_on & built.required & (built.contact_hand >= 0)
    presses[1:] &= is_on[:-1]
    for k, j in np.argwhere(presses[1:]) + np.array([1, 0]):
        force = slice(2 * nq + 3 * j, 2 * nq + 3 * j + 3)
        origin = work.keys[k, 2 * nq + 3 * nc + 3 * j : 2 * nq + 3 * nc + 3 * j + 3]
        outward = np.array(body_distance(Packed(m), *origin)[1:])
        work.keys[k, force] = -_PRESS * weight * (m.body.turn @ outward)
        work.fixed[k, force] = True


def _hold_softly(built: Built, work: Descent) -> None:
    """Lets forces of hands grow from zero and fade to it.

    So others need not leap for them in a gait, nor the body as it flies off and is caught.
    """
    m = built.model
    hands = (built.contact_hand >= 0) & (built.is_turned_in_hand | built.in_spans)
    begins, ends = (m.easing % 2 == 1) & hands, (m.easing >= 2) & hands
    keys, contacts = np.nonzero(begins | np.roll(ends, 1, axis=0))
    for i in range(3):
        columns = 2 * m.num_coordinates + 3 * contacts + i
        work.keys[keys, columns] = 0.0
        work.fixed[keys, columns] = True


def _add_detour(built: Built, rng: np.random.Generator, keys: Float[np.ndarray, "K n"]) -> None:
    """Takes free wrists on an arc, mostly upwards, over what may stand in the way."""
    arc = np.sin(np.pi * np.linspace(0.0, 1.0, built.first_hold + 2))[: len(keys)]
    for hand in built.hands:
        if hand.is_free:
            way = rng.normal(size=3) * _DETOUR * [0.5, 0.5, 1.0]
            way[2] = abs(way[2])
            turn = rotation.to_matrix(hand.root.wxyz)
            first = hand.first_coordinate
            keys[: len(arc), first : first + 3] += np.outer(arc, turn.T @ way)


def _carry_wrists(built: Built, keys: Float[np.ndarray, "K n"]) -> None:
    """Turns free wrists as goals turn the body, as far as they can."""
    m = built.model
    for hand, wrist in zip(built.hands, built.carried, strict=True):
        own = slice(hand.first_coordinate, hand.first_coordinate + 6)
        if hand.is_free:
            keys[:, own] += np.clip(wrist, m.lower[own], m.upper[own])


def _descent(built: Built, keys: Float[np.ndarray, "K n"]) -> Descent:
    """Descent from key states, with the start held."""
    m = built.model
    nq, nc = m.num_coordinates, m.num_contacts
    count, size = keys.shape
    weight = m.weight
    fixed = np.zeros((count, size), dtype=bool)
    if not m.is_cyclic:
        fixed[0, : 2 * nq] = True
        fixed[-1, m.first_share :] = True
    # What enters the costs linearly may move far in one step; angles and origins may not.
    scale = np.ones(size)
    scale[:nq] = np.where(_is_linear(built), 2.0, 0.2)
    scale[nq : 2 * nq] = 5.0 * scale[:nq]
    scale[2 * nq : 2 * nq + 3 * nc] = 10.0 * weight
    scale[2 * nq + 3 * nc : 2 * nq + 6 * nc] = 0.05
    scale[2 * nq + 6 * nc : m.shift], scale[m.shift] = 10.0 * weight, 0.2 * m.phase_time
    scale[m.first_share :] = 0.5
    return Descent(
        m, make_room(m), keys, fixed, np.zeros((count, nc)), make_blocks(count, size), scale
    )


def _is_linear(built: Built) -> np.ndarray:
    """Coordinates that shift a whole hand or the body."""
    f, nq = built.model.forest, built.model.num_coordinates
    is_linear = np.zeros(nq, dtype=bool)
    is_linear[nq - 6 : nq - 3] = True
    is_linear[f.driver[f.is_slide & (f.driver >= 0)]] = True
    return is_linear


def _repaired(
    built: Built,
    work: Descent,
    found: tuple[Bool[np.ndarray, "P N"], float],
    stage: tuple[Weights, Quiet],
    recipe: Recipe,
    allowed: Bool[np.ndarray, "P N"],
) -> tuple[Descent, Bool[np.ndarray, "P N"], float]:
    """Switches single contacts where they break the laws most, and keeps what lowers the cost."""
    is_on, cost = found
    tried = [is_on]
    for _ in range(recipe.max_repairs):
        measured = measure(built, work.keys, work.room)
        if measured.excess < 3.0:
            break
        options = other_schedules(built, is_on, measured.contacts, allowed)
        trial = next((o for o in options if not any((o == one).all() for one in tried)), None)
        if trial is None:
            break
        tried.append(trial)
        if hangs(built, trial) and not hangs(built, is_on):
            continue
        kept = work.keys
        work.keys = apply_schedule(built, kept, trial)
        lower = work.run(*stage, recipe.repair_iterations)
        if lower < _REPAIR_GAIN * cost:
            is_on, cost = trial, lower
        else:
            work.keys = apply_schedule(built, kept, is_on)
    return work, is_on, cost
