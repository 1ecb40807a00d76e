"""Exact signed distances to a mesh, for judging.

Slower than a grid by a factor of a hundred, and right to rounding: the nearest point is found in
a bounding-box tree over the triangles.

A point is inside where the winding number of the mesh as given is above 0.5. So parts that overlap,
lie in each other or are there twice make one solid; a part turned inside out is a cavity of the
part around it, and no solid by itself; where a surface runs through itself, what it goes round
once or more often is inside, and what it goes round the wrong way is outside. Out of the box around
the mesh all is outside. Straight in front of the nearest face, or behind it, the side is known from
that face, unless others cross or touch it (``crossings``); for all other points the winding number
is asked. That is done in single precision, so there the sign is meaningless within about 1e-7 of
the size of the body from the surface; the distance is not affected.
"""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.crossings import sides_of_faces
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.mesh.outer_surface import as_mesh_arrays, outer_surface
from handwright.geometry.mesh.winding import WindingNumber

# Below this distance (metres) the direction to the nearest point is rounding.
_ON_SURFACE = 1e-10
# Metres; squares of what is farther away would lose themselves.
_FARTHEST = 1e9


class ExactDistance:
    """Signed distances to the solid inside a closed mesh; its trees are built once and held.

    The mesh may consist of closed parts that overlap: distances are to the surface of their
    union (see ``outer_surface``), and faces are those of the mesh as given.
    """

    def __init__(self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> None:
        """Builds the trees.

        Args:
            vertices: Metres.
            faces: Vertex indices, anticlockwise seen from outside.
        """
        vertices, faces = as_mesh_arrays(vertices, faces)
        self._surface = outer_surface(vertices, faces)
        self._low, self._high = vertices.min(axis=0), vertices.max(axis=0)
        self._tree = igl.AABB()
        self._tree.init(self._surface.vertices, self._surface.faces)
        solid = self._surface if self._surface.is_exact else (vertices, faces)
        self._winding = WindingNumber(*solid[:2])
        self._normals = face_normals(vertices[faces])
        self._sides = sides_of_faces(self._surface.vertices, self._surface.faces, self._winding.at)

    @classmethod
    def from_body(cls, body: RigidBody) -> ExactDistance:
        """Builds the trees for a body, in the frame of the body."""
        return cls(body.vertices, body.faces)

    def signed_distance(
        self, points: Float[np.ndarray, "N 3"]
    ) -> tuple[
        Float[np.ndarray, "N"],
        Float[np.ndarray, "N 3"],
        Int[np.ndarray, "N"],
        Float[np.ndarray, "N 3"],
    ]:
        """Distances, nearest points, their faces, and outward directions.

        Args:
            points: In the frame of the mesh, metres.

        Returns:
            Distances in metres, negative inside; nearest points of the surface; the faces they
            lie on; and unit normals that point out of the body: the gradient of the distance,
            or the normal of the face for a point on the surface.
        """
        points = _as_points(points)
        if len(points) == 0:
            return np.zeros(0), np.zeros((0, 3)), np.zeros(0, dtype=np.int64), np.zeros((0, 3))
        surface = self._surface
        squared, index, closest = self._tree.squared_distance(
            surface.vertices, surface.faces, points
        )
        distance = np.sqrt(np.atleast_1d(squared))
        index = np.atleast_1d(index)
        face = surface.source[index]
        closest = np.asarray(closest).reshape(-1, 3)
        off = distance > _ON_SURFACE
        away = (points - closest) / np.where(off, distance, 1.0)[:, None]
        cosine = np.einsum("ni,ni->n", away, self._normals[face])
        in_box = np.all((points >= self._low) & (points <= self._high), axis=1)
        sides = self._sides
        inside = in_box & np.where(cosine > 0.0, sides.in_front[index], sides.behind[index])
        # On the surface itself a distance has no side.
        unsure = np.flatnonzero((np.abs(cosine) < sides.straight[index]) & in_box & off)
        inside[unsure] = self._winding.is_inside(points[unsure])
        sign = np.where(inside, -1.0, 1.0)
        normal = np.where(off[:, None], away * sign[:, None], self._normals[face])
        return sign * distance, closest, face, normal

    def face_normals(self, faces: Int[np.ndarray, "N"]) -> Float[np.ndarray, "N 3"]:
        """Unit normals of faces, out of the body; zero for faces without area."""
        return np.asarray(self._normals[faces])

    def is_inside(self, points: Float[np.ndarray, "N 3"]) -> np.ndarray:
        """Whether each point lies in the solid, by the winding number.

        Args:
            points: In the frame of the mesh, metres.
        """
        return self._winding.is_inside(_as_points(points))


def _as_points(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    points = np.ascontiguousarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidValueError(f"points has shape {points.shape}; expected (any, 3).")
    # Not "above", so that NaN is refused too.
    usable = np.abs(points) <= _FARTHEST
    if not usable.all():
        bad = int(np.flatnonzero(~usable.all(axis=1))[0])
        raise InvalidValueError(
            f"points[{bad}] is {points[bad].tolist()}; expected numbers up to {_FARTHEST:g} m."
        )
    return points
