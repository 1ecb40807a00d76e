"""Mending of triangle meshes, only ever on request, with a list of what was done."""

from __future__ import annotations

from dataclasses import dataclass, field

import igl
import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from handwright.core.read_limits import over_limit
from handwright.errors import MeshError
from handwright.geometry.mesh.checking import (
    array_problems,
    check_mesh,
    inverted_parts,
    mesh_extent,
    repeated_faces,
    too_many_parts,
    zero_area_faces,
)
from handwright.geometry.mesh.edges import unique_edges
from handwright.geometry.mesh.inertia import signed_volume
from handwright.geometry.mesh.normals import face_areas

# Vertices within that distance of a vertex, on average, above which a mesh is no mesh.
_MOST_NEAR = 100
# Vertices nearer than this fraction of the extent are one vertex that was written twice.
_MERGE_DISTANCE = 1e-6


@dataclass(slots=True)
class RepairReport:
    """What ``repair_mesh`` changed.

    Attributes:
        non_finite_vertices: Vertices dropped because they were NaN or infinite.
        merged_vertices: Vertices that became one with a near one.
        dropped_faces: Faces dropped as degenerate, duplicate or attached to a bad vertex.
        flipped_faces: Faces whose winding was turned.
        filled_holes: Number of edges of each hole that was filled.
        filled_area_fraction: Area of the fillings over the area of the result.
        dropped_vertices: Vertices dropped because no face used them.
    """

    non_finite_vertices: int = 0
    merged_vertices: int = 0
    dropped_faces: int = 0
    flipped_faces: int = 0
    filled_holes: list[int] = field(default_factory=list)
    filled_area_fraction: float = 0.0
    dropped_vertices: int = 0

    @property
    def lines(self) -> list[str]:
        """One sentence a change; empty when nothing needed mending."""
        found = [
            (self.non_finite_vertices, "dropped {} NaN or infinite vertices"),
            (self.merged_vertices, "merged {} vertices into near ones"),
            (self.dropped_faces, "dropped {} degenerate or duplicate faces"),
            (self.flipped_faces, "turned {} faces"),
            (self.dropped_vertices, "dropped {} unused vertices"),
        ]
        lines = [text.format(count) for count, text in found if count]
        if self.filled_holes:
            sizes = ", ".join(str(size) for size in self.filled_holes[:8])
            more = ", ..." if len(self.filled_holes) > 8 else ""
            lines.append(
                f"filled {len(self.filled_holes)} holes of {sizes}{more} edges: "
                f"{100.0 * self.filled_area_fraction:.2g} % of the surface is new"
            )
        return lines

    def __str__(self) -> str:
        return "; ".join(self.lines) or "nothing to mend"


def repair_mesh(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], RepairReport]:
    """Mends a mesh: merges, drops, turns and fills until it is closed and faces outwards.

    Holes are filled with a fan around their middle, so a cup that was modelled as one open
    surface becomes a solid; the report says how much of the surface is new. Size is left alone:
    pass a scale instead.

    Args:
        vertices: Any unit of length.
        faces: Vertex indices.

    Returns:
        Vertices, faces and what was done.

    Raises:
        MeshError: If the mesh is still not the closed surface of a solid.
    """
    report = RepairReport()
    faces = _drop_non_finite(vertices, faces, report)
    vertices = np.where(np.isfinite(vertices), vertices, 0.0)
    if len(faces) and not array_problems(vertices, faces):
        vertices, faces = _drop_unused(vertices, faces, report)
        # Bad vertices have lost their faces, and are counted already.
        report.dropped_vertices -= report.non_finite_vertices
        vertices, faces = _merge(vertices, faces, report)
        faces = _flip_caps(vertices, faces, report)
        faces = _drop_degenerate(faces, report)
    if len(faces) and not array_problems(vertices, faces):
        if problem := too_many_parts(faces):
            raise MeshError(f"The mesh cannot be mended: {problem}")
        faces = _unify_winding(faces, report)
        vertices, faces = _fill_holes(vertices, faces, report)
        faces = _turn_outwards(vertices, faces, report)
        vertices, faces = _drop_unused(vertices, faces, report)
    problems = check_mesh(vertices, faces, allow_any_size=True)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise MeshError(f"Repair was not enough ({report}); mend it in a modeller:\n{listed}")
    return vertices, faces, report


def _drop_non_finite(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], report: RepairReport
) -> Int[np.ndarray, "G 3"]:
    finite = np.isfinite(vertices).all(axis=1)
    report.non_finite_vertices = int(np.count_nonzero(~finite))
    # Indices that point nowhere are sent to one more, bad, vertex.
    known = (faces >= 0) & (faces < len(vertices))
    keep = np.append(finite, False)[np.where(known, faces, len(vertices))].all(axis=1)
    report.dropped_faces += int(np.count_nonzero(~keep))
    return faces[keep]


def _merge(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], report: RepairReport
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "F 3"]]:
    tree, reach = cKDTree(vertices), _MERGE_DISTANCE * mesh_extent(vertices)
    # Counting is quick; so many pairs would not fit into memory.
    if tree.count_neighbors(tree, reach) > _MOST_NEAR * len(vertices):
        raise MeshError(
            f"Most of the {len(vertices)} vertices lie within {reach:.2g} m of each other; "
            "export the mesh again."
        )
    pairs = tree.query_pairs(reach, output_type="ndarray")
    graph = coo_array(
        (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(vertices), len(vertices))
    )
    count, group = connected_components(graph, directed=False)
    report.merged_vertices = len(vertices) - count
    first = np.unique(group, return_index=True)[1]
    return vertices[first], group[faces].astype(np.int64)


def _flip_caps(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], report: RepairReport
) -> Int[np.ndarray, "F 3"]:
    """Gives a zero-area face whose corner lies on its longest edge to the face beyond that edge.

    Dropping it instead would open a hole as thin as the face.
    """
    faces = faces.copy()
    distinct = np.array([len(set(face)) == 3 for face in faces.tolist()])
    caps = np.flatnonzero(zero_area_faces(vertices, faces) & distinct)
    _check_edges(len(caps))
    for cap in caps:
        corners = vertices[faces[cap]]
        lengths = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        a, b, c = np.roll(faces[cap], -int(np.argmax(lengths)))
        beyond = np.flatnonzero((faces == a).any(axis=1) & (faces == b).any(axis=1))
        beyond = beyond[beyond != cap]
        if len(beyond) != 1:
            continue
        d = next(iter(set(faces[beyond[0]].tolist()) - {int(a), int(b)}), None)
        if d is None or d == c:
            continue
        faces[cap], faces[beyond[0]] = (a, d, c), (d, b, c)
        report.flipped_faces += 1
    return faces


def _drop_degenerate(faces: Int[np.ndarray, "F 3"], report: RepairReport) -> Int[np.ndarray, "G 3"]:
    ordered = np.sort(faces, axis=1)
    pointed = (ordered[:, 0] == ordered[:, 1]) | (ordered[:, 1] == ordered[:, 2])
    kept = faces[~pointed]
    kept = kept[~repeated_faces(kept)] if len(kept) else kept
    report.dropped_faces += len(faces) - len(kept)
    return kept


def _unify_winding(faces: Int[np.ndarray, "F 3"], report: RepairReport) -> Int[np.ndarray, "F 3"]:
    turned = igl.bfs_orient(np.ascontiguousarray(faces))[0].astype(np.int64)
    report.flipped_faces += _count_turned(faces, turned)
    return turned


def _count_turned(before: Int[np.ndarray, "F 3"], after: Int[np.ndarray, "F 3"]) -> int:
    same = np.zeros(len(before), dtype=bool)
    for shift in range(3):
        same |= (np.roll(before, shift, axis=1) == after).all(axis=1)
    return int(np.count_nonzero(~same))


def _fill_holes(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], report: RepairReport
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    new_vertices, new_faces = [vertices], [faces]
    next_index = len(vertices)
    for loop in _boundary_loops(vertices, faces):
        report.filled_holes.append(len(loop))
        following = np.roll(loop, -1)
        if len(loop) == 3:
            new_faces.append(loop[None, ::-1])
            continue
        new_vertices.append(vertices[loop].mean(axis=0, keepdims=True))
        # The filling runs along the border the other way than the faces that are there.
        new_faces.append(np.stack([following, loop, np.full(len(loop), next_index)], axis=1))
        next_index += 1
    vertices, filled = np.concatenate(new_vertices), np.concatenate(new_faces)
    areas = face_areas(vertices[filled])
    report.filled_area_fraction = float(areas[len(faces) :].sum() / max(areas.sum(), 1e-300))
    return vertices, filled


def _check_edges(count: int) -> None:
    """Refuses to mend what would take minutes."""
    if over := over_limit("open_edges", count):
        raise MeshError(f"There is too much to mend: {over}. Mend the mesh in a modeller.")


def _boundary_loops(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> list[Int[np.ndarray, "L"]]:
    """Closed chains of the half-edges that have no partner."""
    half_edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges, rows, _ = unique_edges(faces)
    lone = half_edges[np.bincount(rows, minlength=len(edges))[rows] == 1]
    _check_edges(len(lone))
    onward: dict[int, list[int]] = {}
    for start, end in lone.tolist():
        onward.setdefault(start, []).append(end)
    loops = []
    while onward:
        first = min(onward)
        chain = [first, onward[first].pop()]
        if not onward[first]:
            del onward[first]
        while chain[-1] in onward:
            last, here = chain[-2:]
            ends = onward[here]
            ahead = _next_around(vertices, faces, last, here, ends) if len(ends) > 1 else ends[0]
            ends.remove(ahead)
            if not ends:
                del onward[here]
            if ahead not in chain:
                chain.append(ahead)
                continue
            start = chain.index(ahead)
            loops.append(np.array(chain[start:], dtype=np.int64))
            # A hole can touch itself: close this lobe and go on with the rest of the way.
            del chain[start + 1 :]
            if start == 0:
                break
    return [loop for loop in loops if len(loop) >= 3]


def _next_around(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    last: int,
    here: int,
    ends: list[int],
) -> int:
    """Which way on borders the same hole, at a corner where several holes touch.

    The hole lies on the right of the way, so it is swept by turning anticlockwise from the way
    back until the first way on.
    """
    a, b, c = np.moveaxis(vertices[faces[(faces == here).any(axis=1)]], 1, 0)
    normal = np.cross(b - a, c - a).sum(axis=0)
    normal /= max(float(np.linalg.norm(normal)), 1e-300)
    back = vertices[last] - vertices[here]
    side = np.cross(normal, back)
    turns = []
    for end in ends:
        way = vertices[end] - vertices[here]
        turns.append(float(np.arctan2(way @ side, way @ back)) % (2.0 * np.pi))
    return ends[int(np.argmin(turns))]


def _turn_outwards(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], report: RepairReport
) -> Int[np.ndarray, "F 3"]:
    turned = faces
    if signed_volume(vertices, faces) < 0.0:
        # The whole mesh at once, so that the cavities of an inverted solid stay cavities.
        turned = turned[:, ::-1]
    part_of_face, inverted = inverted_parts(vertices, np.ascontiguousarray(turned))
    turned = np.where(np.isin(part_of_face, inverted)[:, None], turned[:, ::-1], turned)
    report.flipped_faces += _count_turned(faces, turned)
    return np.ascontiguousarray(turned)


def _drop_unused(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    report: RepairReport,
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "F 3"]]:
    used, renumbered = np.unique(faces, return_inverse=True)
    report.dropped_vertices += len(vertices) - len(used)
    return vertices[used], renumbered.reshape(faces.shape).astype(np.int64)
