"""What a hand is told to do in a replay: joint values, torques, and where its root goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.core.clip import Clip
from handwright.core.contact import ContactTrack
from handwright.core.frozen import freeze_arrays
from handwright.core.track import Track
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose
from handwright.mechanics import (
    edge_wrenches,
    force_contacts,
    grasp_map,
    nonnegative_least_squares,
    torque_maps,
)

_NUM_EDGES = 8
# How much more a squeeze should balance than press evenly.
_BALANCE = 100.0
_TAKING_HOLD = 0.2
"""How long a digit that has landed takes until it squeezes, s."""
_MOST_BULGE = 3e-3
"""m; contacts further off a capsule are not its own."""


@dataclass(frozen=True, slots=True, eq=False)
class HandPlan:
    """Of one hand, at every step of the simulation."""

    root: Pose
    """(S,) in the world."""
    q: Float[np.ndarray, "S J"]
    """rad."""
    velocity: Float[np.ndarray, "S J"]
    """rad/s."""
    torque: Float[np.ndarray, "S J"]
    """With which joints press as planned, N m; zero where nothing is touched."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


def hand_plan(
    clip: Clip,
    hand: str,
    times: Float[np.ndarray, " S"],
    *,
    squeeze: float,
    share: float,
    lead: float,
) -> HandPlan:
    """The plan of a hand at some times, s; after its end everything stays.

    The root is ahead by ``lead``, s. For squeeze and share see ``firm_forces``.
    """
    motion = clip.hands[hand]
    torque = _frame_torques(clip, hand, squeeze, share)
    inside = np.clip(times, clip.times[0], clip.times[-1])
    ahead = np.clip(times + lead, clip.times[0], clip.times[-1])
    rate = np.gradient(motion.q, clip.times, axis=0) if clip.num_frames > 1 else 0.0 * motion.q
    velocity = _at(inside, clip.times, rate)
    velocity[times > clip.times[-1]] = 0.0
    return HandPlan(
        Track(clip.times, motion.root).at(ahead),
        _at(inside, clip.times, motion.q),
        velocity,
        _at(inside, clip.times, torque),
    )


def _at(times: np.ndarray, frames: np.ndarray, values: np.ndarray) -> np.ndarray:
    columns = [np.interp(times, frames, column) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((len(times), 0))


def _rows_of(contacts: ContactTrack, hand: str) -> Int[np.ndarray, " N"]:
    if hand not in contacts.touchers:
        return np.zeros(0, dtype=np.int64)
    is_of = contacts.toucher == contacts.touchers.index(hand)
    return np.flatnonzero(is_of & np.isfinite(contacts.force).all(axis=1))


def _frame_torques(clip: Clip, hand: str, squeeze: float, share: float) -> Float[np.ndarray, "T J"]:
    """What the planned forces, and a squeeze, ask of the joints in every frame, N m."""
    model, motion, contacts = clip.problem.hands[hand], clip.hands[hand], clip.contacts
    torque = np.zeros_like(motion.q)
    rows = _rows_of(contacts, hand)
    if len(rows) == 0:
        return torque
    frame = contacts.frame[rows]
    force = firm_forces(clip, squeeze, share)[rows]
    maps = torque_maps(
        model,
        motion.q[frame],
        model.capsules.link[contacts.part[rows]],
        contacts.point[rows],
        motion.root[frame],
    )
    np.add.at(torque, frame, np.einsum("njk,nk->nj", maps, force))
    return torque


def firm_forces(clip: Clip, squeeze: float, share: float) -> Float[np.ndarray, "N 3"]:
    """Forces of hands on bodies with the planned wrench, firmer and further inside the cones.

    Args:
        clip: The plan; forces of the surroundings are left as they are.
        squeeze: Normal force of each contact beyond the planned one, N, as far as these balance.
        share: How much of the friction cones to count on.
    """
    contacts = clip.contacts
    forces = contacts.force.copy()
    if squeeze == 0.0:
        return forces
    rows = np.concatenate([_rows_of(contacts, hand) for hand in clip.hands])
    shares = _shares_of_squeeze(clip)
    keys = contacts.frame * len(contacts.bodies) + contacts.body
    for key in np.unique(keys[rows]):
        chosen = rows[keys[rows] == key]
        name = contacts.bodies[contacts.body[chosen[0]]]
        body = clip.problem.bodies[name]
        table = force_contacts(
            contacts.point[chosen],
            contacts.normal[chosen],
            center=clip.bodies[name][contacts.frame[chosen[0]]].apply(body.center),
            friction=share * body.friction,
        )
        planned = forces[chosen].ravel()
        wanted = planned + squeeze * (shares[chosen, None] * contacts.normal[chosen]).ravel()
        # Moments over the size of the body are as large as forces.
        scale = np.repeat([_BALANCE, _BALANCE / body.radius_of_gyration], 3)
        edges, owner = edge_wrenches(table, _NUM_EDGES)
        each = np.zeros((len(wanted), edges.shape[1]))
        for k in range(3):
            each[3 * owner + k, np.arange(len(owner))] = edges[k]
        level, _ = nonnegative_least_squares(
            np.concatenate([scale[:, None] * edges, each]),
            np.concatenate([scale * (grasp_map(table) @ planned), wanted]),
        )
        forces[chosen] = (each @ level).reshape(-1, 3)
    return forces


def _shares_of_squeeze(clip: Clip) -> Float[np.ndarray, " N"]:
    """Grows from 0 where a contact begins, and goes back before it ends, unless the plan ends."""
    contacts, times = clip.contacts, clip.times
    shares = np.zeros(len(contacts))
    which = np.stack([contacts.toucher, contacts.part, contacts.body])
    for key in np.unique(which, axis=1).T:
        rows = np.flatnonzero((which == key[:, None]).all(axis=0))
        frame = contacts.frame[rows]
        for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(frame) > 1) + 1):
            now = times[frame[run]]
            age, left = now - now[0], now[-1] - now
            if frame[run[0]] == 0:
                age[:] = _TAKING_HOLD
            if frame[run[-1]] == len(times) - 1:
                left[:] = _TAKING_HOLD
            shares[rows[run]] = np.clip(np.minimum(age, left) / _TAKING_HOLD, 0.0, 1.0)
    return shares


def skin_over_capsules(clip: Clip, hand: str) -> Float[np.ndarray, " C"]:
    """How far the skin stands out of each capsule where it touches, by the plan's contacts, m.

    Zero for capsules that touch nothing. Without this, a hand of capsules would press where the
    planned one, with skin, only touches, or miss.
    """
    model, motion, contacts = clip.problem.hands[hand], clip.hands[hand], clip.contacts
    bulge = np.zeros(len(model.capsules))
    rows = _rows_of(contacts, hand)
    if len(rows) == 0:
        return bulge
    frame, part = contacts.frame[rows], contacts.part[rows]
    posed = posed_capsules(model, motion.q, motion.root)
    start, along = posed.start[frame, part], (posed.end - posed.start)[frame, part]
    off = contacts.point[rows] - start
    square = np.einsum("ni,ni->n", along, along)
    share = np.einsum("ni,ni->n", off, along) / np.where(square > 0.0, square, 1.0)
    off = off - np.clip(share, 0.0, 1.0)[:, None] * along
    gap = np.linalg.norm(off, axis=1) - model.capsules.radius[part]
    for index in np.unique(part):
        bulge[index] = np.median(gap[part == index])
    return np.clip(bulge, -_MOST_BULGE, _MOST_BULGE)
