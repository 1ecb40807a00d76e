"""Contacts of posed hands in one frame, over all their parts and the ground, and how they slide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.contact.edges import EDGE_BACK, EDGE_DIRECTIONS, EDGE_RADIUS, EDGE_SINK, EDGE_TURN
from handwright.geometry.distance.sdf import field_value
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.skin.samples import CAPSULE_BULGE, sample_position
from handwright.kinematics.tree import placed
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.posing import (
    capsule_ends,
    place_hands,
    skin_distance,
    surroundings_at,
)
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

BACKWARD = 2.0
"""How many times the allowed slip a contact may have moved since the last frame and still count as
held: where it rolls, half of that is the step to a new point of the digit. Once the next frame is
known, and in the end, central differences decide."""
_AXIS_SAMPLES = 6
# A point that is farther from the surface is not on it, m.
_OFF_SURFACE = 3e-4
_GROUND_FORCE_WEIGHT = 0.05


class Touch(NamedTuple):
    """Where a capsule touches the body."""

    capsule: int
    point: vec3.Vector
    """On the body, m."""
    gradient: vec3.Vector
    """Gradient of the distance from the body there."""
    gap: float
    """m."""


@inlined
def apply_skin_stretch(data: HoldData, work: Workspace, n: int, moved: vec3.Vector) -> vec3.Vector:
    """Stretches the skin as contact ``n`` moves over the body; returns what it slips by, m.

    ``contact.shear`` does the same for whole motions.
    """
    limit = data.limits.shear
    if limit <= 0.0:
        return moved
    c, normal = work.found.capsule[n], vec3.read(work.contacts.normal[n])
    old = vec3.read(work.sheared[c])
    # As a digit rolls on, the normal turns; the skin under it stays as stretched as it was.
    kept = vec3.tangential(old, normal)
    scale = vec3.length(old) / max(vec3.length(kept), 1e-12)
    stretch = vec3.shifted(moved, scale, kept)
    size = vec3.length(stretch)
    over = max(size - limit, 0.0) / max(size, 1e-12)
    # The faces beside an edge are touched by the same skin.
    if n == work.found.num[1] or work.found.capsule[n - 1] != c:
        vec3.write(work.shear[c], vec3.scaled(1.0 - over, stretch))
    return vec3.scaled(over, stretch)


@inlined
def _add_contact(data: HoldData, work: Workspace, n: int, touch: Touch, has_before: bool) -> None:
    """Writes contact ``n``."""
    found, contacts, c, p = work.found, work.contacts, touch.capsule, touch.point
    normal = vec3.divided(touch.gradient, -vec3.length(touch.gradient))
    found.capsule[n] = c
    found.gap[n] = touch.gap
    vec3.write(found.point[n], p)
    vec3.write(found.slip[n], (0.0, 0.0, 0.0))
    vec3.write(contacts.arm[n], vec3.minus(p, vec3.read(data.center)))
    vec3.write(contacts.normal[n], normal)
    vec3.write(contacts.drag[n], (0.0, 0.0, 0.0))
    contacts.friction[n] = data.friction * data.limits.friction_margin
    contacts.cap[n] = np.inf
    digit = data.hands.digit_of_capsule[c]
    contacts.weight[n] = 1.0
    if digit >= 0:
        contacts.weight[n] = work.force_weight[digit]
        if work.is_landing[digit]:
            contacts.cap[n] = 0.0
    if not has_before:
        return
    link = data.hands.table.capsule_link[c]
    x, y, z = vec3.local_of(work.now, link, p)
    moved = vec3.tangential(vec3.minus(p, placed(work.before, link, x, y, z)), normal)
    slip = apply_skin_stretch(data, work, n, moved)
    vec3.write(found.slip[n], slip)
    size = vec3.length(slip)
    if size > BACKWARD * data.limits.slip:
        vec3.write(contacts.drag[n], vec3.divided(slip, size))


@kernel
def _add_edge_sides(data: HoldData, work: Workspace, n: int, touch: Touch, has_before: bool) -> int:
    """Adds contacts on the faces beside contact ``n - 1``; returns how many there are then.

    ``contact.edges.edge_sides`` does the same on the mesh; this reads the grid.
    """
    contacts, c, p = work.contacts, touch.capsule, touch.point
    for i in range(3):
        # A finger that moves over an edge rests on neither face.
        if contacts.drag[n - 1, i] != 0.0:
            return n
    u = vec3.divided(touch.gradient, -vec3.length(touch.gradient))
    # Two directions at right angles to the normal.
    a = (0.0, u[2], -u[1]) if abs(u[0]) < 0.6 else (-u[2], 0.0, u[0])
    a = vec3.divided(a, vec3.length(a))
    b = vec3.cross(u, a)
    sunk_point = vec3.shifted(p, EDGE_SINK * EDGE_RADIUS, u)
    first, spare = n, data.hands.digit_of_capsule.shape[0] - c
    for k in range(EDGE_DIRECTIONS):
        angle = 2.0 * np.pi * k / EDGE_DIRECTIONS
        q = vec3.shifted(
            vec3.shifted(p, EDGE_RADIUS * np.cos(angle), a), EDGE_RADIUS * np.sin(angle), b
        )
        q = vec3.shifted(q, EDGE_SINK * EDGE_RADIUS, u)
        value, g = vec3.distance_at(data.field, q)
        size = vec3.length(g)
        if not EDGE_BACK * size < -vec3.dot(u, g) < EDGE_TURN * size:
            continue
        g = vec3.divided(g, size)
        # The contact's point, sunk in, projected onto the plane of that face.
        off = value / size
        for i in range(3):
            off += (sunk_point[i] - q[i]) * g[i]
        q = vec3.shifted(sunk_point, -off, g)
        away = vec3.minus(q, p)
        sunk = vec3.dot(away, u)
        gap = touch.gap + max(sunk, 0.0)
        # The grid rounds edges off, and may lead nowhere. Rows are kept for the other capsules.
        is_known = (
            not gap <= data.limits.gap
            or vec3.dot(away, away) - sunk * sunk > EDGE_RADIUS**2
            or abs(field_value(data.field, q[0], q[1], q[2])) > _OFF_SURFACE
            or n + spare >= contacts.normal.shape[0]
        )
        for m in range(first, n):
            is_known = is_known or -vec3.dot(vec3.read(contacts.normal[m]), g) >= EDGE_TURN
        if not is_known:
            _add_contact(data, work, n, Touch(c, q, g, gap), has_before)
            n += 1
    return n


@kernel
def add_ground(data: HoldData, t: int, work: Workspace) -> int:
    """Writes the contacts of one frame with the ground; returns how many there are."""
    contacts, found, ground = work.contacts, work.found, data.ground
    n = 0
    for row in range(ground.first[t], ground.first[t + 1]):
        for i in range(3):
            contacts.arm[n, i] = ground.point[row, i] - data.center[i]
            contacts.normal[n, i] = ground.normal[row, i]
            contacts.drag[n, i] = ground.drag[row, i]
            found.point[n, i] = ground.point[row, i]
            found.slip[n, i] = 0.0
        contacts.friction[n] = ground.friction[row]
        contacts.weight[n] = _GROUND_FORCE_WEIGHT
        contacts.cap[n] = np.inf
        found.capsule[n] = -1
        found.gap[n] = 0.0
        n += 1
    return n


@linked
def collect_contacts(data: HoldData, t: int, work: Workspace, has_before: bool) -> float:
    """Finds all contacts of the placed hands; returns how deep the skin is anywhere, m.

    ``work.found.blame`` names the digit that is deepest. Each capsule has one contact: of the
    capsule itself if it touches, else of the nearest point of the skin over it. At an edge the
    contacts on the faces beside it come next.
    """
    found, limits = work.found, data.limits
    around = surroundings_at(data, t)
    n = add_ground(data, t, work)
    found.num[1] = n
    deepest = 0.0
    found.blame[0] = found.blame[1] = -1
    for c in range(data.hands.digit_of_capsule.shape[0]):
        vec3.write(work.shear[c], (0.0, 0.0, 0.0))
        skin, row, ground = skin_distance(data, around, work.now, c, 0.003)
        depth = -min(skin, ground)
        if depth > deepest:
            deepest = depth
            found.blame[0] = data.hands.digit_of_capsule[c]
        a, b = capsule_ends(data, work.now, c)
        radius = data.hands.table.capsule_radius[c]
        if not skin < 0.006:
            continue
        gap, s, gx, gy, gz = capsule_depth(
            data.field, a[0], a[1], a[2], b[0], b[1], b[2], radius, radius, _AXIS_SAMPLES
        )
        # Skin is never deeper in a thin wall than half of it; the flesh under it is.
        if -gap - CAPSULE_BULGE > deepest:
            deepest = -gap - CAPSULE_BULGE
            found.blame[0] = data.hands.digit_of_capsule[c]
        if gap <= limits.gap:
            p, g, far = vec3.shifted(a, s, vec3.minus(b, a)), (gx, gy, gz), gap + radius
        elif skin <= limits.gap:
            p = sample_position(data.hands.samples, row, work.now)
            gap, g = vec3.distance_at(data.field, p)
            far = gap
        else:
            continue
        size = vec3.length(g)
        if size < 1e-6:
            continue
        touch = Touch(c, vec3.shifted(p, -far / size, g), g, gap)
        _add_contact(data, work, n, touch, has_before)
        n = _add_edge_sides(data, work, n + 1, touch, has_before)
    found.num[0] = n
    return deepest


@inlined
def _copy_slip_of_edge(work: Workspace, n: int) -> None:
    """Writes how contact ``n``, on a face beside an edge, moves.

    It is touched by the material of the contact before it, and by none if that moves over the edge.
    """
    contacts, slip = work.contacts, work.found.slip
    contacts.cap[n] = contacts.cap[n - 1]
    for i in range(3):
        slip[n, i] = slip[n - 1, i]
        contacts.drag[n, i] = contacts.drag[n - 1, i]
        if contacts.drag[n, i] != 0.0:
            contacts.cap[n] = 0.0


@kernel
def collect_central_contacts(
    data: HoldData, q: Float[np.ndarray, "T J"], t: int, work: Workspace, has_before: bool
) -> float:
    """Finds the contacts of frame t of a motion, in rad, and their slips by central differences.

    Returns how deep the skin is anywhere, m.
    """
    before, after = max(t - 1, 0), min(t + 1, q.shape[0] - 1)
    place_hands(data, after, q[after], work.ahead)
    place_hands(data, before, q[before], work.before)
    place_hands(data, t, q[t], work.now)
    deepest = collect_contacts(data, t, work, has_before)
    _find_central_slips(data, t, work, after - before)
    return deepest


@kernel
def _find_central_slips(data: HoldData, t: int, work: Workspace, span: int) -> None:
    """Writes how contacts of frame t slide over a span of frames, and what they may bear then."""
    found, contacts = work.found, work.contacts
    for n in range(found.num[1], found.num[0]):
        if n > found.num[1] and found.capsule[n] == found.capsule[n - 1]:
            _copy_slip_of_edge(work, n)
            continue
        link = data.hands.table.capsule_link[found.capsule[n]]
        x, y, z = vec3.local_of(work.now, link, vec3.read(found.point[n]))
        moved = vec3.minus(placed(work.ahead, link, x, y, z), placed(work.before, link, x, y, z))
        moved = vec3.tangential(vec3.divided(moved, max(span, 1)), vec3.read(contacts.normal[n]))
        # A frame lasts from half-way after the last one to half-way before the next.
        lasts = 0.5 * max(span, 1)
        moved = vec3.divided(apply_skin_stretch(data, work, n, vec3.scaled(lasts, moved)), lasts)
        vec3.write(found.slip[n], moved)
        size = vec3.length(moved)
        drag = vec3.divided(moved, size) if size > data.limits.slip else (0.0, 0.0, 0.0)
        vec3.write(contacts.drag[n], drag)
        digit = data.hands.digit_of_capsule[found.capsule[n]]
        if digit >= 0 and not data.may_touch[t, digit]:
            contacts.cap[n] = 0.0


@kernel
def reset_force_weights(work: Workspace) -> None:
    """Lets digits that land press, and gives all forces the same weight."""
    for d in range(work.is_landing.shape[0]):
        work.is_landing[d] = False
        work.force_weight[d] = 1.0
