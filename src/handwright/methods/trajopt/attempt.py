"""One attempt from one seed: a static start with noise, continuation, rounding, tightening."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.math import rotation
from handwright.methods.trajopt.build import Built, make_room
from handwright.methods.trajopt.descent import Descent, make_blocks
from handwright.methods.trajopt.gaits import LEAST_HELD, sampled_gait, start_origins
from handwright.methods.trajopt.measures import Measured, measure
from handwright.methods.trajopt.model import Weights
from handwright.methods.trajopt.quiet_terms import Quiet
from handwright.methods.trajopt.refine import refined_keys
from handwright.methods.trajopt.schedule import apply_schedule, eased, rounded
from handwright.methods.trajopt.stages import EXACT, FINE, LOOSE, TIGHT, quiet, weights

# Factors on the laws of contact and motion in the stages before rounding.
CONTINUATION = (0.02, 0.1, 1.0)
_FLOOR = 0.3
"""Least contact variable of hands in the first stage, from shortly before the first goal on: pulls
the hand in."""
# Tolerances of the passes on fine keys, with factors on goals and on smoothness.
_PASSES = ((EXACT, 10.0, 1.0), (FINE, 100.0, 0.1))
_HOPELESS = 100.0
"""Cost, after the tight pass and repair or after a pass on fine keys, from which on an attempt is
given up."""
_NOISE, _FINE_NOISE = 0.02, 0.004
"""Of coordinates and origins as a motion starts, rad and m."""
_DETOURS = 0.5
"""Share of starts with a detour of the wrist, of this size in m."""
_DETOUR = 0.15
_REPAIR_GAIN = 0.97
# Errors of a schedule that are looked at, the worst first.
_NUM_ERRORS = 20


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
    measured: Measured
    cost: float
    iterations: int
    is_balanced: bool
    """Somewhere the body is held by one or two contacts, which cannot keep it from turning."""

    @property
    def is_good(self) -> bool:
        """Whether the motion keeps the laws and meets its goals."""
        return self.measured.excess <= 1.0 and not self.is_balanced

    @property
    def cause(self) -> str:
        """What is wrong with it: a measure, or a sentence."""
        if self.measured.excess > 1.0 or not self.is_balanced:
            return self.measured.cause
        return "the body is balanced on one or two contacts"


def attempt(
    coarse: Built,
    fine: Built,
    seed: int | tuple[int, ...],
    recipe: Recipe,
    allowed: Bool[np.ndarray, "P N"],
    deadline: float = math.inf,
) -> Outcome:
    """One motion.

    Args:
        coarse: The problem, for finding a schedule of contacts.
        fine: The same with keys twice as dense, for the motion itself.
        seed: Of the noise.
        recipe: Iterations and shares.
        allowed: Contacts that may be used, by phase of ``coarse``.
        deadline: Of ``time.monotonic``; what has been reached by then is the outcome.
    """
    # It sets an environment variable when it is loaded, so not before it is needed.
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        work, is_on, loose_cost = _find_schedule(coarse, seed, recipe, allowed, deadline)
        keys = refined_keys(coarse, work.keys)
        is_on = np.repeat(is_on, 2, axis=0)
        finer = _descent(fine, apply_schedule(fine, keys, is_on))
        _rest_until_touched(fine, finer, is_on)
        if fine.is_turned_in_hand:
            _hold_softly(fine, finer)
        finer.iterations, finer.deadline = work.iterations, deadline
        cost = loose_cost
        # What is far off with loose tolerances is not worth tightening: the next start is.
        for tolerances, goal, calm in _PASSES:
            if cost >= _HOPELESS:
                break
            stage = weights(
                tolerances,
                is_frozen=True,
                friction=recipe.friction,
                squeeze=recipe.squeeze,
                goal=goal,
            )
            cost = finer.run(stage, quiet(fine, factor=calm), recipe.fine_iterations)
        measured = measure(fine, finer.keys, finer.room)
    return Outcome(finer.keys, measured, cost, finer.iterations, hangs(fine, is_on))


def _find_schedule(
    built: Built,
    seed: int | tuple[int, ...],
    recipe: Recipe,
    allowed: Bool[np.ndarray, "P N"],
    deadline: float,
) -> tuple[Descent, Bool[np.ndarray, "P N"], float]:
    """Continuation from a static start, rounding, and repair; with the cost."""
    m, calm = built.model, quiet(built)
    m.clearance[:], m.landing[:], m.easing[:] = 0.0, 0, 0
    rng = np.random.default_rng(seed)
    held = allowed
    if built.is_turned_in_hand:
        held = sampled_gait(built, rng, allowed)
        m.easing[:] = eased(held, is_cyclic=True)
    work = static_start(built, rng, held)
    work.deadline = deadline
    first_c = work.keys.shape[1] - m.num_contacts
    first = built.first_hold
    work.floor[first : len(allowed)] = np.where(built.may_grip & held[first:], _FLOOR, 0.0)
    work.keys[:, first_c:] = np.maximum(work.keys[:, first_c:], work.floor)
    # In the hand everything starts near where it has to be.
    for laws in CONTINUATION[1:] if built.is_turned_in_hand else CONTINUATION:
        stage = weights(
            LOOSE, laws=laws, is_frozen=False, friction=recipe.friction, squeeze=recipe.squeeze
        )
        work.run(stage, calm, recipe.stage_iterations)
        if not built.is_turned_in_hand:
            # Thumbs stay drawn in: without one, fingers balance the body instead of holding it.
            work.floor[:, m.contacts.squeeze < 1.0] = 0.0
    keys, is_on = rounded(built, work.keys, allowed)
    work.keys = apply_schedule(built, keys, is_on)
    _rest_until_touched(built, work, is_on)
    tight = weights(TIGHT, is_frozen=True, friction=recipe.friction, squeeze=recipe.squeeze)
    if built.is_turned_in_hand:
        # A gait is whole: one contact more or less does not mend it, another gait may.
        _hold_softly(built, work)
        return work, is_on, work.run(tight, calm, recipe.tight_iterations)
    cost = work.run(tight, calm, recipe.tight_iterations)
    return _repaired(built, work, (is_on, cost), (tight, calm), recipe, allowed)


def static_start(built: Built, rng: np.random.Generator, allowed: np.ndarray) -> Descent:
    """Everything stands still, but for noise; all contact variables are one half."""
    m = built.model
    nq, nc, count = m.num_coordinates, m.num_contacts, m.num_keys
    size = len(built.start)
    weight = m.body.mass * float(np.linalg.norm(m.gravity))
    forces, origins, c = (
        slice(2 * nq, 2 * nq + 3 * nc),
        slice(2 * nq + 3 * nc, size - nc),
        size - nc,
    )
    keys = np.tile(built.start, (count, 1))
    moves = slice(0 if m.is_cyclic else 1, count)
    # In the hand gaits differ from start to start, and the body lies where the fingers are.
    noise = _FINE_NOISE if built.is_turned_in_hand else _NOISE
    keys[moves, :nq] += noise * rng.normal(size=(count, nq))[moves]
    if rng.uniform() < _DETOURS and not m.is_cyclic:
        _add_detour(built, rng, keys)
    keys[:, origins] += noise * rng.normal(size=(count, 3 * nc))
    if built.is_turned_in_hand:
        keys[:, origins] += start_origins(built, allowed).reshape(count, -1)
    keys[:, forces] += 0.05 * weight * rng.normal(size=(count, 3 * nc))
    keys[: len(allowed), c:] = np.where(allowed, 0.5, 0.0)
    work = _descent(built, keys)
    work.fixed[: len(allowed), c:] |= ~allowed
    return work


def _rest_until_touched(built: Built, work: Descent, is_on: Bool[np.ndarray, "P N"]) -> None:
    """Keeps a body that lies on something where it is until a hand first touches it."""
    m = built.model
    if m.is_cyclic or not built.rests_at_start:
        return
    touched = np.flatnonzero(is_on[:, built.contact_hand >= 0].any(axis=1))
    last = int(touched[0]) if len(touched) else len(work.keys) - 1
    nq = m.num_coordinates
    for columns in (slice(nq - 6, nq), slice(2 * nq - 6, 2 * nq)):
        work.keys[: last + 1, columns] = built.start[columns]
        work.fixed[: last + 1, columns] = True


def _hold_softly(built: Built, work: Descent) -> None:
    """Lets forces of hands grow from zero and fade to it, so that others need not leap for them."""
    m = built.model
    hands = built.contact_hand >= 0
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


def _descent(built: Built, keys: Float[np.ndarray, "K n"]) -> Descent:
    """Descent from key states, with the start held."""
    m = built.model
    nq, nc = m.num_coordinates, m.num_contacts
    count, size = keys.shape
    weight = m.body.mass * float(np.linalg.norm(m.gravity))
    fixed = np.zeros((count, size), dtype=bool)
    if not m.is_cyclic:
        fixed[0, : 2 * nq] = True
        fixed[-1, size - nc :] = True
    # What enters the costs linearly may move far in one step; angles and origins may not.
    scale = np.ones(size)
    scale[:nq] = np.where(_is_linear(built), 2.0, 0.2)
    scale[nq : 2 * nq] = 5.0 * scale[:nq]
    scale[2 * nq : 2 * nq + 3 * nc] = 10.0 * weight
    scale[2 * nq + 3 * nc : size - nc], scale[size - nc :] = 0.05, 0.5
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


def hangs(built: Built, is_on: Bool[np.ndarray, "P N"]) -> bool:
    """Whether one or two contacts hold the body somewhere: they cannot keep it from turning."""
    hands = built.contact_hand >= 0
    held = is_on[:, hands].sum(axis=1)
    return bool(np.any((held > 0) & (held < LEAST_HELD) & ~is_on[:, ~hands].any(axis=1)))


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
    tried: set[tuple[int, int, bool]] = set()
    for _ in range(recipe.max_repairs):
        measured = measure(built, work.keys, work.room)
        if measured.excess < 3.0:
            break
        options = _switches(measured.contacts, is_on, allowed, built)
        option = next((o for o in options if o not in tried), None)
        if option is None:
            break
        tried.add(option)
        phase, contact, value = option
        trial = is_on.copy()
        trial[phase, contact] = value
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


def _switches(
    errors: np.ndarray, is_on: np.ndarray, allowed: np.ndarray, built: Built
) -> list[tuple[int, int, bool]]:
    """Changes of the schedule worth trying, the worst error first: off there, or on beside."""
    options: list[tuple[int, int, bool]] = []
    phases = len(is_on)
    worst = np.argsort(-errors, axis=None)[:_NUM_ERRORS]
    for flat in worst:
        k, j = np.unravel_index(int(flat), errors.shape)
        if errors[k, j] <= 1.0:
            break
        options.append((int(k), int(j), False))
        for beside in (k - 1, k + 1):
            at = beside % phases if built.model.is_cyclic else beside
            if 0 <= at < phases and not is_on[at, j] and allowed[at, j]:
                options.append((int(at), int(j), True))
    return options
