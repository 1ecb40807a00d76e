"""Schedules: which contact is on in which phase, once contact variables are rounded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.posing import pose_body
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_workspace

# A contact is on if its variable is above the first and it carries at least the second, as a share
# of the weight.
_ON, _LEAST_LOAD = 0.15, 0.03
# A digit that would lift for no more phases than this stays where it is.
_LONGEST_GAP = 2
LEAST_HOLD = 3
"""Number of contacts that can hold a body so that it does not rotate."""
# A body that a hand moves by more than this in a phase does not rest on a surface, m.
_MOVES = 5e-3
# Number of errors of a schedule that are tried to be repaired, the worst first.
_NUM_ERRORS = 20
# Parts of the hand that do not touch keep this far from the body, m: the certificate counts what is
# nearer than 1 mm as touching, and then it must not slide.
_CLEAR = 1.3e-3


def round_contacts(
    transcription: Transcription,
    keys: Float[np.ndarray, "K n"],
    leads: Bool[np.ndarray, " N"],
) -> tuple[Float[np.ndarray, "K n"], Bool[np.ndarray, "P N"]]:
    """Key states with forces scaled by their contact variables, and the schedule.

    Contacts that lead hold the body; others help all the time or not at all, unless the motion is
    cyclic.
    """
    m, allowed = transcription.model, transcription.allowed
    phases = m.num_phases
    keys = keys.copy()
    forces = keys[:, m.layout.forces].reshape(len(keys), -1, 3)
    c = keys[:phases, m.layout.contacts].copy()
    size = np.linalg.norm(forces, axis=2)
    following = np.roll(size, -1, axis=0)[:phases]
    load = 0.5 * c * (size[:phases] + following) / m.weight
    is_on = c > _ON
    if not transcription.is_turned_in_hand:
        is_on &= load > _LEAST_LOAD
        is_on &= ~_is_dragged(transcription, keys, is_on)
    # Between the touch spans of a hand the body flies, or other hands hold it.
    is_on |= allowed & transcription.in_spans & leads
    if not m.is_cyclic or transcription.in_spans.any():
        is_on = _drop_part_time_helpers(
            transcription, _fill_short_gaps(transcription, is_on), leads
        )
    if not m.is_cyclic:
        is_on = _grip_before_lift(transcription, is_on) & allowed
        # A body that no hand touches rests on everything that it rested on at the start.
        is_on[: first_touch(transcription, is_on)] |= transcription.rests_on
    is_on = is_on | transcription.required
    for k in range(phases):
        forces[k] *= np.where(is_on[k], np.maximum(c[k], _ON), 1.0)[:, None]
    return keys, is_on


def first_touch(transcription: Transcription, is_on: Bool[np.ndarray, "P N"]) -> int:
    """Phase in which a hand first touches a body that is to move; past the last if none does."""
    if transcription.first_hold >= len(is_on):
        return len(is_on)
    touched = np.flatnonzero(is_on[:, transcription.contact_hand >= 0].any(axis=1))
    return int(touched[0]) if len(touched) else len(is_on)


def _fill_short_gaps(
    transcription: Transcription, is_on: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Keeps digits on that would let go only for a moment, where they are allowed to touch.

    Digits with goals of their own have reasons to let go.
    """
    is_on = is_on.copy()
    for j in np.flatnonzero(transcription.may_grip):
        phases = np.flatnonzero(is_on[:, j])
        for before, after in pairwise(phases.tolist()):
            if after - before - 1 <= _LONGEST_GAP and transcription.allowed[before:after, j].all():
                is_on[before:after, j] = True
    return is_on


def _drop_part_time_helpers(
    transcription: Transcription, is_on: Bool[np.ndarray, "P N"], leads: Bool[np.ndarray, " N"]
) -> Bool[np.ndarray, "P N"]:
    """Switches off digits that would help the leading ones of their hand part of the time only."""
    is_on = is_on.copy()
    for h in range(len(transcription.hands)):
        mine = transcription.contact_hand == h
        holds = is_on[:, mine & leads].any(axis=1)
        for j in np.flatnonzero(mine & ~leads):
            if holds.any() and not is_on[holds, j].all():
                is_on[:, j] = False
    return is_on


def _is_dragged(
    transcription: Transcription, keys: Float[np.ndarray, "K n"], is_on: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Contacts of a held body with surfaces along which it moves: they would have to slip."""
    m = transcription.model
    is_environment = transcription.contact_hand < 0
    work = make_workspace(m)
    packed, packed_work = Packed(m), Packed(work)
    positions, rotations = keys[:, m.layout.body_position], np.zeros((len(keys), 3, 3))
    for k in range(len(keys)):
        work.z[: keys.shape[1]] = keys[k]
        pose_body(packed, packed_work, k * m.phase_time)
        rotations[k] = work.body_rotation
    origins = keys[:, m.layout.origins].reshape(len(keys), -1, 3)
    before = positions[:, None] + origins @ rotations.transpose(0, 2, 1)
    next_rotations = np.roll(rotations, -1, axis=0).transpose(0, 2, 1)
    after = np.roll(positions, -1, axis=0)[:, None] + origins @ next_rotations
    moved = np.linalg.norm(after - before, axis=2)[: len(is_on)]
    is_held = is_on[:, ~is_environment].sum(axis=1) >= LEAST_HOLD - 1
    return is_environment & is_held[:, None] & (moved > _MOVES)


def _grip_before_lift(
    transcription: Transcription, is_on: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Makes hands that lift a body off the environment grip it one phase before it leaves."""
    hands = transcription.contact_hand >= 0
    is_on = is_on.copy()
    for k in range(1, len(is_on)):
        is_lifted = is_on[k - 1, ~hands].any() and not is_on[k, ~hands].any()
        if is_lifted and not is_on[k - 1, hands].any():
            is_on[k - 1, hands] = is_on[k, hands]
    return is_on


def has_unstable_hold(transcription: Transcription, is_on: Bool[np.ndarray, "P N"]) -> bool:
    """Whether only one or two contacts hold the body somewhere: they cannot stop it rotating."""
    hands = transcription.contact_hand >= 0
    held = is_on[:, hands].sum(axis=1)
    return bool(np.any((held > 0) & (held < LEAST_HOLD) & ~is_on[:, ~hands].any(axis=1)))


def other_schedules(
    transcription: Transcription,
    is_on: Bool[np.ndarray, "P N"],
    errors: Float[np.ndarray, "P N"],
) -> list[Bool[np.ndarray, "P N"]]:
    """Schedules worth trying instead, the worst error first.

    A contact is switched off in the phase of the error, or on in a phase beside it. In motions that
    are not cyclic, and within touch spans, a digit of a hand is left out for all phases instead, if
    enough others remain: a digit that joins others in mid-air starts with a jerk. Errors are those
    of the contacts of ``is_on``, divided by their limits.
    """
    options: list[Bool[np.ndarray, "P N"]] = []
    phases = len(is_on)
    hands = transcription.contact_hand >= 0
    is_whole = transcription.in_spans if transcription.model.is_cyclic else hands
    for flat in np.argsort(-errors, axis=None)[:_NUM_ERRORS]:
        k, j = (int(i) for i in np.unravel_index(int(flat), errors.shape))
        if errors[k, j] <= 1.0:
            break
        if hands[j] and transcription.required[:, j].any():
            continue
        if is_whole[j]:
            trial = is_on.copy()
            trial[:, j] = False
            if (trial[is_on[:, j]][:, hands].sum(axis=1) >= LEAST_HOLD).all():
                options.append(trial)
            continue
        switches = [] if transcription.required[k, j] else [(k, False)]
        for beside in (k - 1, k + 1):
            at = beside % phases if transcription.model.is_cyclic else beside
            if 0 <= at < phases and not is_on[at, j] and transcription.allowed[at, j]:
                switches.append((at, True))
        for at, value in switches:
            trial = is_on.copy()
            trial[at, j] = value
            options.append(trial)
    return options


def hold_transitions(is_on: Bool[np.ndarray, "P N"], *, is_cyclic: bool) -> Int[np.ndarray, "P N"]:
    """Phases with which holds begin (1), end (2), or both (3); see ``ScheduleState.easing``."""
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not is_cyclic:
        before[0], after[-1] = is_on[0], is_on[-1]
    return np.where(is_on, ~before + 2 * ~after, 0)


def apply_schedule(
    transcription: Transcription, keys: Float[np.ndarray, "K n"], is_on: Bool[np.ndarray, "P N"]
) -> Float[np.ndarray, "K n"]:
    """Key states with these contacts; writes the schedule into ``model.schedule``."""
    m, schedule = transcription.model, transcription.model.schedule
    keys = keys.copy()
    keys[: len(is_on), m.layout.contacts] = is_on
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not m.is_cyclic:
        before[0], after[-1] = False, False
    schedule.landing[:] = np.where(is_on, 0, before + 2 * after)
    schedule.easing[:] = hold_transitions(is_on, is_cyclic=m.is_cyclic)
    # Pushes come in the second half of the motion, while hands alone hold the body.
    hands = transcription.contact_hand >= 0
    schedule.is_pushed[:] = is_on[:, hands].any(axis=1) & ~is_on[:, ~hands].any(axis=1)
    schedule.is_pushed[: len(is_on) // 2] = False
    near = is_on | before | after
    schedule.clearance[:] = _CLEAR
    for j in range(m.layout.num_contacts):
        own = m.contacts.capsules[m.contacts.first[j] : m.contacts.last[j]]
        schedule.clearance[np.ix_(np.flatnonzero(near[:, j]), own)] = 0.0
    return keys


def clear_schedule(transcription: Transcription) -> None:
    """Resets ``model.schedule`` to that of an attempt that has no schedule yet."""
    for array in transcription.model.schedule:
        array[:] = 0
