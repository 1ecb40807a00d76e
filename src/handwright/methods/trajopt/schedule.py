"""Which contact is on in which phase, once contact variables are rounded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.methods.trajopt.build import Built

# A contact variable above this is on ...
_ON = 0.15
# ... if the contact carries this share of the weight.
_LEAST_LOAD = 0.03
# Phases for which a digit is not worth lifting.
_LONGEST_HOLE = 2
# Parts of the hand that do not touch keep this far from the body, m: what is nearer than 1 mm
# counts as touching when a motion is judged, and must then not creep.
_CLEAR = 1.3e-3


def rounded(
    built: Built, keys: Float[np.ndarray, "K n"], allowed: Bool[np.ndarray, "P N"]
) -> tuple[Float[np.ndarray, "K n"], Bool[np.ndarray, "P N"]]:
    """Key states with forces scaled by their contact variables, and the schedule."""
    m = built.model
    nq, nc = m.num_coordinates, m.num_contacts
    weight = m.body.mass * float(np.linalg.norm(m.gravity))
    phases = len(m.clearance)
    keys = keys.copy()
    forces = keys[:, 2 * nq : 2 * nq + 3 * nc].reshape(len(keys), nc, 3)
    c = keys[:phases, 2 * nq + 6 * nc :].copy()
    size = np.linalg.norm(forces, axis=2)
    following = np.roll(size, -1, axis=0)[:phases]
    load = 0.5 * c * (size[:phases] + following) / weight
    is_on = c > _ON
    if not built.is_turned_in_hand:
        is_on &= load > _LEAST_LOAD
    if not m.is_cyclic:
        is_on = _gripped_first(built, _without_holes(built, is_on, allowed)) & allowed
    for k in range(phases):
        forces[k] *= np.where(is_on[k], np.maximum(c[k], _ON), 1.0)[:, None]
    return keys, is_on


def _without_holes(
    built: Built, is_on: Bool[np.ndarray, "P N"], allowed: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Digits that let go for a moment only to come back stay where they are, if they may."""
    is_on = is_on.copy()
    for j in np.flatnonzero(built.contact_hand >= 0):
        phases = np.flatnonzero(is_on[:, j])
        for before, after in pairwise(phases.tolist()):
            if after - before - 1 <= _LONGEST_HOLE and allowed[before:after, j].all():
                is_on[before:after, j] = True
    return is_on


def _gripped_first(built: Built, is_on: Bool[np.ndarray, "P N"]) -> Bool[np.ndarray, "P N"]:
    """Hands that take a body over from the surroundings grip it one phase before it leaves them."""
    hands = built.contact_hand >= 0
    is_on = is_on.copy()
    for k in range(1, len(is_on)):
        is_lifted = is_on[k - 1, ~hands].any() and not is_on[k, ~hands].any()
        if is_lifted and not is_on[k - 1, hands].any():
            is_on[k - 1, hands] = is_on[k, hands]
    return is_on


def eased(is_on: Bool[np.ndarray, "P N"], *, is_cyclic: bool) -> Int[np.ndarray, "P N"]:
    """Phases with which holds begin (1), end (2), or both (3); see ``Model.easing``."""
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not is_cyclic:
        before[0], after[-1] = is_on[0], is_on[-1]
    return np.where(is_on, ~before + 2 * ~after, 0)


def apply_schedule(
    built: Built, keys: Float[np.ndarray, "K n"], is_on: Bool[np.ndarray, "P N"]
) -> Float[np.ndarray, "K n"]:
    """Key states with these contacts; sets the clearance of the model accordingly."""
    m = built.model
    nc = m.num_contacts
    keys = keys.copy()
    keys[: len(is_on), keys.shape[1] - nc :] = is_on
    before, after = np.roll(is_on, 1, axis=0), np.roll(is_on, -1, axis=0)
    if not m.is_cyclic:
        before[0], after[-1] = False, False
    m.landing[:] = np.where(is_on, 0, before + 2 * after)
    m.easing[:] = eased(is_on, is_cyclic=m.is_cyclic)
    near = is_on | before | after
    m.clearance[:] = _CLEAR
    for j in range(nc):
        own = m.contacts.capsules[m.contacts.first[j] : m.contacts.last[j]]
        m.clearance[np.ix_(np.flatnonzero(near[:, j]), own)] = 0.0
    return keys
