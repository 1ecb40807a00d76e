"""What is wrong with a triangle mesh, in words a user can act on."""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.read_limits import over_limit
from handwright.geometry.mesh.edges import unique_edges
from handwright.geometry.mesh.inertia import signed_volume
from handwright.geometry.mesh.normals import face_areas

SMALLEST_EXTENT = 0.005
"""Metres; below this nothing is hand-held, and the file is probably in other units."""
LARGEST_EXTENT = 1.0
"""Metres; above this nothing is hand-held, and the file is probably in other units."""

LARGEST_COORDINATE = 1e6
"""Metres; squares and cubes of what lies farther away are no numbers to reckon with."""

# A face whose area is below this fraction of the squared extent has no usable normal.
_ZERO_AREA = 1e-12
_UNITS = {"millimetres": 0.001, "centimetres": 0.01, "inches": 0.0254, "metres": 1.0}


def check_mesh(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    allow_any_size: bool = False,
) -> list[str]:
    """Lists everything that keeps a mesh from being the surface of a hand-held solid.

    Closed parts that overlap are fine: the inside is where the winding number is above zero.
    So is a closed part turned inside out within another: that is a cavity.

    Args:
        vertices: Metres.
        faces: Vertex indices, anticlockwise seen from outside.
        allow_any_size: Accept extents outside 5 mm to 1 m.

    Returns:
        One sentence a problem, with its remedy; empty for a good mesh.
    """
    problems = array_problems(vertices, faces)
    if problems:
        # Nothing further can be measured on such arrays.
        return problems
    if problem := too_many_parts(faces):
        return [problem]
    extent = mesh_extent(vertices)
    if not allow_any_size:
        problems += _size_problems(extent)
    problems += _degeneracy_problems(vertices, faces)
    open_problems = _closedness_problems(vertices, faces)
    problems += open_problems
    if not open_problems:
        problems += _orientation_problems(vertices, faces)
    return problems


def mesh_extent(vertices: Float[np.ndarray, "V 3"]) -> float:
    """Longest side of the box around the vertices, metres."""
    return float(np.ptp(vertices, axis=0).max())


def too_many_parts(faces: Int[np.ndarray, "F 3"]) -> str | None:
    """Says so if a mesh has more parts than can be looked at one by one."""
    over = over_limit("parts", igl.facet_components(faces)[0])
    return f"the mesh has {over}; join them, or export a solid." if over else None


def zero_area_faces(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Bool[np.ndarray, "F"]:
    """Which faces have no area to speak of at the scale of the mesh."""
    return face_areas(vertices[faces]) <= _ZERO_AREA * mesh_extent(vertices) ** 2


def repeated_faces(faces: Int[np.ndarray, "F 3"]) -> Bool[np.ndarray, "F"]:
    """Which faces have the same three corners as an earlier face."""
    repeated = np.ones(len(faces), dtype=bool)
    repeated[np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1]] = False
    return repeated


def inverted_parts(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Int[np.ndarray, "F"], list[int]]:
    """The closed parts of a mesh, and which of them are inside out.

    Returns:
        For each face the number of its part; and the numbers of the parts that enclose a negative
        volume without being a cavity, that is without lying inside another part.
    """
    count, part_of_face = igl.facet_components(faces)
    part_of_face = part_of_face.astype(np.int64)
    inverted = []
    for part in range(count):
        mine = part_of_face == part
        if signed_volume(vertices, faces[mine]) >= 0.0:
            continue
        others = np.ascontiguousarray(faces[~mine])
        middle = vertices[faces[mine][:1]].mean(axis=1)
        # Not igl.winding_number: its tree of caps is wrong for points in a plane of symmetry.
        if count == 1 or igl.fast_winding_number(vertices, others, middle)[0] < 0.5:
            inverted.append(part)
    return part_of_face, inverted


def array_problems(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> list[str]:
    """What keeps arrays from being measured at all; empty for good ones."""
    problems = []
    if len(vertices) == 0 or len(faces) == 0:
        problems.append(
            f"the mesh is empty: {len(vertices)} vertices and {len(faces)} faces; "
            "export triangles, not points, curves or an empty scene."
        )
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if bad.size:
        problems.append(
            f"{bad.size} vertices are NaN or infinite, the first is number {bad[0]}; "
            "export again, or repair=True drops them with their faces and closes the holes."
        )
    elif vertices.size and float(np.abs(vertices).max()) > LARGEST_COORDINATE:
        problems.append(
            f"a coordinate is {float(np.abs(vertices).max()):.3g} m; expected at most "
            f"{LARGEST_COORDINATE:g} m. Pass a scale, or mend the file."
        )
    if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
        problems.append(
            f"faces point to vertices {faces.min()} to {faces.max()}, but there are only "
            f"{len(vertices)}; the file is damaged, export it again."
        )
    return problems


def _size_problems(extent: float) -> list[str]:
    if SMALLEST_EXTENT <= extent <= LARGEST_EXTENT:
        return []
    wanted = (
        f"expected {SMALLEST_EXTENT * 1000:g} mm to {LARGEST_EXTENT:g} m for something hand-held"
    )
    if extent == 0.0:
        return [f"all vertices are at one place; {wanted}."]
    if extent > LARGEST_EXTENT:
        guesses = {u: s for u, s in _UNITS.items() if s < 1.0}
    else:
        # A file already in metres that was converted once too often.
        guesses = {"metres, divided by 1000": 1000.0, "metres, divided by 100": 100.0}
    fits = {u: s for u, s in guesses.items() if SMALLEST_EXTENT <= extent * s <= LARGEST_EXTENT}
    hint = ""
    if fits:
        units = " or ".join(fits)
        scales = " or ".join(f"scale={s:g}" for s in fits.values())
        hint = f" Is it in {units}? Pass {scales}."
    return [f"it is {extent:.3g} m long; {wanted}.{hint} Or pass allow_any_size=True."]


def _degeneracy_problems(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> list[str]:
    problems = []
    flat = np.flatnonzero(zero_area_faces(vertices, faces))
    if flat.size:
        problems.append(
            f"{flat.size} faces have zero area, the first is number {flat[0]}; "
            "repair=True removes them."
        )
    repeated = np.flatnonzero(repeated_faces(faces))
    if repeated.size:
        problems.append(
            f"{repeated.size} duplicate faces, the first is number {repeated[0]}; "
            "repair=True removes them."
        )
    unused = len(vertices) - len(np.unique(faces))
    if unused:
        problems.append(f"{unused} unreferenced vertices; repair=True removes them.")
    return problems


def _closedness_problems(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> list[str]:
    edges, rows, direction = unique_edges(faces)
    counts = np.bincount(rows, minlength=len(edges))
    balance = np.bincount(rows, weights=direction, minlength=len(edges))
    problems = []
    num_open = int(np.count_nonzero(counts % 2))
    if num_open:
        coincident = len(vertices) - len(np.unique(vertices, axis=0))
        seams = f" {coincident} vertices coincide with others: seams." if coincident else ""
        problems.append(
            f"the surface is not watertight: {num_open} open edges.{seams} "
            "Close it in a modeller, or repair=True merges seams and fills holes."
        )
    num_disagreeing = int(np.count_nonzero((counts % 2 == 0) & (balance != 0)))
    if num_disagreeing:
        problems.append(
            f"{num_disagreeing} edges join faces of opposite winding; repair=True turns them."
        )
    return problems


def _orientation_problems(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> list[str]:
    part_of_face, inverted = inverted_parts(vertices, faces)
    if inverted:
        num_parts = int(part_of_face.max()) + 1
        return [
            f"the surface is inverted (faces point inwards) in {len(inverted)} of {num_parts} "
            "parts; flip the normals in a modeller, or repair=True turns them."
        ]
    if abs(signed_volume(vertices, faces)) <= _ZERO_AREA * mesh_extent(vertices) ** 3:
        return ["the surface encloses no volume; give flat things a thickness."]
    return []
