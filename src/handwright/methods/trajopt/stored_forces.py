"""Contacts and forces of a clip, made to agree with its frames.

The optimisation knows the motion at all times, a clip knows it at its frames. Two things differ
there. A digit that lands or takes off within the time between two frames still moves in the
difference of the poses around its first or last frame, although its contact is static. And forces
that are linear between keys leave a little of what differences of poses ask for. Both are small,
but those who judge a clip have its frames and nothing else.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.contact.sliding import relative_velocity
from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT, ContactMode, ContactTrack
from handwright.core.tolerances import Tolerances
from handwright.core.track import Track
from handwright.kinematics import link_poses
from handwright.mechanics.momentum import required_wrench

_TOUCHES_LIGHTLY = 0.06
"""Largest force of a contact that may be left out where it begins or ends, in weights."""
_MAX_CORRECTION = 0.1
"""Largest imbalance that is corrected, in weights; more is a fault of the motion."""
_LEAST = 1e-4
"""Imbalance that need not be corrected, in weights."""
_ROUNDS = 12
"""Corrections of a frame, each followed by taking forces back into their cones."""
_WITHIN = 0.999
"""Share of the friction that corrected forces may use."""


def settled(clip: Clip) -> Clip:
    """The clip without contacts that still move, and with forces that balance its frames."""
    kept = _only(clip.contacts, ~_moving_ends(clip))
    force = np.array(kept.force)
    for body in clip.bodies:
        _balance(clip, kept, body, force)
    return replace(clip, contacts=replace(kept, force=force))


def _only(contacts: ContactTrack, rows: Bool[np.ndarray, " N"]) -> ContactTrack:
    columns = {
        item.name: getattr(contacts, item.name)[rows]
        for item in fields(contacts)
        if isinstance(getattr(contacts, item.name), np.ndarray)
    }
    return replace(contacts, **columns)


def _moving_ends(clip: Clip) -> Bool[np.ndarray, " N"]:
    """Light static contacts that begin or end with their frame and move in it."""
    contacts = clip.contacts
    allowed = Tolerances().tightened(0.8).static_speed
    is_moving = np.zeros(len(contacts), dtype=bool)
    for name, motion in clip.hands.items():
        if name not in contacts.touchers:
            continue
        model = clip.problem.hands[name]
        turns, places = link_poses(model, motion.q, motion.root)
        for number, body in enumerate(contacts.bodies):
            mine = contacts.toucher == contacts.touchers.index(name)
            rows = np.flatnonzero(mine & (contacts.body == number))
            link = model.capsules.link[contacts.part[rows]]
            velocity = relative_velocity(
                clip.times, turns, places, clip.bodies[body],
                contacts.frame[rows], link, contacts.point[rows],
            )  # fmt: skip
            normal = contacts.normal[rows]
            across = velocity - np.einsum("ni,ni->n", velocity, normal)[:, None] * normal
            is_fast = np.linalg.norm(across, axis=1) > allowed
            weight = _weight(clip, body)
            is_light = np.linalg.norm(contacts.force[rows], axis=1) < _TOUCHES_LIGHTLY * weight
            is_static = contacts.mode[rows] == int(ContactMode.STATIC)
            ends = _ends(contacts.frame[rows], contacts.part[rows])
            is_moving[rows] = is_fast & is_light & is_static & ends
    return is_moving


def _ends(frame: Int[np.ndarray, " N"], part: Int[np.ndarray, " N"]) -> Bool[np.ndarray, " N"]:
    """Whether the frame before or after has no contact of the same part."""
    count = part.max(initial=0) + 1
    key = frame * count + part
    return ~(np.isin(key - count, key) & np.isin(key + count, key))


def _weight(clip: Clip, body: str) -> float:
    gravity = float(np.linalg.norm(clip.problem.gravity))
    return clip.problem.bodies[body].mass * gravity


def _balance(clip: Clip, contacts: ContactTrack, body: str, force: np.ndarray) -> None:
    """Changes the forces on a body, as little as possible, to those that its frames ask for."""
    if body not in contacts.bodies or clip.num_frames < 3:
        return
    track = Track(clip.times, clip.bodies[body])
    model = clip.problem.bodies[body]
    asked = required_wrench(track, model, gravity=clip.problem.gravity)
    weight = _weight(clip, body)
    arm_scale = model.radius_of_gyration
    on_body = contacts.body == contacts.bodies.index(body)
    # The rates of the first and the last frame are those of their neighbours.
    for t in range(1, clip.num_frames - 1):
        rows = np.flatnonzero(on_body & (contacts.frame == t))
        if rows.size == 0:
            continue
        arm = contacts.point[rows] - asked.center[t]
        columns = np.zeros((6, 3 * len(rows)))
        for n, (x, y, z) in enumerate(arm / arm_scale):
            columns[:3, 3 * n : 3 * n + 3] = np.eye(3)
            columns[3:, 3 * n : 3 * n + 3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        wanted = np.concatenate([asked.force[t], asked.moment[t] / arm_scale])
        left = wanted - columns @ force[rows].ravel()
        if not _LEAST * weight < np.linalg.norm(left) < _MAX_CORRECTION * weight:
            continue
        force[rows] = _corrected(clip, contacts, rows, force[rows], columns, left)


def _corrected(
    clip: Clip,
    contacts: ContactTrack,
    rows: Int[np.ndarray, " N"],
    force: Float[np.ndarray, "N 3"],
    columns: Float[np.ndarray, "6 M"],
    left: Float[np.ndarray, "6"],
) -> Float[np.ndarray, "N 3"]:
    """Forces that give what is left, changed in proportion to their size, within their cones.

    Where the cones do not let them give all of it, they give as much as a few rounds come to.
    """
    size = np.linalg.norm(force, axis=1)
    # What slides pushes against its motion, as hard as friction lets it.
    size[contacts.mode[rows] == int(ContactMode.SLIDING)] = 0.0
    share = np.repeat(size**2, 3)
    matrix = (columns * share) @ columns.T
    scale = float(np.trace(matrix)) / 6.0
    if scale <= 0.0:
        return force
    friction = _WITHIN * _friction(clip, contacts, rows)
    normal, moves = contacts.normal[rows], size > 0.0
    wanted = left + columns @ force.ravel()
    best, least, trial = force, float(np.linalg.norm(left)), force
    for _ in range(_ROUNDS):
        now = wanted - columns @ trial.ravel()
        solved = np.linalg.lstsq(matrix / scale, now, rcond=1e-9)[0]
        step = (share * (columns.T @ solved) / scale).reshape(-1, 3)
        trial = np.where(moves[:, None], _within_cones(trial + step, normal, friction), force)
        error = float(np.linalg.norm(wanted - columns @ trial.ravel()))
        # Taking forces back into their cones may first make it worse.
        if error < least:
            best, least = trial, error
    return best


def _within_cones(
    force: Float[np.ndarray, "N 3"],
    normal: Float[np.ndarray, "N 3"],
    friction: Float[np.ndarray, " N"],
) -> Float[np.ndarray, "N 3"]:
    """Forces with what sticks out of their cones sideways taken off."""
    along = np.maximum(np.einsum("ni,ni->n", force, normal), 0.0)
    across = force - np.einsum("ni,ni->n", force, normal)[:, None] * normal
    size = np.maximum(np.linalg.norm(across, axis=1), 1e-12)
    return along[:, None] * normal + across * np.minimum(1.0, friction * along / size)[:, None]


def _friction(
    clip: Clip, contacts: ContactTrack, rows: Int[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    """Friction of each contact: the body's with hands, the surface's with surroundings."""
    found = np.zeros(len(rows))
    for n, row in enumerate(rows):
        body = clip.problem.bodies[contacts.bodies[contacts.body[row]]]
        found[n] = body.friction
        if contacts.touchers[contacts.toucher[row]] == ENVIRONMENT:
            found[n] = clip.problem.environment[contacts.part[row]].friction
    return found
