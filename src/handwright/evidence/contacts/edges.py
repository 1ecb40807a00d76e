"""Faces that a contact at a sharp edge touches besides its own; the judge's own search for them.

A finger on an edge presses on the faces of both sides. Each of them gives a contact: the foot, on
that face, of a point a little below the contact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.distance.exact import ExactDistance

_RADIUS = 1e-3
"""How far from a contact another face is still touched, across the contact's normal, m."""
_SUNK = 5e-4
"""How far below a contact the search begins, m."""
_NUM_DIRECTIONS = 12
"""Directions about the normal in which other faces are looked for."""
_ON_FACE = 1e-5
"""How far from the surface a foot may be to lie on its face, m."""
ANOTHER_FACE = 0.8
"""Cosine between two normals below which they belong to two faces, rather than to a bend."""
_FAR_SIDE = -0.5
"""Cosine between two normals below which one is on the far side of a thin wall."""


class SideContacts(NamedTuple):
    """Contacts on the faces beside others, ordered by the contacts that they stand beside."""

    owner: Int[np.ndarray, " M"]
    """The contact that each stands beside."""
    points: Float[np.ndarray, "M 3"]
    """On the surface, in the body's frame, m."""
    normals: Float[np.ndarray, "M 3"]
    """Unit normals, into the body."""
    gap: Float[np.ndarray, " M"]
    """Gap to a toucher that is flat around its contact, m."""


def side_contacts(
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    gap: Float[np.ndarray, " N"],
    exact: ExactDistance,
    *,
    touching: float,
) -> SideContacts:
    """Finds the other faces that contacts touch.

    Args:
        points: Contacts on the surface, in the body's frame, m.
        normals: Unit normals, into the body.
        gap: Gaps of the contacts, m; negative in penetration.
        exact: Distances of the body.
        touching: Gap up to which a face counts as touched, m.
    """
    sunk = points + _SUNK * normals
    around = sunk[:, None] + _RADIUS * _circle(normals)
    _, closest, face, _ = exact.signed_distance(around.reshape(-1, 3))
    closest, inward = (
        array.reshape(around.shape) for array in (closest, -exact.face_normals(face))
    )
    alike = np.einsum("nki,ni->nk", inward, normals)
    has_area = np.einsum("nki,nki->nk", inward, inward) > 0.25
    row, column = np.nonzero(has_area & (alike < ANOTHER_FACE) & (alike > _FAR_SIDE))
    plane = inward[row, column]
    height = np.einsum("ni,ni->n", sunk[row] - closest[row, column], plane)
    foot = sunk[row] - height[:, None] * plane
    way = foot - points[row]
    below = np.einsum("ni,ni->n", way, normals[row])
    aside = np.linalg.norm(way - below[:, None] * normals[row], axis=1)
    apart = gap[row] + np.maximum(below, 0.0)
    kept = np.flatnonzero((aside <= _RADIUS) & (apart <= touching))
    kept = kept[_first_of_each_face(row[kept], plane[kept])]
    kept = kept[np.abs(exact.signed_distance(foot[kept])[0]) <= _ON_FACE]
    return SideContacts(row[kept], foot[kept], plane[kept], apart[kept])


def _circle(normals: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N K 3"]:
    """Unit vectors across each normal, evenly spread."""
    least = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, least)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-30)
    second = np.cross(normals, first)
    angle = np.linspace(0.0, 2.0 * np.pi, _NUM_DIRECTIONS, endpoint=False)
    return np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None]


def _first_of_each_face(
    row: Int[np.ndarray, " M"], normal: Float[np.ndarray, "M 3"]
) -> Bool[np.ndarray, " M"]:
    """Which entries are the first of their contact whose face looks that way; rows are ordered."""
    is_first = np.ones(len(row), dtype=bool)
    for back in range(1, _NUM_DIRECTIONS):
        same_row = row[back:] == row[:-back]
        alike = np.einsum("mi,mi->m", normal[back:], normal[:-back]) >= ANOTHER_FACE
        is_first[back:] &= ~(same_row & alike & is_first[:-back])
    return is_first
