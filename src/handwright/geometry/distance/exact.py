"""Exact signed distances to a mesh, for judging.

Slower than a grid by a factor of a hundred, and right to rounding: the nearest point is found in
a bounding-box tree over the triangles. A point straight in front of the face that is nearest is
outside, one straight behind it inside; one out of the box around the mesh is outside; for the
others, nearest to an edge or a corner, the winding number decides. Its tree works in single
precision, so there the sign is meaningless within about 1e-7 of the size of the body from the
surface; the distance is not affected.
"""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.mesh.outer_surface import as_mesh_arrays, outer_surface

# Below this distance (metres) the direction to the nearest point is rounding.
_ON_SURFACE = 1e-10
# Cosine between the direction to the nearest point and its face's normal from which a point is
# straight in front of the face, or straight behind it.
_STRAIGHT = 0.99


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
        self._winding = igl.FastWindingNumberBVH()
        self._winding.init(vertices, faces)
        self._normals = face_normals(vertices[faces])

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
        face = surface.source[np.atleast_1d(index)]
        closest = np.asarray(closest).reshape(-1, 3)
        off = distance > _ON_SURFACE
        away = (points - closest) / np.where(off, distance, 1.0)[:, None]
        cosine = np.einsum("ni,ni->n", away, self._normals[face])
        in_box = np.all((points >= self._low) & (points <= self._high), axis=1)
        sign = np.where((cosine < 0.0) & in_box, -1.0, 1.0)
        unsure = np.flatnonzero((np.abs(cosine) < _STRAIGHT) & in_box)
        sign[unsure] = np.where(self.is_inside(points[unsure]), -1.0, 1.0)
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
        points = _as_points(points)
        if len(points) == 0:
            return np.zeros(0, dtype=bool)
        return np.atleast_1d(self._winding.winding_number(points)) > 0.5


def _as_points(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    points = np.ascontiguousarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidValueError(f"points has shape {points.shape}; expected (any, 3).")
    if not np.isfinite(points).all():
        bad = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise InvalidValueError(f"points[{bad}] is {points[bad].tolist()}; expected numbers.")
    return points
