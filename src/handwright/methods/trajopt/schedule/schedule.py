"""Which contact is on in which phase, once contact variables are rounded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.posing import pose_body
from handwright.methods.trajopt.model.transcribe import Built, make_room

# A contact variable above this is on ...
_ON = 0.15
# ... if the contact carries this share of the weight.
_LEAST_LOAD = 0.03
# Phases for which a digit is not worth lifting.
_LONGEST_HOLE = 2
LEAST_HOLD = 3
"""Contacts that hold a body so that it cannot turn."""
# What a hand moves by more than this in a phase does not lie, m.
_MOVES = 5e-3
# Errors of a schedule that are looked at, the worst first.
_NUM_ERRORS = 20
# Parts of the hand that do not touch keep this far from the body, m: what is nearer than 1 mm
# counts as touching when a motion is judged, and must then not creep.
_CLEAR = 1.3e-3


def rounded(
    built: Built,
    keys: Float[np.ndarray, "K n"],
    allowed: Bool[np.ndarray, "P N"],
    leads: Bool[np.ndarray, " N"],
) -> tuple[Float[np.ndarray, "K n"], Bool[np.ndarray, "P N"]]:
    """Key states with forces scaled by their contact variables, and the schedule.

    Args:
        built: The problem.
        keys: Key states with any contact variables.
        allowed: Contacts that may be used, by phase.
        leads: Contacts that hold the body; others help all the time or not at all, unless the
            motion is cyclic.
    """
    m = built.model
    weight = m.weight
    phases = len(m.clearance)
    keys = keys.copy()
    forces = keys[:, m.layout.forces].reshape(len(keys), -1, 3)
    c = keys[:phases, m.layout.contacts].copy()
    size = np.linalg.norm(forces, axis=2)
    following = np.roll(size, -1, axis=0)[:phases]
    load = 0.5 * c * (size[:phases] + following) / weight
    is_on = c > _ON
    if not built.is_turned_in_hand:
        is_on &= load > _LEAST_LOAD
        is_on &= ~_is_dragged(built, keys, is_on)
    # Between its spans the body flies, or others have it.
    is_on |= allowed & built.in_spans & leads
    if not m.is_cyclic or built.in_spans.any():
        is_on = _steady(built, _without_holes(built, is_on, allowed), leads)
    if not m.is_cyclic:
        is_on = _gripped_first(built, is_on) & allowed
        # What nobody touches lies on all that it lay on.
        is_on[: first_touch(built, is_on)] |= built.rests_on
    is_on = is_on | built.required
    for k in range(phases):
        forces[k] *= np.where(is_on[k], np.maximum(c[k], _ON), 1.0)[:, None]
    return keys, is_on


def first_touch(built: Built, is_on: Bool[np.ndarray, "P N"]) -> int:
    """Phase in which a hand first touches a body that is to move; past the last if none does."""
    if built.first_hold >= len(is_on):
        return len(is_on)
    touched = np.flatnonzero(is_on[:, built.contact_hand >= 0].any(axis=1))
    return int(touched[0]) if len(touched) else len(is_on)


def _without_holes(
    built: Built, is_on: Bool[np.ndarray, "P N"], allowed: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Digits that let go for a moment only to come back stay where they are, if they may.

    Those with goals have reasons to let go.
    """
    is_on = is_on.copy()
    for j in np.flatnonzero(built.may_grip):
        phases = np.flatnonzero(is_on[:, j])
        for before, after in pairwise(phases.tolist()):
            if after - before - 1 <= _LONGEST_HOLE and allowed[before:after, j].all():
                is_on[before:after, j] = True
    return is_on


def _steady(
    built: Built, is_on: Bool[np.ndarray, "P N"], leads: Bool[np.ndarray, " N"]
) -> Bool[np.ndarray, "P N"]:
    """Digits that help the leading ones of their hand for a part of the time do not."""
    is_on = is_on.copy()
    for h in range(len(built.hands)):
        mine = built.contact_hand == h
        holds = is_on[:, mine & leads].any(axis=1)
        for j in np.flatnonzero(mine & ~leads):
            if holds.any() and not is_on[holds, j].all():
                is_on[:, j] = False
    return is_on


def _is_dragged(
    built: Built, keys: Float[np.ndarray, "K n"], is_on: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Contacts of a held body with surroundings along which it moves: they would have to slip."""
    m = built.model
    surroundings = built.contact_hand < 0
    room = make_room(m)
    packed, bench = Packed(m), Packed(room)
    places, turns = keys[:, m.layout.body_position], np.zeros((len(keys), 3, 3))
    for k in range(len(keys)):
        room.z[: keys.shape[1]] = keys[k]
        pose_body(packed, bench, k * m.phase_time)
        turns[k] = room.body_turn
    origins = keys[:, m.layout.origins].reshape(len(keys), -1, 3)
    before = places[:, None] + origins @ turns.transpose(0, 2, 1)
    after = np.roll(places, -1, axis=0)[:, None] + origins @ np.roll(turns, -1, axis=0).transpose(
        0, 2, 1
    )
    moved = np.linalg.norm(after - before, axis=2)[: len(is_on)]
    is_held = is_on[:, ~surroundings].sum(axis=1) >= LEAST_HOLD - 1
    return surroundings & is_held[:, None] & (moved > _MOVES)


def _gripped_first(built: Built, is_on: Bool[np.ndarray, "P N"]) -> Bool[np.ndarray, "P N"]:
    """Hands that take a body over from the surroundings grip it one phase before it leaves them."""
    hands = built.contact_hand >= 0
    is_on = is_on.copy()
    for k in range(1, len(is_on)):
        is_lifted = is_on[k - 1, ~hands].any() and not is_on[k, ~hands].any()
        if is_lifted and not is_on[k - 1, hands].any():
            is_on[k - 1, hands] = is_on[k, hands]
    return is_on


def hangs(built: Built, is_on: Bool[np.ndarray, "P N"]) -> bool:
    """Whether one or two contacts hold the body somewhere: they cannot keep it from turning."""
    hands = built.contact_hand >= 0
    held = is_on[:, hands].sum(axis=1)
    return bool(np.any((held > 0) & (held < LEAST_HOLD) & ~is_on[:, ~hands].any(axis=1)))


def other_schedules(
    built: Built,
    is_on: Bool[np.ndarray, "P N"],
    errors: Float[np.ndarray, "P N"],
    allowed: Bool[np.ndarray, "P N"],
) -> list[Bool[np.ndarray, "P N"]]:
    """Schedules worth trying instead, the worst error first.

    A contact is switched off there, or on beside. In motions that end, and where they hold in
    spans, hands rather keep what they hold: a digit that joins others in mid-air starts with a
    jerk. It is left out altogether where enough others are left.

    Args:
        built: The problem.
        is_on: The schedule.
        errors: Of its contacts, over their limits.
        allowed: Contacts that may be used.
    """
    options: list[Bool[np.ndarray, "P N"]] = []
    phases = len(is_on)
    hands = built.contact_hand >= 0
    is_whole = built.in_spans if built.model.is_cyclic else hands
    for flat in np.argsort(-errors, axis=None)[:_NUM_ERRORS]:
        k, j = (int(i) for i in np.unravel_index(int(flat), errors.shape))
        if errors[k, j] <= 1.0:
            break
        if hands[j] and built.required[:, j].any():
            continue
        if is_whole[j]:
            trial = is_on.copy()
            trial[:, j] = False
            if (trial[is_on[:, j]][:, hands].sum(axis=1) >= LEAST_HOLD).all():
                options.append(trial)
            continue
        switches = [] if built.required[k, j] else [(k, False)]
        for beside in (k - 1, k + 1):
            at = beside % phases if built.model.is_cyclic else beside
            if 0 <= at < phases and not is_on[at, j] and allowed[at, j]:
                switches.append((at, True))
        for at, value in switches:
            trial = is_on.copy()
            trial[at, j] = value
            options.append(trial)
    return options


def eased(is_on: Bool[np.ndarray, "P N"], *, is_cyclic: bool) -> Int[np.ndarray, "P N"]:
    """Phases with which holds begin (1), end (2), or both (3); see ``Model.easing``."""
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not is_cyclic:
        before[0], after[-1] = is_on[0], is_on[-1]
    return np.where(is_on, ~before + 2 * ~after, 0)


def apply_schedule(
    built: Built, keys: Float[np.ndarray, "K n"], is_on: Bool[np.ndarray, "P N"]
) -> Float[np.ndarray, "K n"]:
    """Key states with these contacts; sets what of the model follows the schedule."""
    m = built.model
    keys = keys.copy()
    keys[: len(is_on), m.layout.contacts] = is_on
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not m.is_cyclic:
        before[0], after[-1] = False, False
    m.landing[:] = np.where(is_on, 0, before + 2 * after)
    m.easing[:] = eased(is_on, is_cyclic=m.is_cyclic)
    # Pushes come in the second half, while hands alone hold the body.
    hands = built.contact_hand >= 0
    m.is_pushed[:] = is_on[:, hands].any(axis=1) & ~is_on[:, ~hands].any(axis=1)
    m.is_pushed[: len(is_on) // 2] = False
    near = is_on | before | after
    m.clearance[:] = _CLEAR
    for j in range(m.layout.num_contacts):
        own = m.contacts.capsules[m.contacts.first[j] : m.contacts.last[j]]
        m.clearance[np.ix_(np.flatnonzero(near[:, j]), own)] = 0.0
    return keys
