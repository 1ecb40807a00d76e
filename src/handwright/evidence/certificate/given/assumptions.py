"""What a verdict takes on trust: figures of the file that no motion can confirm.

Masses, frictions, gravity, pushes and hand models are given, not found. Ordinary ones need no
words. Others are named in the verdict, "certified under ...", and those that no real body can have
refuse it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.problem import standard_gravity
from handwright.core.surface import EnvironmentBox
from handwright.evidence.certificate.given.body_parts import parts_of
from handwright.evidence.certificate.given.hand_likeness import odd_hand
from handwright.evidence.certificate.given.moved_tracks import moved_tracks
from handwright.evidence.certificate.resolution import uneven_steps
from handwright.geometry.mesh.checking import check_mesh
from handwright.geometry.mesh.inertia import signed_volume, solid_properties

_MOST_FRICTION = 1.5
"""Higher friction is named; dry skin and rubber reach about this."""
_THIN = 1e-3
"""Surroundings thinner than this are named, m."""
_THREAD = 1e-4
"""Parts of bodies thinner than this are named, m."""
_DENSITIES = (1.0, 2.3e4)
"""From about that of air to that of the heaviest metals, kg/m^3."""
_LEAST_SPREAD = 0.05
"""Least spread of a body's mass over that of a solid of its shape; less is named."""
_SLACK = 1e-3
"""By which a centre of mass may be outside the hull, as a share of the body's size."""
_LIGHT_GRAVITY = 0.05
"""Gravity that differs by more than this from the usual is named, m/s^2."""


def assumptions(clip: Clip) -> list[str]:
    """What the verdict on a clip rests on, in words for "certified under ..."."""
    problem = clip.problem
    found = []
    if (steps := uneven_steps(clip)) is not None:
        found.append(steps)
    if np.linalg.norm(problem.gravity - standard_gravity()) > _LIGHT_GRAVITY:
        pull = ", ".join(f"{value:.3g}" for value in problem.gravity)
        found.append(f"gravity ({pull}) m/s^2")
    for name, body in problem.bodies.items():
        if body.friction > _MOST_FRICTION:
            found.append(f"friction {body.friction:.3g} of '{name}'")
        volume = float(signed_volume(body.vertices, body.faces))
        if volume > 0.0 and not _DENSITIES[0] <= body.mass / volume <= _DENSITIES[1]:
            found.append(f"density {body.mass / volume:.3g} kg/m^3 of '{name}'")
        if volume > 0.0 and not _mesh_faults(body) and _hollowness(body) < _LEAST_SPREAD:
            found.append(f"inertia of '{name}' far below that of its shape")
        parts = parts_of(body)
        if parts.num_apart > 1:
            found.append(f"'{name}' made of {parts.num_apart} parts that do not touch")
        if parts.thinnest < _THREAD:
            found.append(f"a part of '{name}' only {1e3 * parts.thinnest:.3g} mm thin")
    thin: dict[int, float] = {}
    for number, surface in enumerate(problem.environment):
        if surface.friction > _MOST_FRICTION:
            found.append(f"friction {surface.friction:.3g} of surface {number}")
        if isinstance(surface, EnvironmentBox):
            thickness = 2.0 * float(surface.half_extents.min())
            thin |= {number: thickness} if thickness < _THIN else {}
    if thin:
        which = ", ".join(str(number) for number in thin)
        least = 1e3 * min(thin.values())
        found.append(f"surroundings only {least:.3g} mm thin (surface {which})")
    found += [text for name, hand in problem.hands.items() if (text := odd_hand(name, hand))]
    if problem.pushes:
        found.append(_pushes(clip))
    return found + moved_tracks(clip)


def _pushes(clip: Clip) -> str:
    pushes = clip.problem.pushes
    most = max(float(np.linalg.norm(push.force)) for push in pushes)
    frames = sum(any(push.is_on(float(time)) for push in pushes) for time in clip.times)
    many = "1 push" if len(pushes) == 1 else f"{len(pushes)} pushes"
    share = 100.0 * frames / clip.num_frames
    return f"{many} of up to {most:.3g} N in {share:.0f} % of the frames"


def mass_faults(bodies: dict[str, RigidBody]) -> list[str]:
    """Masses that no body of these shapes can have, in words."""
    return [
        f"'{name}' has {fault}"
        for name, body in bodies.items()
        # Of a surface that encloses nothing no mass can be said to be right or wrong.
        if not _mesh_faults(body)
        for fault in _mass_faults(body)
    ]


@lru_cache(maxsize=32)
def _mass_faults(body: RigidBody) -> tuple[str, ...]:
    faults = []
    corners = body.vertices[body.faces.ravel()]
    size = float(np.ptp(corners, axis=0).max())
    outside = _outside_hull(corners, body.center)
    if outside > _SLACK * size:
        faults.append(f"its centre of mass {1e3 * outside:.3g} mm outside its surface")
    # Of all masses between two planes with this centre those in the planes spread most.
    spread = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    axes = np.concatenate([np.eye(3), np.linalg.eigh(spread)[1].T])
    along = (corners - body.center) @ axes.T
    most = body.mass * np.maximum(along.max(axis=0), 0.0) * np.maximum(-along.min(axis=0), 0.0)
    has = np.einsum("ki,ij,kj->k", axes, spread, axes)
    over = float((has / np.maximum(most, 1e-30)).max())
    if over > 1.0 + 1e-6:
        faults.append(f"{over:.3g} times the largest inertia that its size and mass allow")
    return tuple(faults)


def _outside_hull(corners: Float[np.ndarray, "N 3"], point: Float[np.ndarray, "3"]) -> float:
    """How far a point is outside the convex hull of others, m; 0 inside."""
    planes = ConvexHull(corners).equations
    return max(0.0, float((planes[:, :3] @ point + planes[:, 3]).max()))


def mesh_faults(bodies: dict[str, RigidBody]) -> list[str]:
    """Surfaces that do not enclose a solid, in words."""
    return [f"'{name}': {fault}" for name, body in bodies.items() for fault in _mesh_faults(body)]


@lru_cache(maxsize=32)
def _mesh_faults(body: RigidBody) -> tuple[str, ...]:
    return tuple(check_mesh(body.vertices, body.faces, allow_any_size=True))


@lru_cache(maxsize=32)
def _hollowness(body: RigidBody) -> float:
    """Least spread of the mass in any direction over that of a solid of the same shape."""
    solid = solid_properties(body.vertices, body.faces).with_mass(body.mass).inertia
    spread, usual = (0.5 * np.trace(i) * np.eye(3) - i for i in (body.inertia, solid))
    least, *_, most = np.linalg.eigvalsh(usual)
    if least <= 1e-9 * most:
        return 1.0
    return float(eigh(spread, usual, eigvals_only=True)[0])
