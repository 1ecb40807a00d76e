"""The exact union of the closed parts of a mesh, by manifold3d.

manifold3d takes parts that are closed, each edge between two faces. It sees faces of two parts as
touching only if they touch to rounding. Parts of an assembly often do not quite: they leave a gap
of less than a micrometre, and with it a wall in the middle of what is one solid for everybody. So
the union is looked at, and given up where that is so; ``outer_surface`` then cuts the parts itself.
"""

from __future__ import annotations

import igl
import manifold3d
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.mesh.inertia import signed_volume

# Points of a union at which gaps are looked for. A gap below so small a part of the surface can be
# missed.
_NUM_POINTS = 20_000
# Metres along the surface by which a gap is wider than the edge of a seam.
_PATCH = 2e-5


def union_of_parts(
    vertices: Float[np.ndarray, "V 3"], parts: list[Int[np.ndarray, "_ 3"]]
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, "G"]] | None:
    """Surface of the solid that closed parts make together.

    Args:
        vertices: Metres.
        parts: Vertex indices of the faces of each part, anticlockwise seen from outside. A part
            turned inside out is a cavity of the part around it.

    Returns:
        Vertices, faces, and for each face the row that it is a piece of in all faces of the parts,
        one part after the other; or None if manifold3d refuses a part, or if there is a cavity
        that lies in no single part.
    """
    first = np.cumsum([0, *(len(faces) for faces in parts)])
    is_cavity = [signed_volume(vertices, faces) < 0.0 for faces in parts]
    solids: dict[int, manifold3d.Manifold] = {}
    for index, faces in enumerate(parts):
        if not is_cavity[index]:
            solids[index] = _solid(vertices, faces, np.arange(first[index], first[index + 1]))
    for index, faces in enumerate(parts):
        if is_cavity[index]:
            around = _part_around(vertices, faces, {key: parts[key] for key in solids})
            if around is None:
                return None
            rows = np.arange(first[index], first[index + 1])
            solids[around] -= _solid(vertices, faces[:, ::-1], rows)
    if not solids or any(_is_refused(solid) for solid in solids.values()):
        return None
    union = manifold3d.Manifold.batch_boolean(list(solids.values()), manifold3d.OpType.Add)
    if _is_refused(union):
        return None
    mesh = union.to_mesh64()
    return (
        np.array(mesh.vert_properties[:, :3], dtype=np.float64),
        np.array(mesh.tri_verts, dtype=np.int64),
        np.array(mesh.face_id, dtype=np.int64),
    )


def has_gaps(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    corners: Float[np.ndarray, "G 3 3"],
    width: float,
) -> bool:
    """Whether a part of a surface faces the solid itself across a narrow gap.

    Args:
        vertices: Of the solid, metres.
        faces: Of the solid, closed; parts may overlap.
        corners: Triangles of its surface.
        width: Metres below which a gap is none.
    """
    tree = igl.FastWindingNumberBVH()
    tree.init(vertices, faces)
    points, normal, along = _points_on(corners)
    # Near the edge of a seam a point may have the solid in front of it; points around it have not.
    for first, second in ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        shift = _PATCH * (first * along + second * np.cross(normal, along))
        faces_solid = _is_in(tree, points + width * normal + shift)
        points, normal, along = points[faces_solid], normal[faces_solid], along[faces_solid]
        if len(points) == 0:
            return False
    return True


def _points_on(
    corners: Float[np.ndarray, "G 3 3"],
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Random points of triangles, always the same ones; unit normals, and units along edges."""
    edge = corners[:, 1] - corners[:, 0]
    normal = np.cross(edge, corners[:, 2] - corners[:, 0])
    length, area = np.linalg.norm(edge, axis=1), np.linalg.norm(normal, axis=1)
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(corners), _NUM_POINTS, p=area / area.sum())
    points = np.einsum("nc,ncx->nx", rng.dirichlet(np.ones(3), _NUM_POINTS), corners[chosen])
    return (
        points,
        normal[chosen] / area[chosen, None],
        edge[chosen] / length[chosen, None],
    )


def _is_in(
    tree: igl.FastWindingNumberBVH, points: Float[np.ndarray, "N 3"]
) -> Bool[np.ndarray, "N"]:
    return np.atleast_1d(tree.winding_number(np.ascontiguousarray(points))) > 0.5


def _solid(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], rows: Int[np.ndarray, "F"]
) -> manifold3d.Manifold:
    used, inverse = np.unique(faces, return_inverse=True)
    return manifold3d.Manifold(
        manifold3d.Mesh64(
            vert_properties=vertices[used],
            tri_verts=np.ascontiguousarray(inverse.reshape(-1, 3), dtype=np.uint64),
            face_id=np.ascontiguousarray(rows, dtype=np.uint64),
        )
    )


def _is_refused(solid: manifold3d.Manifold) -> bool:
    return bool(solid.status() != manifold3d.Error.NoError or solid.is_empty())


def _part_around(
    vertices: Float[np.ndarray, "V 3"],
    cavity: Int[np.ndarray, "K 3"],
    solids: dict[int, Int[np.ndarray, "_ 3"]],
) -> int | None:
    """The smallest solid part that a whole cavity lies in."""
    points = np.ascontiguousarray(vertices[np.unique(cavity)])
    found = {}
    for index, faces in solids.items():
        tree = igl.FastWindingNumberBVH()
        tree.init(vertices, np.ascontiguousarray(faces))
        if _is_in(tree, points).all():
            found[index] = signed_volume(vertices, faces)
    return min(found, key=found.__getitem__) if found else None
