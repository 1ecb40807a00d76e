"""First guesses of a motion, and which of its variables are fixed.

A digit that stays cannot turn a body far; it has to let go, go back and take hold again, while the
others hold. Contact variables that start at one half everywhere seldom find such a sequence. So
attempts at cyclic motions that turn a body in the hand start from random finger gaits: digits swing
one after the other, each as often as the others.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_normal_equations, make_workspace
from handwright.methods.trajopt.schedule.wrist_paths import add_approach, wrists_following_body
from handwright.methods.trajopt.solver.descent import Descent
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.contact_state import body_distance

# Standard deviation of the noise on coordinates and origins at the start, rad and m; the second is
# for bodies that are turned in the hand, which lie where the fingers are.
_NOISE, _FINE_NOISE = 0.02, 0.004
# Standard deviation of the noise on forces, in weights of the body.
_FORCE_NOISE = 0.05
# Share of starts with a detour of the wrist, and its size, m.
_DETOUR_SHARE, _DETOUR = 0.5, 0.15
_PRESS = 0.5
"""Force of digits where goals put them on a body that rests on something, in weights of it."""


def static_start(
    transcription: Transcription, rng: np.random.Generator, allowed: Bool[np.ndarray, "P N"]
) -> Descent:
    """A motion at rest except for noise, detours and gaits, with undecided contacts.

    ``allowed`` are the contacts that may be used, by phase, or those of a gait.
    """
    m = transcription.model
    layout, count = m.layout, m.num_keys
    nq, nc = layout.num_coordinates, layout.num_contacts
    keys = np.tile(transcription.start, (count, 1))
    moves = slice(0 if m.is_cyclic else 1, count)
    # Gaits differ from start to start, so that little noise is needed with them.
    noise = _FINE_NOISE if transcription.is_turned_in_hand else _NOISE
    keys[moves, layout.coordinates] += noise * rng.normal(size=(count, nq))[moves]
    takes_detour = rng.uniform() < _DETOUR_SHARE
    if not m.is_cyclic and not add_approach(transcription, rng, keys) and takes_detour:
        _add_detour(transcription, rng, keys)
        _rotate_wrists_with_body(transcription, keys)
    keys[:, layout.origins] += noise * rng.normal(size=(count, 3 * nc))
    if transcription.is_turned_in_hand:
        keys[:, layout.origins] += start_origins(transcription, allowed).reshape(count, -1)
    keys[:, layout.forces] += _FORCE_NOISE * m.weight * rng.normal(size=(count, 3 * nc))
    undecided = np.where(allowed, 0.5, 0.0)
    keys[: len(allowed), layout.contacts] = np.where(transcription.required, 1.0, undecided)
    descent = make_descent(transcription, keys)
    descent.fixed[: len(allowed), layout.contacts] |= ~allowed | transcription.required
    return descent


def _add_detour(
    transcription: Transcription, rng: np.random.Generator, keys: Float[np.ndarray, "K n"]
) -> None:
    """Moves free wrists along an arc, mostly upwards, over possible obstacles."""
    arc = np.sin(np.pi * np.linspace(0.0, 1.0, transcription.first_hold + 2))[: len(keys)]
    for hand in transcription.hands:
        if hand.is_free:
            height = rng.normal(size=3) * _DETOUR * [0.5, 0.5, 1.0]
            height[2] = abs(height[2])
            to_hand = rotation.to_matrix(hand.root.wxyz).T
            keys[: len(arc), hand.wrist_position] += np.outer(arc, to_hand @ height)


def _rotate_wrists_with_body(transcription: Transcription, keys: Float[np.ndarray, "K n"]) -> None:
    """Moves free wrists as goals rotate the body from ``first_hold`` on, within their limits."""
    m, problem, body = transcription.model, transcription.problem, transcription.body_name
    times = problem.times[0] + m.phase_time * np.arange(m.num_keys)
    begin = float(times[transcription.first_hold])
    wrists = wrists_following_body(problem, transcription.hands, body, times, begin)
    for hand, wrist in zip(transcription.hands, wrists, strict=True):
        own = slice(hand.wrist_position.start, hand.wrist_angles.stop)
        if hand.is_free:
            keys[:, own] += np.clip(wrist, m.lower[own], m.upper[own])


def make_descent(transcription: Transcription, keys: Float[np.ndarray, "K n"]) -> Descent:
    """A descent from key states, with the start of the motion fixed."""
    m = transcription.model
    layout = m.layout
    count, size = keys.shape
    fixed = np.zeros((count, size), dtype=bool)
    if not m.is_cyclic:
        fixed[0, layout.motion] = True
        fixed[-1, layout.contacts] = True
    # Variables that the costs are linear in may move far in one step; angles and origins may not.
    scale = np.ones(size)
    scale[layout.coordinates] = np.where(_is_linear(transcription), 2.0, 0.2)
    scale[layout.rates] = 5.0 * scale[layout.coordinates]
    scale[layout.forces] = 10.0 * m.weight
    scale[layout.origins] = 0.05
    scale[layout.changes], scale[layout.shift] = 10.0 * m.weight, 0.2 * m.phase_time
    scale[layout.contacts] = 0.5
    floor = np.zeros((count, layout.num_contacts))
    equations = make_normal_equations(count, size)
    return Descent(m, make_workspace(m), keys, fixed, floor, equations, scale)


def _is_linear(transcription: Transcription) -> Bool[np.ndarray, " Q"]:
    """Coordinates that translate a whole hand or the body."""
    f, layout = transcription.model.forest, transcription.model.layout
    is_linear = np.zeros(layout.num_coordinates, dtype=bool)
    is_linear[layout.body_position] = True
    is_linear[f.driver[f.is_slide & (f.driver >= 0)]] = True
    return is_linear


def fix_resting_body(transcription: Transcription, descent: Descent, until: int) -> None:
    """Fixes a body that rests on something at its start up to a key, and frees it from there."""
    m = transcription.model
    if m.is_cyclic or not transcription.rests_on.any():
        return
    for columns in (m.layout.body, m.layout.body_rates):
        descent.keys[: until + 1, columns] = transcription.start[columns]
        descent.fixed[: until + 1, columns] = True
        descent.fixed[until + 1 :, columns] = False


def fix_press_forces(
    transcription: Transcription, descent: Descent, is_on: Bool[np.ndarray, "P N"]
) -> None:
    """Fixes the forces of digits that goals put on a resting body.

    Regularization asks for small forces, so without this the digits would touch the body without
    pressing. Forces are continuous, and so are those of the environment: a press begins and ends
    with no force.
    """
    m = transcription.model
    if transcription.first_hold < len(is_on) or not transcription.rests_on.any():
        return
    layout = m.layout
    presses = is_on & transcription.required & (transcription.contact_hand >= 0)
    presses[1:] &= is_on[:-1]
    for k, j in np.argwhere(presses[1:]) + np.array([1, 0]):
        force, origin = layout.force(j), descent.keys[k, layout.origin(j)]
        outward = np.array(body_distance(Packed(m), tuple(origin))[1])
        descent.keys[k, force] = -_PRESS * m.weight * (m.body.rotation @ outward)
        descent.fixed[k, force] = True


def fix_forces_at_hold_ends(transcription: Transcription, descent: Descent) -> None:
    """Fixes the forces of hands at zero where holds begin and end.

    They then grow from zero and fade to it, so that other forces need not jump in a gait, nor the
    acceleration of a body as it is thrown and caught.
    """
    m = transcription.model
    eases = transcription.is_turned_in_hand | transcription.in_spans
    hands = (transcription.contact_hand >= 0) & eases
    begins, ends = (m.schedule.easing % 2 == 1) & hands, (m.schedule.easing >= 2) & hands
    for key, contact in np.argwhere(begins | np.roll(ends, 1, axis=0)):
        descent.keys[key, m.layout.force(contact)] = 0.0
        descent.fixed[key, m.layout.force(contact)] = True


def sampled_gait(transcription: Transcription, rng: np.random.Generator) -> Bool[np.ndarray, "P N"]:
    """Contacts that are on, by phase: digits swing for a phase each, one after the other.

    The order and the moment of the first swing are random. Where there are fewer phases than
    digits, some swing together. Palms cannot step and take no part.
    """
    gait = transcription.allowed.copy()
    phases = len(gait)
    for hand in range(len(transcription.hands)):
        own = np.flatnonzero(transcription.contact_hand == hand)
        is_digit = transcription.model.contacts.pad_joint[own] >= 0
        digits, gait[:, own[~is_digit]] = own[is_digit], False
        num_strides = max(phases // len(digits), 1)
        late = rng.uniform()
        for order, digit in enumerate(rng.permutation(digits)):
            for stride in range(num_strides):
                swing = (stride + (order + late) / len(digits)) * phases / num_strides
                gait[int(swing) % phases, digit] = False
    return gait


def start_origins(
    transcription: Transcription, gait: Bool[np.ndarray, "P N"]
) -> Float[np.ndarray, "P N 3"]:
    """Origins of forces on the body, by key: the point nearest to each pad amid its hold.

    The body is rotated as its goal prescribes for that moment, and the hand is at its start.
    """
    m, work = transcription.model, make_workspace(transcription.model)
    packed, packed_work = Packed(m), Packed(work)
    phases = len(gait)
    fill_sample(packed, transcription.start, transcription.start, 0.0, packed_work)
    origins = np.zeros((phases, m.layout.num_contacts, 3))
    centre = transcription.start[m.layout.body_position]
    for j in np.flatnonzero(m.contacts.pad_joint >= 0):
        link = m.contacts.pad_joint[j]
        for k in range(phases):
            middle = _middle_of_hold(gait[:, j], k)
            pose_sample(packed, packed_work, middle * m.phase_time)
            pad = work.position[link] + work.rotation[link] @ m.contacts.pad[j]
            local = work.body_rotation.T @ (pad - centre)
            distance, outward = body_distance(packed, tuple(local))
            origins[k, j] = local - distance * np.array(outward)
    return origins


def _middle_of_hold(is_on: Bool[np.ndarray, " P"], key: int) -> float:
    """Middle, in phases, of the hold that contains a key; the key itself where there is none."""
    phases = len(is_on)
    if is_on.all() or not is_on.any():
        return float(key)
    if not (is_on[key] or is_on[key - 1]):
        return float(key)
    first = last = key
    while is_on[(first - 1) % phases]:
        first -= 1
    while is_on[last % phases]:
        last += 1
    return 0.5 * (first + last)
