"""The two search structures behind ray casts: Embree, and libigl where there is no Embree.

Embree is about five times as fast, but its package has no wheels for Linux on ARM and for Windows
on ARM. libigl is installed everywhere. Both find the same triangles, except for rays that pass
within rounding of an edge or start within rounding of a surface.
"""

from __future__ import annotations

from importlib.util import find_spec

import igl
import numpy as np
from jaxtyping import Float, Float32, Int, Int32

from handwright.errors import InvalidValueError

# Embree's own value for no limit.
_FAR = 1e30
# libigl drops triangles whose doubled area, seen along the ray, is below an absolute number, 1e-6
# in square units of the mesh. In metres that would be every triangle of a fine mesh, so the mesh
# is scaled to this size first.
_SCALED_SIZE = 1e6


def ray_backend() -> str:
    """Which search structure ray casts use on this machine: Embree if its package is installed."""
    return "embree" if find_spec("embreex") is not None else "libigl"


class EmbreeSearch:
    """Finds the first triangle that each ray hits, by Embree."""

    def __init__(self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> None:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        self._scene = EmbreeScene(robust=True)
        # The scene keeps pointers into this object.
        self._mesh = TriangleMesh(self._scene, vertices.astype(np.float32), faces.astype(np.int32))

    def first_hits(
        self, origins: Float[np.ndarray, "N 3"], units: Float[np.ndarray, "N 3"], limit: float
    ) -> tuple[Int32[np.ndarray, "N"], Float32[np.ndarray, "N"]]:
        """Triangles hit, -1 for none, and distances in single precision.

        Args:
            origins: Metres.
            units: Directions of length 1.
            limit: Metres beyond which nothing is hit.
        """
        hits = self._scene.run(
            origins.astype(np.float32),
            units.astype(np.float32),
            dists=np.full(len(origins), min(limit, _FAR), dtype=np.float32),
            output=True,
        )
        return hits["primID"], hits["tfar"]


class IglSearch:
    """Finds the first triangle that each ray hits, by libigl."""

    def __init__(self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> None:
        extent = float(np.ptp(vertices, axis=0).max())
        self._scale = _SCALED_SIZE / extent if extent > 0.0 else 1.0
        self._vertices = np.ascontiguousarray(vertices * self._scale)
        self._faces = np.ascontiguousarray(faces, dtype=np.int64)
        self._tree = igl.AABB()
        self._tree.init(self._vertices, self._faces)

    def first_hits(
        self, origins: Float[np.ndarray, "N 3"], units: Float[np.ndarray, "N 3"], limit: float
    ) -> tuple[Int32[np.ndarray, "N"], Float32[np.ndarray, "N"]]:
        """As ``EmbreeSearch.first_hits``."""
        triangles, distances, _ = self._tree.intersect_ray_first(
            self._vertices, self._faces, origins * self._scale, units, limit * self._scale
        )
        rough = np.atleast_1d(distances) / self._scale
        return np.atleast_1d(triangles).astype(np.int32), rough.astype(np.float32)


def make_ray_search(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    backend: str | None = None,
) -> EmbreeSearch | IglSearch:
    """Builds a search structure over triangles.

    Args:
        vertices: Metres.
        faces: Vertex indices.
        backend: "embree" or "libigl"; that of ``ray_backend`` if not given.
    """
    chosen = backend or ray_backend()
    if chosen == "libigl":
        return IglSearch(vertices, faces)
    if chosen != "embree":
        raise InvalidValueError(f"backend is {backend!r}; expected 'embree' or 'libigl'.")
    if ray_backend() != "embree":
        raise InvalidValueError(
            "The ray backend 'embree' needs the package embreex, which is not installed. "
            "Install it, or leave backend out to use libigl."
        )
    return EmbreeSearch(vertices, faces)
