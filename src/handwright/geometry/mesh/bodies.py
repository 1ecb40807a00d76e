"""Bodies from triangle meshes, in memory or in files."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import igl
import numpy as np
import trimesh
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from handwright.core.body import RigidBody
from handwright.core.read_limits import check_limit
from handwright.errors import FileFormatError, InvalidValueError, MeshError
from handwright.geometry.mesh.checking import check_mesh
from handwright.geometry.mesh.edges import sharp_edges
from handwright.geometry.mesh.inertia import (
    MassProperties,
    signed_volume,
    solid_properties,
    union_properties,
)
from handwright.geometry.mesh.normals import face_areas
from handwright.geometry.mesh.outer_surface import outer_surface
from handwright.geometry.mesh.repair import RepairReport, repair_mesh

__all__ = [
    "MESH_SUFFIXES",
    "RepairReport",
    "body_from_mesh",
    "check_mesh",
    "load_body",
    "load_mesh",
    "repair_mesh",
]

MESH_SUFFIXES = (".obj", ".stl", ".ply", ".off", ".glb")
"""Mesh files that can be read."""

DEFAULT_DENSITY = 700.0
"""kg / m^3, hard wood: what a body weighs when neither mass nor density is given."""

_GREY = (0.62, 0.64, 0.67)
_logger = logging.getLogger(__name__)


def load_body(
    path: str | Path,
    *,
    mass: float | None = None,
    density: float | None = None,
    friction: float = 0.6,
    scale: float = 1.0,
    repair: bool = False,
    allow_any_size: bool = False,
    name: str | None = None,
    color: tuple[float, float, float] = _GREY,
) -> RigidBody:
    """Reads a body from a mesh file (.obj, .stl, .ply, .off or .glb).

    Args:
        path: The file; a scene of several parts becomes one body.
        mass: Kilograms; or give ``density``.
        density: kg / m^3; ``DEFAULT_DENSITY`` if neither is given.
        friction: Coulomb coefficient against skin.
        scale: Metres per unit of the file, for example 0.001 for millimetres.
        repair: Mend what can be mended (see ``repair_mesh``) instead of raising.
        allow_any_size: Accept extents outside 5 mm to 1 m.
        name: What to call the body; the file's stem if not given.
        color: Red, green, blue, each from 0 to 1.

    Raises:
        FileFormatError: If the file cannot be read.
        MeshError: If the mesh is not the closed surface of a hand-held solid; the message lists
            every problem.
    """
    vertices, faces = load_mesh(path, scale=scale)
    return body_from_mesh(
        vertices,
        faces,
        mass=mass,
        density=density,
        friction=friction,
        repair=repair,
        allow_any_size=allow_any_size,
        name=name or Path(path).stem,
        color=color,
    )


def load_mesh(
    path: str | Path, *, scale: float = 1.0
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Reads the triangles of a mesh file, in metres and Z up, without judging them.

    Vertices at exactly the same place become one, since .stl files and texture seams repeat them.
    A .glb file is Y up by definition and is turned; the others have no agreed axis and are not.

    Args:
        path: The file.
        scale: Metres per unit of the file.
    """
    path = Path(path)
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidValueError(f"scale is {scale!r}; expected a positive finite number.")
    suffix = path.suffix.lower()
    if suffix not in MESH_SUFFIXES:
        raise FileFormatError(
            f"'{path}' ends in '{suffix}'; expected one of {', '.join(MESH_SUFFIXES)}. "
            "Export it again in one of these."
        )
    if not path.is_file():
        raise FileFormatError(f"There is no file '{path}'. Check the path.")
    check_limit(path, "file_bytes", path.stat().st_size)
    try:
        # From memory, for then a file that names others cannot have them read.
        content = io.BytesIO(path.read_bytes())
        options = _OPTIONS.get(suffix, {})
        loaded = trimesh.load_scene(content, file_type=suffix[1:], process=False, **options)
        parts = [_part_arrays(part) for part in loaded.dump() if isinstance(part, trimesh.Trimesh)]
    except Exception as error:
        # The reader raises whatever its parsing stumbles on; all mean the same to the user. What
        # is no binary .stl is taken for text, and guessing its letters needs another package.
        reason = "its bytes are no text" if isinstance(error, ImportError) else str(error)
        raise FileFormatError(
            f"'{path}' cannot be read as {suffix}: {reason or type(error).__name__}. It may be "
            "truncated or of another format; export it again."
        ) from error
    for name, row in (("vertices", 0), ("faces", 1)):
        check_limit(path, name, sum(len(part[row]) for part in parts))
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [part[1] + offset for part, offset in zip(parts, offsets, strict=False)]
    stacked = np.concatenate([np.zeros((0, 3)), *(part[0] for part in parts)]) * scale
    if suffix == ".glb":
        stacked = np.stack([stacked[:, 0], -stacked[:, 2], stacked[:, 1]], axis=1)
    merged, index = np.unique(stacked, axis=0, return_inverse=True)
    joined = np.concatenate([np.zeros((0, 3), dtype=np.int64), *faces])
    return merged, index.reshape(-1)[joined].astype(np.int64)


def _part_arrays(
    part: trimesh.Trimesh,
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Vertices and triangles of a part; whatever else the reader gave is a ValueError."""
    vertices = np.asarray(part.vertices, dtype=np.float64)
    # Without triangles the reader gives no second axis.
    faces = np.asarray(part.faces).reshape(-1, 3).astype(np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ValueError(f"vertices have shape {vertices.shape}; expected three numbers each")
    if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
        raise ValueError(
            f"faces point to vertices {faces.min()} to {faces.max()} of {len(vertices)}"
        )
    return vertices, faces


# Pictures and materials are not wanted, and a missing one must not stop the reading.
_OPTIONS: dict[str, dict[str, bool]] = {".obj": {"skip_materials": True}}


def body_from_mesh(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    mass: float | None = None,
    density: float | None = None,
    friction: float = 0.6,
    repair: bool = False,
    allow_any_size: bool = False,
    name: str = "body",
    color: tuple[float, float, float] = _GREY,
) -> RigidBody:
    """Makes a body of uniform density from a closed triangle mesh.

    Parts that overlap are accepted; their mass properties are then those of the union. Where that
    cannot be computed (see ``outer_surface``), they come from a grid and are about 1 % off.

    Args:
        vertices: (V, 3), metres.
        faces: (F, 3), vertex indices, anticlockwise seen from outside.
        mass: Kilograms; or give ``density``.
        density: kg / m^3; ``DEFAULT_DENSITY`` if neither is given.
        friction: Coulomb coefficient against skin.
        repair: Mend what can be mended (see ``repair_mesh``) instead of raising.
        allow_any_size: Accept extents outside 5 mm to 1 m.
        name: What to call the body.
        color: Red, green, blue, each from 0 to 1.

    Raises:
        MeshError: If the mesh is not the closed surface of a hand-held solid.
    """
    vertices, faces = _as_triangles(name, vertices, faces)
    if mass is not None and density is not None:
        raise InvalidValueError(
            f"Body '{name}': both mass={mass!r} and density={density!r} are given; give one."
        )
    for label, value in (("mass", mass), ("density", density)):
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InvalidValueError(
                f"Body '{name}': {label} is {value!r}; expected a positive finite number."
            )
    if repair:
        vertices, faces, report = repair_mesh(vertices, faces)
        _logger.info("Body '%s': %s", name, report)
    problems = check_mesh(vertices, faces, allow_any_size=allow_any_size)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise MeshError(f"The mesh of body '{name}' cannot be used:\n{listed}")
    properties = mesh_properties(vertices, faces, density=density or DEFAULT_DENSITY)
    if mass is not None:
        properties = properties.with_mass(mass)
    return RigidBody(
        name=name,
        vertices=vertices,
        faces=faces,
        mass=properties.mass,
        center=properties.center,
        inertia=properties.inertia,
        friction=friction,
        sharp_edges=sharp_edges(vertices, faces),
        color=color,
    )


def _as_triangles(
    name: str, vertices: ArrayLike, faces: ArrayLike
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Arrays in one dtype and layout; other shapes are refused, for they could be read wrongly."""
    vertices, faces = np.asarray(vertices), np.asarray(faces)
    for what, array in (("vertices", vertices), ("faces", faces)):
        if array.size and (array.ndim != 2 or array.shape[1] != 3):
            hint = " Split polygons into triangles." if what == "faces" else ""
            raise InvalidValueError(
                f"Body '{name}': {what} has shape {array.shape}; expected (any, 3).{hint}"
            )
    if faces.size and faces.dtype.kind not in "iu":
        raise InvalidValueError(
            f"Body '{name}': faces are {faces.dtype}; expected integers, the numbers of vertices."
        )
    return (
        np.ascontiguousarray(vertices, dtype=np.float64).reshape(-1, 3),
        np.ascontiguousarray(faces, dtype=np.int64).reshape(-1, 3),
    )


def mesh_properties(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], *, density: float
) -> MassProperties:
    """Properties of the solid inside a closed mesh, whether or not its parts overlap.

    Args:
        vertices: Metres.
        faces: Outward-oriented triangles.
        density: kg / m^3.
    """
    if parts_overlap(vertices, faces):
        union = outer_surface(vertices, faces)
        if not union.is_exact:
            return union_properties(vertices, faces, density=density)
        vertices, faces = union.vertices, union.faces
    return solid_properties(vertices, faces, density=density)


def parts_overlap(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], *, num_points: int = 1000
) -> bool:
    """Whether the closed parts of a mesh run into each other, or lie one in the other.

    Looks at random points of each part's surface (always the same ones); an overlap whose walls
    are under a thousandth of a part's area can be missed, and then matters as little.

    Args:
        vertices: Metres.
        faces: Outward-oriented triangles of closed parts; cavities may face inwards.
        num_points: How many points are tried on each part.
    """
    num_parts, part_of_face = igl.facet_components(faces)
    rng = np.random.default_rng(0)
    for part in range(num_parts if num_parts > 1 else 0):
        mine = np.ascontiguousarray(faces[part_of_face == part])
        others = np.ascontiguousarray(faces[part_of_face != part])
        areas = face_areas(vertices[mine])
        chosen = rng.choice(len(mine), num_points, p=areas / areas.sum())
        weights = rng.dirichlet(np.ones(3), num_points)
        points = np.einsum("pc,pcx->px", weights, vertices[mine[chosen]])
        # Just behind an outward part its own winding is 1; just behind a cavity's wall it is 0.
        own = 1.0 if signed_volume(vertices, mine) > 0.0 else 0.0
        # Not igl.winding_number: its tree of caps is wrong for points in a plane of symmetry.
        if float(igl.fast_winding_number(vertices, others, points).max()) + own > 1.5:
            return True
    return False
