"""Batched ray casts against a mesh.

Embree, or libigl where there is no Embree (see ``ray_search``), finds the triangle in single
precision; the distance is then computed again in double precision from the plane of that triangle,
so hits are as exact as the mesh. What single precision can still change is *which* of two triangles
is hit within about 1e-7 of the size of the scene from their common edge, and whether a ray that
starts within that of a surface hits it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.errors import InvalidValueError
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.mesh.outer_surface import outer_surface
from handwright.geometry.mesh.ray_search import make_ray_search
from handwright.kernels.decorators import compiled

# Cosine between ray and plane below which the plane says nothing about the distance.
_GRAZING = 1e-6


class HasTriangles(Protocol):
    """Anything with a triangle surface: a body, or a mesh of trimesh."""

    @property
    def vertices(self) -> Float[np.ndarray, "V 3"]:
        """Corners, metres."""

    @property
    def faces(self) -> Int[np.ndarray, "F 3"]:
        """Vertex indices."""


class RayCaster:
    """Casts rays against a mesh; the search structure is built once and held.

    Closed parts may overlap: rays see the surface of their union (see ``outer_surface``).
    """

    def __init__(self, mesh: HasTriangles, backend: str | None = None) -> None:
        """Builds the search structure.

        Args:
            mesh: Closed parts, faces anticlockwise seen from outside; metres.
            backend: "embree" or "libigl"; the one that ``ray_backend`` names if not given.
        """
        surface = outer_surface(np.asarray(mesh.vertices), np.asarray(mesh.faces))
        self._source = surface.source
        corners = surface.vertices[surface.faces]
        self._normals = face_normals(corners)
        self._offsets = np.einsum("ni,ni->n", self._normals, corners[:, 0])
        self._search = make_ray_search(surface.vertices, surface.faces, backend)

    def cast(
        self,
        origins: Float[np.ndarray, "*batch 3"],
        directions: Float[np.ndarray, "*batch 3"],
        max_distance: float = np.inf,
    ) -> tuple[Float[np.ndarray, "*batch"], Int[np.ndarray, "*batch"]]:
        """First hits of rays.

        Args:
            origins: In the frame of the mesh, metres.
            directions: Of any positive length.
            max_distance: Metres beyond which nothing is hit.

        Returns:
            Distances in metres, infinite for a miss; and the faces hit, -1 for a miss.
        """
        origins, directions = _matching(origins, directions)
        shape = origins.shape[:-1]
        distances, faces = self._run(
            origins.reshape(-1, 3), directions.reshape(-1, 3), max_distance
        )
        return distances.reshape(shape), faces.reshape(shape)

    def cast_posed(
        self,
        origins: Float[np.ndarray, "P N 3"],
        directions: Float[np.ndarray, "P N 3"],
        rotations: Float[np.ndarray, "P 3 3"],
        positions: Float[np.ndarray, "P 3"],
        max_distance: float = np.inf,
    ) -> tuple[Float[np.ndarray, "P N"], Int[np.ndarray, "P N"]]:
        """First hits of rays in the world, with the mesh at one pose per batch; one search call.

        Args:
            origins: In the world, metres.
            directions: In the world, of any positive length.
            rotations: Turn mesh coordinates into world ones.
            positions: Origin of the mesh in the world, metres.
            max_distance: Metres beyond which nothing is hit.

        Returns:
            As ``cast``.
        """
        origins, directions = _matching(origins, directions)
        rotations = np.ascontiguousarray(rotations, dtype=np.float64)
        positions = np.ascontiguousarray(positions, dtype=np.float64)
        count = len(origins)
        if origins.ndim != 3 or rotations.shape != (count, 3, 3) or positions.shape != (count, 3):
            raise InvalidValueError(
                f"origins has shape {origins.shape}, rotations {rotations.shape}, positions "
                f"{positions.shape}; expected (P, N, 3), (P, 3, 3) and (P, 3)."
            )
        local = _into_mesh(origins, directions, rotations, positions)
        return self.cast(local[0], local[1], max_distance)

    def proximity(
        self,
        origins: Float[np.ndarray, "*batch 3"],
        directions: Float[np.ndarray, "*batch 3"],
        inside: Bool[np.ndarray, "*batch"],
        max_distance: float = 0.1,
    ) -> Float[np.ndarray, "*batch"]:
        """Readings of proximity sensors, as ManipNet defines them (section 5.2).

        A sensor outside the body reads the distance along its ray, ``max_distance`` for no hit.
        One inside casts the reversed ray and reads the negative distance, ``-max_distance`` for
        no hit.

        Args:
            origins: Sensors in the frame of the mesh, metres.
            directions: Outward normals of the hand at the sensors.
            inside: Whether each sensor lies in the body.
            max_distance: Metres; the paper uses the default.
        """
        origins, directions = _matching(origins, directions)
        inside = np.asarray(inside, dtype=bool)
        if inside.shape != origins.shape[:-1]:
            raise InvalidValueError(
                f"inside has shape {inside.shape}; expected {origins.shape[:-1]}, one per ray."
            )
        sign = np.where(inside, -1.0, 1.0)
        distances, _ = self.cast(origins, directions * sign[..., None], max_distance)
        return sign * np.minimum(distances, max_distance)

    def _run(
        self,
        origins: Float[np.ndarray, "N 3"],
        directions: Float[np.ndarray, "N 3"],
        max_distance: float,
    ) -> tuple[Float[np.ndarray, "N"], Int[np.ndarray, "N"]]:
        if not max_distance > 0.0:
            raise InvalidValueError(
                f"max_distance is {max_distance!r}; expected a positive number of metres."
            )
        if len(origins) == 0:
            return np.zeros(0), np.zeros(0, dtype=np.int64)
        units, bad = _units(origins, directions)
        if bad >= 0:
            raise InvalidValueError(
                f"Ray {bad} has origin {origins[bad].tolist()} and direction "
                f"{directions[bad].tolist()}; expected numbers, and a direction that is not zero."
            )
        # A hit that single precision puts just beyond the limit is judged below, in double.
        limit = max_distance * (1.0 + 1e-5) + 1e-6
        triangles, rough = self._search.first_hits(origins, units, limit)
        return _refined(origins, units, triangles, rough, self._planes, self._source, max_distance)

    @property
    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        return self._normals, self._offsets


def _matching(origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    origins = np.ascontiguousarray(origins, dtype=np.float64)
    directions = np.ascontiguousarray(directions, dtype=np.float64)
    if origins.shape != directions.shape or origins.ndim < 1 or origins.shape[-1] != 3:
        raise InvalidValueError(
            f"origins has shape {origins.shape} and directions {directions.shape}; expected the "
            "same, ending in 3."
        )
    return origins, directions


@compiled
def _units(origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, int]:
    """Unit directions, and the first ray that cannot be cast, or -1."""
    units = np.zeros(directions.shape)
    for n in range(len(directions)):
        squared, total = 0.0, 0.0
        for axis in range(3):
            squared += directions[n, axis] ** 2
            total += origins[n, axis]
        length = np.sqrt(squared)
        if not (length > 0.0 and np.isfinite(length) and np.isfinite(total)):
            return units, n
        for axis in range(3):
            units[n, axis] = directions[n, axis] / length
    return units, -1


@compiled
def _refined(
    origins: np.ndarray,
    units: np.ndarray,
    triangles: np.ndarray,
    rough: np.ndarray,
    planes: tuple[np.ndarray, np.ndarray],
    source: np.ndarray,
    max_distance: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the planes of the triangles hit, in double precision."""
    normals, offsets = planes
    distances = np.full(len(origins), np.inf)
    faces = np.full(len(origins), -1, dtype=np.int64)
    for n in range(len(origins)):
        triangle = triangles[n]
        if triangle < 0:
            continue
        height = offsets[triangle]
        slope = 0.0
        for axis in range(3):
            height -= normals[triangle, axis] * origins[n, axis]
            slope += normals[triangle, axis] * units[n, axis]
        distance = height / slope if abs(slope) > _GRAZING else float(rough[n])
        distance = max(distance, 0.0)
        if distance <= max_distance:
            distances[n] = distance
            faces[n] = source[triangle]
    return distances, faces


@compiled
def _into_mesh(
    origins: np.ndarray, directions: np.ndarray, rotations: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rays of each batch in the frame of the mesh at that batch's pose."""
    local_origins = np.zeros(origins.shape)
    local_directions = np.zeros(origins.shape)
    for p in range(len(origins)):
        for n in range(origins.shape[1]):
            for axis in range(3):
                for other in range(3):
                    turn = rotations[p, other, axis]
                    local_origins[p, n, axis] += turn * (origins[p, n, other] - positions[p, other])
                    local_directions[p, n, axis] += turn * directions[p, n, other]
    return local_origins, local_directions
