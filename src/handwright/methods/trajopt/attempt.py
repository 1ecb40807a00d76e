"""One attempt from one seed: a schedule of contacts, then passes on fine keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.goal_rows import with_samples_at
from handwright.methods.trajopt.model.model import ResidualWeights, with_radius
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_workspace
from handwright.methods.trajopt.schedule.schedule import (
    apply_schedule,
    first_touch,
    has_unstable_hold,
)
from handwright.methods.trajopt.schedule.search import AttemptSettings, find_schedule
from handwright.methods.trajopt.schedule.stage_weights import EXACT, FINE, regularization_weights
from handwright.methods.trajopt.schedule.start import (
    fix_forces_at_hold_ends,
    fix_press_forces,
    fix_resting_body,
    make_descent,
)
from handwright.methods.trajopt.skin_fit import SkinFit, fit_skin
from handwright.methods.trajopt.solver.descent import Descent, never
from handwright.methods.trajopt.solver.measures import LIMITS, MotionErrors, measure_errors
from handwright.methods.trajopt.solver.system import fill_sample
from handwright.methods.trajopt.terms.regularization import RegularizationWeights

# Tolerances of the passes on fine keys, with factors on goals and on smoothness.
_PASSES = ((EXACT, 10.0, 1.0), (FINE, 100.0, 0.1))
_HOPELESS = 40.0, 100.0
"""Costs from which on an attempt is given up: before the first pass on fine keys, and after it."""
_SKIN_ERROR, _MAX_SKIN_ERROR = 3e-4, 9e-4
"""Gap or depth of the skin, m, from which on capsules are fitted to it, and from which on a motion
is not returned."""
_MAX_RERUNS, _MAX_RERUN_COST = 3, 200.0
"""Times that the last pass is run again at most, and the cost at which that is given up."""
_MAX_RERUN_EXCESS = 3.0
"""Excess of errors over their limits up to which it is worth running the last pass again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The motion that an attempt ended with."""

    keys: Float[np.ndarray, "K n"]
    """Key states of the fine transcription."""
    radius: Float[np.ndarray, " C"]
    """Radii of the capsules, fitted to the skin, m."""
    measured: MotionErrors
    """Errors of the motion."""
    cost: float
    """Cost of the motion in the last pass."""
    iterations: int
    """Iterations of all stages and passes."""
    is_balanced: bool
    """Whether the body is somewhere held by one or two contacts, which cannot stop it rotating."""
    is_off_skin: bool
    """Whether the skin is somewhere too far from what its capsule touches, or too deep in it."""

    @property
    def is_good(self) -> bool:
        """Whether the motion satisfies the laws of motion and meets its goals."""
        return self.measured.excess <= 1.0 and not self.is_balanced and not self.is_off_skin

    @property
    def cause(self) -> str:
        """What is wrong with the motion: the name of a measure, or a clause."""
        if self.measured.excess <= 1.0 and self.is_balanced:
            return "the body is balanced on one or two contacts"
        if self.measured.excess <= 1.0 and self.is_off_skin:
            return "the skin is not where its capsules touch"
        return self.measured.cause


def attempt(
    coarse: Transcription,
    fine: Transcription,
    seed: int | tuple[int, ...],
    settings: AttemptSettings,
    is_over: Callable[[], bool] = never,
) -> Outcome:
    """Optimises one motion.

    Args:
        coarse: The problem, for finding a schedule of contacts.
        fine: The same with keys twice as dense, for the motion itself.
        seed: Random seed of the start.
        settings: Limits of iterations, and shares.
        is_over: Says when the time is up; the outcome is what has been reached by then.
    """
    # This module sets an environment variable when it is loaded, so it is not loaded earlier.
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        found = find_schedule(coarse, seed, settings, is_over)
        is_on = np.repeat(found.is_on, 2, axis=0)
        keys = apply_schedule(fine, refined_keys(coarse, found.descent.keys), is_on)
        descent = make_descent(fine, keys)
        fix_resting_body(fine, descent, first_touch(fine, is_on))
        fix_press_forces(fine, descent, is_on)
        fix_forces_at_hold_ends(fine, descent)
        descent.iterations, descent.is_over = found.descent.iterations, is_over
        cost, measured, skin = _run_fine_passes(fine, descent, settings, is_on, found.cost)
    return Outcome(
        keys=descent.keys,
        radius=descent.model.skeleton.radius,
        measured=measured,
        cost=cost,
        iterations=descent.iterations,
        is_balanced=has_unstable_hold(fine, is_on),
        is_off_skin=skin is None or not skin.is_within(_MAX_SKIN_ERROR),
    )


def refined_keys(
    transcription: Transcription, keys: Float[np.ndarray, "K n"]
) -> Float[np.ndarray, "L n"]:
    """Key states with one more in the middle of every phase; the motion stays as it is.

    Forces are continuous at keys, so accelerations of a held body are too. With coarse keys the
    body can neither leave the table gently nor stop gently, and floats; passes on finer keys
    correct that.
    """
    m, work = transcription.model, make_workspace(transcription.model)
    packed, packed_work = Packed(m), Packed(work)
    dense = np.repeat(keys, 2, axis=0)[: 2 * m.num_phases + (not m.is_cyclic)]
    for k in range(m.num_phases):
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, packed_work)
        dense[2 * k + 1] = work.z[: keys.shape[1]]
    return dense


class _PassResult(NamedTuple):
    """What the last pass on fine keys has reached."""

    cost: float
    measured: MotionErrors
    skin: SkinFit

    @property
    def rank(self) -> tuple[bool, float]:
        """Sorts motions that may be returned before others, and then by their worst error."""
        error = max(self.skin.gap, self.skin.depth)
        is_good = self.measured.excess <= 1.0 and error <= _MAX_SKIN_ERROR
        relative = max(self.measured.excess, error / _MAX_SKIN_ERROR)
        return not is_good, error if is_good else relative


def _run_fine_passes(
    fine: Transcription,
    descent: Descent,
    settings: AttemptSettings,
    is_on: Bool[np.ndarray, "P N"],
    cost: float,
) -> tuple[float, MotionErrors, SkinFit | None]:
    """Tightens the tolerances pass by pass, starting from the cost of the coarse motion.

    Returns:
        The cost, the errors, and how the skin touches; None if the motion is too bad to look at it.
    """
    # It is not worth tightening what is far off with loose tolerances: the next start is better.
    for (tolerances, goal, smoothness), hopeless in zip(_PASSES, _HOPELESS, strict=True):
        if cost >= hopeless:
            return cost, measure_errors(fine, descent.keys, descent.work), None
        stage = settings.weights(tolerances, is_frozen=True, goal=goal)
        regularization = regularization_weights(fine, factor=smoothness, is_on=is_on)
        cost = descent.run(stage, regularization, settings.fine_iterations)
        # A fast body passes through thin things between two samples.
        measured = measure_errors(fine, descent.keys, descent.work)
        descent.model = with_samples_at(fine.model, measured.depth > LIMITS["penetration"])
    if measured.excess >= _MAX_RERUN_EXCESS:
        return cost, measured, None
    found = _PassResult(cost, measured, fit_skin(fine, descent.keys))
    return _rerun_last_pass(fine, descent, (stage, regularization), settings, found)


def _rerun_last_pass(
    fine: Transcription,
    descent: Descent,
    stage: tuple[ResidualWeights, RegularizationWeights],
    settings: AttemptSettings,
    found: _PassResult,
) -> _PassResult:
    """Runs the last pass again, with what it had left out, until nothing is wrong.

    Capsules are fitted to the skin where it is off, and moments at which something overlaps between
    two samples become samples. The model of ``descent`` ends with the radii of its keys.
    """
    best = now = found
    kept = descent.keys, descent.model
    wanted = np.zeros(len(found.measured.depth), dtype=bool)
    for _ in range(_MAX_RERUNS):
        # In a gait a digit touches with many parts, which one radius does not fit.
        is_fitted = fine.is_turned_in_hand or now.skin.is_within(_SKIN_ERROR)
        if (is_fitted and now.measured.excess <= 1.0) or now.cost >= _MAX_RERUN_COST:
            break
        radius = descent.model.skeleton.radius - (0.0 if is_fitted else now.skin.excess)
        fitted = fine._replace(model=with_radius(fine.model, radius))
        wanted |= now.measured.depth > LIMITS["penetration"]
        descent.model = with_samples_at(fitted.model, wanted)
        cost = descent.run(*stage, settings.fine_iterations)
        measured = measure_errors(fitted, descent.keys, descent.work)
        now = _PassResult(cost, measured, fit_skin(fitted, descent.keys))
        if now.rank < best.rank:
            best, kept = now, (descent.keys, descent.model)
    descent.keys, descent.model = kept
    return best
