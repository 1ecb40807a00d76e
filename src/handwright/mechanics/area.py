"""Contacts near sharp edges, spread over proxy points.

A fingertip on an edge touches both faces, and with them a range of normals; a point contact has
one, and jumps from face to face. Points around such a contact stand for the area.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError
from handwright.geometry.exact import ExactDistance
from handwright.math import rotation

_FACING = -0.5
_REACH = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class AreaContacts:
    """Contacts with their proxy points, in the order of the contacts, each before its proxies."""

    points: Float[np.ndarray, "M 3"]
    """On the surface, body frame, m."""
    normals: Float[np.ndarray, "M 3"]
    """Unit length, into the body."""
    owner: Int[np.ndarray, " M"]
    """Contact that a point belongs to."""
    num_contacts: int

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def gathered(self, forces: Float[np.ndarray, "M 3"]) -> Float[np.ndarray, "N 3"]:
        """Sums of the forces of each contact."""
        total = np.zeros((self.num_contacts, 3))
        np.add.at(total, self.owner, forces)
        return total


def area_contacts(
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    body: RigidBody,
    *,
    radius: float = 0.004,
    count: int = 6,
    distance: ExactDistance | None = None,
) -> AreaContacts:
    """Adds proxy points to the contacts within ``radius`` of a sharp edge.

    A ring about the contact, sunk by half its radius along the normal, is drawn to the surface:
    what lies beyond the edge lands on the other face. What would land on the far side of a thin
    wall is left out.

    Args:
        points: On the surface, body frame, m.
        normals: Unit length, into the body.
        body: Its mesh and sharp edges.
        radius: Of the area, m.
        count: Proxy points of a contact, at most.
        distance: Of the body, if at hand; building it takes time.
    """
    points, normals = np.asarray(points, dtype=np.float64), np.asarray(normals, dtype=np.float64)
    if points.ndim != 2 or points.shape[1:] != (3,) or normals.shape != points.shape:
        raise InvalidValueError(
            f"points and normals have shapes {points.shape} and {normals.shape}; expected (N, 3)."
        )
    if not (np.isfinite(points).all() and np.isfinite(normals).all()):
        raise InvalidValueError("points or normals hold NaN or infinity; leave those out.")
    if not (np.isfinite(radius) and radius > 0.0) or count < 1:
        raise InvalidValueError(
            f"radius is {radius} m and count {count}; expected above 0 and at least 1."
        )
    near = np.flatnonzero(edge_distance(points, body) <= radius)
    owner = np.concatenate([np.arange(len(points)), np.repeat(near, count)])
    if len(near) == 0:
        return AreaContacts(points, normals, owner, len(points))
    angle = 2.0 * np.pi * np.arange(count) / count
    ring = radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle + 0.5], axis=1)
    frames = rotation.between(np.array([0.0, 0.0, 1.0]), normals[near])
    start = (points[near][:, None] + rotation.rotate(frames[:, None], ring)).reshape(-1, 3)
    _, closest, face, _ = (distance or ExactDistance.from_body(body)).signed_distance(start)
    corners = body.vertices[body.faces[face]]
    inward = -np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    proxy_owner = owner[len(points) :]
    is_kept = (np.einsum("ij,ij->i", inward, normals[proxy_owner]) > _FACING) & (
        np.linalg.norm(closest - points[proxy_owner], axis=1) <= _REACH * radius
    )
    owner = np.concatenate([owner[: len(points)], proxy_owner[is_kept]])
    order = np.argsort(owner, kind="stable")
    return AreaContacts(
        np.concatenate([points, closest[is_kept]])[order],
        np.concatenate([normals, inward[is_kept]])[order],
        owner[order],
        len(points),
    )


def edge_distance(points: Float[np.ndarray, "N 3"], body: RigidBody) -> Float[np.ndarray, " N"]:
    """Distance of points to the nearest sharp edge, m; infinity on a body that has none."""
    if len(body.sharp_edges) == 0:
        return np.full(len(points), np.inf)
    start, end = (body.vertices[body.sharp_edges[:, side]] for side in (0, 1))
    along = end - start
    square = np.einsum("ei,ei->e", along, along)
    least = np.full(len(points), np.inf)
    for row, point in enumerate(points):
        share = np.einsum("ei,ei->e", point - start, along) / square
        nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
        least[row] = np.linalg.norm(nearest - point, axis=1).min()
    return least
