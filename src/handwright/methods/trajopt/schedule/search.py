"""The search for a schedule: continuation from a static start, rounding, and repair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.methods.trajopt.model.model import ResidualWeights
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.schedule.schedule import (
    LEAST_HOLD,
    apply_schedule,
    clear_schedule,
    first_touch,
    has_unstable_hold,
    hold_transitions,
    other_schedules,
    round_contacts,
)
from handwright.methods.trajopt.schedule.stage_weights import (
    LOOSE,
    TIGHT,
    StageTolerances,
    regularization_weights,
    stage_weights,
)
from handwright.methods.trajopt.schedule.start import (
    fix_forces_at_hold_ends,
    fix_resting_body,
    sampled_gait,
    static_start,
)
from handwright.methods.trajopt.solver.descent import Descent
from handwright.methods.trajopt.solver.measures import measure_errors
from handwright.methods.trajopt.terms.regularization import RegularizationWeights

# Factors on the laws of contact and motion in the stages before rounding.
CONTINUATION = (0.02, 0.1, 1.0)
_FLOOR = 0.3
"""Least contact variable of hands from shortly before the first goal on, which draws them to the
body. For contacts that do not lead it holds in the first stage only, unless there is a gait."""
_NUM_LEADING = 4
"""Contacts of a hand that are meant to hold: with one more than needed, pushes are resisted."""
_REPAIR_EXCESS = 3.0
"""Largest error over its limit from which on a schedule is repaired."""
_REPAIR_GAIN = 0.97
"""Share of the cost below which another schedule is taken instead."""


@dataclass(frozen=True, slots=True)
class AttemptSettings:
    """Shares and limits of iterations that every attempt of a method uses."""

    squeeze: float
    """Least force of a thumb that touches, in weights of the body."""
    friction: float
    """Share of the friction that may be used."""
    stage_iterations: int = 45
    """Most iterations of each stage before contact variables are rounded."""
    tight_iterations: int = 40
    """Most iterations with the first schedule."""
    fine_iterations: int = 60
    """Most iterations of each pass on fine keys."""
    repair_iterations: int = 20
    """Most iterations with a schedule that is tried instead."""
    max_repairs: int = 6
    """Most schedules that are tried instead."""

    def weights(
        self, tolerances: StageTolerances, *, laws: float = 1.0, is_frozen: bool, goal: float = 1.0
    ) -> ResidualWeights:
        """Weights of the residuals in a stage; see ``stage_weights``."""
        shares = {"friction": self.friction, "squeeze": self.squeeze}
        return stage_weights(tolerances, laws=laws, is_frozen=is_frozen, goal=goal, **shares)


class FoundSchedule(NamedTuple):
    """A schedule, and the motion that goes with it."""

    descent: Descent
    is_on: Bool[np.ndarray, "P N"]
    cost: float


def find_schedule(
    transcription: Transcription,
    seed: int | tuple[int, ...],
    settings: AttemptSettings,
    is_over: Callable[[], bool],
) -> FoundSchedule:
    """A schedule from one random start, for a problem with coarse keys.

    Overwrites ``model.schedule``. When the time is up, as ``is_over`` says, steps end.
    """
    regularization = regularization_weights(transcription)
    descent, leads = _run_continuation(transcription, seed, settings, is_over)
    keys, is_on = round_contacts(transcription, descent.keys, leads)
    descent.keys = apply_schedule(transcription, keys, is_on)
    fix_resting_body(transcription, descent, first_touch(transcription, is_on))
    tight = settings.weights(TIGHT, is_frozen=True)
    if transcription.is_turned_in_hand:
        # A gait is a whole: one contact more or less does not repair it, another gait may.
        fix_forces_at_hold_ends(transcription, descent)
        cost = descent.run(tight, regularization, settings.tight_iterations)
        return FoundSchedule(descent, is_on, cost)
    cost = descent.run(tight, regularization, settings.tight_iterations)
    found = FoundSchedule(descent, is_on, cost)
    return _repaired(transcription, found, (tight, regularization), settings)


def _run_continuation(
    transcription: Transcription,
    seed: int | tuple[int, ...],
    settings: AttemptSettings,
    is_over: Callable[[], bool],
) -> tuple[Descent, Bool[np.ndarray, " N"]]:
    """The motion before rounding, and the contacts that lead."""
    m = transcription.model
    clear_schedule(transcription)
    rng = np.random.default_rng(seed)
    held = transcription.allowed
    if transcription.is_turned_in_hand:
        held = sampled_gait(transcription, rng)
        m.schedule.easing[:] = hold_transitions(held, is_cyclic=True)
    regularization = regularization_weights(transcription)
    descent = static_start(transcription, rng, held)
    descent.is_over = is_over
    first, may_grip = transcription.first_hold, transcription.may_grip
    strokes = transcription.required[:, transcription.contact_hand < 0].any(axis=1)
    fix_resting_body(transcription, descent, min([first, *np.flatnonzero(strokes).tolist()]))
    descent.floor[first : len(held)] = np.where(may_grip & held[first:], _FLOOR, 0.0)
    contacts = m.layout.contacts
    descent.keys[:, contacts] = np.maximum(descent.keys[:, contacts], descent.floor)
    leads = may_grip
    # A body that is turned in the hand starts near where it has to be.
    for laws in CONTINUATION[1:] if transcription.is_turned_in_hand else CONTINUATION:
        stage = settings.weights(LOOSE, laws=laws, is_frozen=False)
        descent.run(stage, regularization, settings.stage_iterations)
        if laws == CONTINUATION[0]:
            leads = _leading(transcription, descent.keys)
            descent.floor[:, ~leads] = 0.0
    return descent, leads


def _leading(
    transcription: Transcription, keys: Float[np.ndarray, "K n"]
) -> Bool[np.ndarray, " N"]:
    """Contacts that stay drawn to the body: thumbs, and the strongest others of each hand.

    Without a thumb, fingers balance the body instead of holding it; with fewer than three contacts
    it can rotate. Hands that pass a body round and round, at no set times, may have fewer.
    """
    m = transcription.model
    forces = keys[:, m.layout.forces].reshape(len(keys), -1, 3)
    loads = np.linalg.norm(forces, axis=2) * keys[:, m.layout.contacts]
    load = loads[transcription.first_hold :].sum(axis=0)
    leads = np.asarray(m.contacts.squeeze >= 1.0)
    if m.is_cyclic and not transcription.in_spans.any():
        return leads
    for h in range(len(transcription.hands)):
        own = (transcription.contact_hand == h) & transcription.may_grip
        # The contact beyond those needed is a digit, because a body rolls on a palm.
        for count, fits in ((LEAST_HOLD, own), (_NUM_LEADING, own & (m.contacts.pad_joint >= 0))):
            others = np.flatnonzero(fits & ~leads)
            missing = count - int(leads[own].sum())
            leads[others[np.argsort(-load[others])[: max(missing, 0)]]] = True
    return leads


def _repaired(
    transcription: Transcription,
    found: FoundSchedule,
    stage: tuple[ResidualWeights, RegularizationWeights],
    settings: AttemptSettings,
) -> FoundSchedule:
    """Switches single contacts where they break the laws most, and keeps what lowers the cost."""
    descent, is_on, cost = found
    tried = [is_on]
    for _ in range(settings.max_repairs):
        errors = measure_errors(transcription, descent.keys, descent.work)
        if errors.excess < _REPAIR_EXCESS:
            break
        options = other_schedules(transcription, is_on, errors.contacts)
        trial = next((o for o in options if not any((o == one).all() for one in tried)), None)
        if trial is None:
            break
        tried.append(trial)
        if has_unstable_hold(transcription, trial) and not has_unstable_hold(transcription, is_on):
            continue
        kept = descent.keys
        descent.keys = apply_schedule(transcription, kept, trial)
        lower = descent.run(*stage, settings.repair_iterations)
        if lower < _REPAIR_GAIN * cost:
            is_on, cost = trial, lower
        else:
            descent.keys = apply_schedule(transcription, kept, is_on)
    return FoundSchedule(descent, is_on, cost)
