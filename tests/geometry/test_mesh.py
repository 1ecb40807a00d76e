"""Bodies from meshes: good files load, each planted fault is named, and repair mends it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import trimesh

from handwright.core.body import RigidBody
from handwright.errors import FileFormatError, InvalidValueError, MeshError
from handwright.geometry.mesh.bodies import (
    DEFAULT_DENSITY,
    body_from_mesh,
    check_mesh,
    load_body,
    load_mesh,
    parts_overlap,
    repair_mesh,
)
from handwright.geometry.mesh.edges import sharp_edges
from handwright.geometry.shapes.surfaces import cube_grid, extrude, icosphere


def cube(size=0.06, num_cells=3):
    vertices, faces = cube_grid(num_cells)
    return vertices * size / 2, faces


def ball(radius=0.04, level=2):
    vertices, faces = icosphere(level)
    return vertices * radius, faces


def joined(*meshes):
    offsets = np.cumsum([0, *(len(v) for v, _ in meshes)])
    return (
        np.concatenate([v for v, _ in meshes]),
        np.concatenate([f + k for (_, f), k in zip(meshes, offsets, strict=False)]),
    )


def volume(vertices, faces):
    return trimesh.Trimesh(vertices, faces, process=False).volume


# Planted faults ---------------------------------------------------------------------------------


def open_cube():
    vertices, faces = cube()
    return vertices, faces[5:]


def lidless_cube():
    vertices, faces = cube()
    return vertices, faces[~np.isclose(vertices[faces][..., 2], 0.03).all(axis=1)]


def seamed_cube():
    vertices, faces = cube()
    return vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def inverted_cube():
    vertices, faces = cube()
    return vertices, faces[:, ::-1].copy()


def mixed_winding_cube():
    vertices, faces = cube()
    faces = faces.copy()
    faces[7] = faces[7, ::-1]
    return vertices, faces


def zero_area_cube():
    vertices, faces = cube()
    a, b, c = faces[0]
    # A new corner in the middle of an edge makes the face beside it a cap without area.
    vertices = np.concatenate([vertices, [(vertices[a] + vertices[b]) / 2]])
    m = len(vertices) - 1
    faces = np.concatenate([faces[1:], [[a, m, c], [m, b, c], [a, b, m]]])
    return vertices, faces


def pointed_cube():
    vertices, faces = cube()
    return vertices, np.concatenate([faces, [[0, 0, 1]]])


def duplicate_cube():
    vertices, faces = cube()
    return vertices, np.concatenate([faces, faces[3:4]])


def unreferenced_cube():
    vertices, faces = cube()
    return np.concatenate([vertices, [[0.0, 0.0, 0.5]]]), faces


def nan_cube():
    vertices, faces = cube()
    vertices = vertices.copy()
    vertices[11, 1] = np.nan
    return vertices, faces


FAULTS = {
    open_cube: "not watertight: 15 open edges",
    lidless_cube: "not watertight: 12 open edges",
    seamed_cube: "coincide with others: seams",
    inverted_cube: "inverted (faces point inwards) in 1 of 1",
    mixed_winding_cube: "3 edges join faces of opposite winding",
    zero_area_cube: "1 faces have zero area",
    pointed_cube: "1 faces have zero area",
    duplicate_cube: "1 duplicate faces",
    unreferenced_cube: "1 unreferenced vertices",
    nan_cube: "1 vertices are NaN or infinite, the first is number 11",
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda f: f.__name__)
def test_fault_is_named_with_its_remedy(plant):
    with pytest.raises(MeshError) as caught:
        body_from_mesh(*plant(), name="thing")
    text = str(caught.value)
    assert "body 'thing'" in text
    assert FAULTS[plant] in text
    assert "repair=True" in text


@pytest.mark.parametrize("plant", FAULTS, ids=lambda f: f.__name__)
def test_repair_mends_fault(plant):
    vertices, faces, report = repair_mesh(*plant())
    assert check_mesh(vertices, faces) == []
    assert trimesh.Trimesh(vertices, faces, process=False).is_watertight
    # A flat lid over the lost faces or the lost vertex of a side gives the same cube back.
    assert volume(vertices, faces) == pytest.approx(0.06**3, rel=0.03)
    assert report.lines
    assert str(report) != "nothing to mend"
    assert body_from_mesh(*plant(), repair=True).mass > 0.0


def test_repair_reports_what_it_did():
    _, _, report = repair_mesh(*open_cube())
    assert report.filled_holes == [3] * 5
    assert report.filled_area_fraction == pytest.approx(5 / len(cube()[1]))
    assert repair_mesh(*lidless_cube())[2].filled_holes == [12]
    assert "filled" in str(report)
    assert repair_mesh(*inverted_cube())[2].flipped_faces == len(cube()[1])
    assert repair_mesh(*mixed_winding_cube())[2].flipped_faces in (1, len(cube()[1]) - 1)
    assert repair_mesh(*seamed_cube())[2].merged_vertices == 3 * len(cube()[1]) - len(cube()[0])
    assert repair_mesh(*nan_cube())[2].non_finite_vertices == 1
    assert repair_mesh(*duplicate_cube())[2].dropped_faces == 1
    assert repair_mesh(*unreferenced_cube())[2].dropped_vertices == 1


def test_repair_leaves_a_good_mesh_alone():
    vertices, faces, report = repair_mesh(*ball())
    assert report.lines == []
    assert len(vertices) == len(ball()[0])
    np.testing.assert_array_equal(np.sort(vertices[faces].sum(axis=1), axis=0),
                                  np.sort(ball()[0][ball()[1]].sum(axis=1), axis=0))  # fmt: skip


def test_repair_that_cannot_help_raises():
    with pytest.raises(MeshError, match="Repair was not enough"):
        repair_mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    flat = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    with pytest.raises(MeshError, match="Repair was not enough"):
        repair_mesh(flat, np.array([[0, 1, 2]]))


def test_all_problems_are_listed_at_once():
    vertices, faces = open_cube()
    vertices = np.concatenate([vertices, [[0.0, 0.0, 0.01]]])
    faces = np.concatenate([faces, faces[-1:], [[0, 0, 1]]])
    text = "\n".join(check_mesh(vertices * 100.0, faces))
    for part in ("6 m long", "not watertight", "duplicate", "zero area", "unreferenced"):
        assert part in text


def test_empty_mesh_is_named():
    with pytest.raises(MeshError, match="the mesh is empty: 0 vertices and 0 faces"):
        body_from_mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))


def test_faces_out_of_range_are_named():
    vertices, faces = cube()
    faces = faces.copy()
    faces[0, 0] = 9999
    with pytest.raises(MeshError, match="to 9999, but there are only"):
        body_from_mesh(vertices, faces)


@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (1000.0, "Is it in millimetres"),
        (100.0, "centimetres"),
        (2.0 / 0.06, "scale=0.01"),
        (0.001, "Pass scale=1000"),
    ],
)
def test_wrong_units_are_guessed(factor, hint):
    vertices, faces = cube()
    with pytest.raises(MeshError) as caught:
        body_from_mesh(vertices * factor, faces)
    assert hint in str(caught.value)
    assert "allow_any_size=True" in str(caught.value)
    big = body_from_mesh(vertices * factor, faces, allow_any_size=True)
    assert np.ptp(big.vertices) == pytest.approx(0.06 * factor)


def test_every_suggested_scale_is_accepted():
    vertices, faces = cube()
    for factor in (20.0, 100.0, 1000.0, 0.01, 0.001):
        (problem,) = check_mesh(vertices * factor, faces)
        scales = [float(w.strip("., ")[6:]) for w in problem.split() if w.startswith("scale=")]
        assert scales
        for scale in scales:
            assert check_mesh(vertices * factor * scale, faces) == []


def test_repair_does_not_hide_a_wrong_size():
    vertices, faces = open_cube()
    with pytest.raises(MeshError, match="60 m long"):
        body_from_mesh(vertices * 1000.0, faces, repair=True)


# Several parts ----------------------------------------------------------------------------------


def test_cavity_is_kept():
    outer, (inner, inner_faces) = ball(0.04), ball(0.03)
    hollow = joined(outer, (inner, inner_faces[:, ::-1]))
    assert check_mesh(*hollow) == []
    assert not parts_overlap(*hollow)
    body = body_from_mesh(*hollow, density=1000.0)
    expected = volume(*outer) - volume(inner, inner_faces)
    assert body.mass == pytest.approx(1000.0 * expected, rel=1e-9)
    mended = repair_mesh(*hollow)
    assert volume(*mended[:2]) == pytest.approx(expected)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_inside_out_is_a_cavity_within_another_part_and_a_mistake_beside_it(shift):
    """The first face of the small part has its middle in planes of symmetry of the large one."""
    outer, outer_faces = icosphere(3)
    corners = 0.004 * np.array([[-1.0, -1, 0], [1, -1, 0], [0, 2, 0], [0, 0, 2]])
    inner_faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])[:, ::-1]
    vertices = np.concatenate([0.03 * outer, corners + np.array([shift, 0.0, 0.0])])
    faces = np.concatenate([outer_faces, inner_faces + len(outer)])
    problems = check_mesh(vertices, faces)
    assert any("inverted" in problem for problem in problems) == (shift > 0.0)


def test_inverted_hollow_body_is_turned_as_a_whole():
    outer, (inner, inner_faces) = ball(0.04), ball(0.03)
    vertices, faces = joined((outer[0], outer[1][:, ::-1]), (inner, inner_faces))
    assert any("inverted" in problem for problem in check_mesh(vertices, faces))
    mended = repair_mesh(vertices, faces)
    assert volume(*mended[:2]) == pytest.approx(volume(*outer) - volume(inner, inner_faces))


def test_one_inverted_part_of_two_is_named_and_turned():
    near, (far, far_faces) = ball(), ball()
    vertices, faces = joined(near, (far + np.array([0.2, 0.0, 0.0]), far_faces[:, ::-1]))
    assert any("in 1 of 2 parts" in problem for problem in check_mesh(vertices, faces))
    assert volume(*repair_mesh(vertices, faces)[:2]) == pytest.approx(2 * volume(*near))


def test_overlapping_parts_weigh_their_union():
    first, (second, second_faces) = cube(), cube()
    vertices, faces = joined(first, (second + np.array([0.03, 0.0, 0.0]), second_faces))
    assert check_mesh(vertices, faces) == []
    assert parts_overlap(vertices, faces)
    body = body_from_mesh(vertices, faces, density=1000.0)
    assert body.mass == pytest.approx(1000.0 * 0.09 * 0.06**2, rel=1e-9)
    np.testing.assert_allclose(body.center, vertices.mean(axis=0), atol=1e-9)
    assert body_from_mesh(vertices, faces, mass=0.25).mass == pytest.approx(0.25)


def test_separate_parts_do_not_overlap():
    first, (second, second_faces) = cube(), cube()
    vertices, faces = joined(first, (second + np.array([0.1, 0.0, 0.0]), second_faces))
    assert not parts_overlap(vertices, faces)
    assert body_from_mesh(vertices, faces, density=1000.0).mass == pytest.approx(2e3 * 0.06**3)


def test_crossing_bars_without_vertices_in_each_other_overlap():
    x, y = 0.1, 0.01
    bar = extrude(np.array([(-x, -y), (x, -y), (x, y), (-x, y)]), height=0.02)
    other = (bar[0][:, [1, 0, 2]] * [1, -1, 1], bar[1])
    assert volume(*other) > 0
    assert parts_overlap(*joined(bar, other))


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_files_round_trip(tmp_path, suffix):
    vertices, faces = ball(level=3)
    path = tmp_path / f"pebble{suffix}"
    trimesh.Trimesh(vertices * 1000.0 + 5.0, faces, process=False).export(path)
    body = load_body(path, scale=0.001, mass=0.2, friction=0.8)
    assert body.name == "pebble"
    assert (body.mass, body.friction) == (0.2, 0.8)
    assert (len(body.vertices), len(body.faces)) == (len(vertices), len(faces))
    np.testing.assert_allclose(body.center, 0.005, atol=1e-6)
    np.testing.assert_allclose(body.bounds, [[-0.035] * 3, [0.045] * 3], atol=1e-6)


def test_glb_is_turned_z_up_and_its_scene_flattened(tmp_path):
    # In glTF the pillar's height is Y, and its front is +Z.
    low = trimesh.creation.box((0.02, 0.10, 0.04))
    top = trimesh.creation.box((0.02, 0.02, 0.02))
    scene = trimesh.Scene()
    scene.add_geometry(low)
    move = np.eye(4)
    move[:3, 3] = [0.0, 0.08, 0.01]
    scene.add_geometry(top, transform=move)
    path = tmp_path / "pillar.glb"
    scene.export(path)
    body = load_body(path)
    np.testing.assert_allclose(body.bounds, [[-0.01, -0.02, -0.05], [0.01, 0.02, 0.09]], atol=1e-6)
    high = body.vertices[body.vertices[:, 2] > 0.06]
    np.testing.assert_allclose(high[:, 1].mean(), -0.01, atol=1e-6)


def test_unreadable_files_say_why(tmp_path):
    with pytest.raises(FileFormatError, match="no file"):
        load_body(tmp_path / "missing.obj")
    other = tmp_path / "mug.fbx"
    other.write_bytes(b"x")
    with pytest.raises(FileFormatError, match=r"'\.fbx'; expected one of \.obj, \.stl"):
        load_body(other)
    whole = tmp_path / "whole.glb"
    trimesh.creation.box((0.05, 0.05, 0.05)).export(whole)
    cut = tmp_path / "cut.glb"
    cut.write_bytes(whole.read_bytes()[:100])
    with pytest.raises(FileFormatError, match=r"cannot be read as \.glb"):
        load_body(cut)


def test_file_without_triangles_is_empty(tmp_path):
    path = tmp_path / "points.ply"
    trimesh.PointCloud(np.eye(3)).export(path)
    with pytest.raises(MeshError, match="the mesh is empty"):
        load_body(path)


def test_load_mesh_keeps_faults_for_the_check(tmp_path):
    path = tmp_path / "open.obj"
    vertices, faces = open_cube()
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    with pytest.raises(MeshError, match="not watertight"):
        load_body(path)
    assert load_mesh(path)[1].shape == faces.shape
    assert load_body(path, repair=True).mass > 0.0


def test_bad_scale_is_refused(tmp_path):
    with pytest.raises(InvalidValueError, match=r"scale is -1\.0"):
        load_mesh(tmp_path / "any.obj", scale=-1.0)


# Mass -------------------------------------------------------------------------------------------


def test_arrays_of_other_shapes_are_refused_and_not_read_as_triangles():
    vertices, faces = cube()
    for shape in (vertices[:, :2], vertices.reshape(-1)):
        with pytest.raises(InvalidValueError, match=r"vertices has shape .* expected \(any, 3\)"):
            body_from_mesh(shape, faces)
    with pytest.raises(InvalidValueError, match="Split polygons into triangles"):
        body_from_mesh(vertices, np.arange(8).reshape(2, 4))
    with pytest.raises(InvalidValueError, match="faces are float64; expected integers"):
        body_from_mesh(vertices, faces + 0.5)


def test_mass_and_density():
    vertices, faces = cube()
    assert body_from_mesh(vertices, faces).mass == pytest.approx(DEFAULT_DENSITY * 0.06**3)
    light = body_from_mesh(vertices, faces, mass=0.1)
    np.testing.assert_allclose(light.inertia, 0.1 * 0.06**2 / 6 * np.eye(3), atol=1e-12)
    with pytest.raises(InvalidValueError, match="give one"):
        body_from_mesh(vertices, faces, mass=1.0, density=1.0)
    for wrong in ({"mass": 0.0}, {"density": -3.0}, {"mass": float("nan")}):
        with pytest.raises(InvalidValueError, match="expected a positive finite number"):
            body_from_mesh(vertices, faces, **wrong)


# Sharp edges ------------------------------------------------------------------------------------


def test_only_the_edges_of_a_cube_are_sharp():
    vertices, faces = cube(num_cells=4)
    sharp = sharp_edges(vertices, faces)
    assert len(sharp) == 12 * 4
    # On a cube's edge, two coordinates are extreme at both ends.
    extreme = np.isclose(np.abs(vertices[sharp]), 0.03).all(axis=1).sum(axis=1)
    assert (extreme == 2).all()


@pytest.mark.parametrize("num_sides", [6, 11, 13, 24])
def test_threshold_is_the_turn_of_the_surface(num_sides):
    angles = np.linspace(0.0, 2.0 * np.pi, num_sides, endpoint=False)
    outline = 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices, faces = extrude(outline, height=0.1)
    rims = 2 * num_sides
    upright = num_sides if 360.0 / num_sides > 30.0 else 0
    assert len(sharp_edges(vertices, faces)) == rims + upright


def test_open_edges_are_sharp():
    vertices, faces = ball()
    assert len(sharp_edges(vertices, faces[1:])) == 3


# The noun ---------------------------------------------------------------------------------------


def make():
    return body_from_mesh(*cube(), density=1000.0, name="die")


def test_body_is_frozen_and_its_arrays_too():
    body = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        body.mass = 1.0
    for array in (body.vertices, body.faces, body.center, body.inertia, body.sharp_edges):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_body_does_not_share_memory_with_its_maker():
    vertices, faces = cube()
    body = body_from_mesh(vertices, faces)
    before = body.content_hash
    vertices[:] = 0.0
    assert body.content_hash == before


def test_hash_tells_surfaces_apart_and_nothing_else():
    body = make()
    assert len(body.content_hash) == 64
    assert body.content_hash == make().with_mass(3.0).with_friction(0.1).content_hash
    moved = body.vertices.copy()
    moved[0, 0] = np.nextafter(moved[0, 0], 1.0)
    assert body.content_hash != dataclasses.replace(body, vertices=moved).content_hash
    rolled = np.roll(body.faces, 1, axis=0)
    assert body.content_hash != dataclasses.replace(body, faces=rolled).content_hash


def test_scaling_keeps_density():
    body, big = make(), make().scaled(2.0)
    assert big.mass == pytest.approx(8.0 * body.mass)
    again = body_from_mesh(big.vertices, big.faces, density=1000.0)
    np.testing.assert_allclose(big.inertia, again.inertia, atol=1e-12)
    assert big.radius_of_gyration == pytest.approx(2.0 * body.radius_of_gyration)
    np.testing.assert_allclose(big.bounds, 2.0 * body.bounds)
    for wrong in (0.0, -1.0, float("inf")):
        with pytest.raises(InvalidValueError, match="scale"):
            body.scaled(wrong)


def test_radius_of_gyration_is_the_rms_distance():
    # A cube's mean square distance from its middle is a^2 / 4.
    assert make().radius_of_gyration == pytest.approx(0.06 / 2.0)


def test_with_mass_keeps_the_distribution():
    body = make()
    heavy = body.with_mass(10.0 * body.mass)
    np.testing.assert_allclose(heavy.inertia, 10.0 * body.inertia)
    assert heavy.radius_of_gyration == pytest.approx(body.radius_of_gyration)
    with pytest.raises(InvalidValueError, match=r"mass is 0\.0 kg"):
        body.with_mass(0.0)


def test_invalid_body_lists_every_problem():
    body = make()
    with pytest.raises(InvalidValueError) as caught:
        RigidBody(
            name="",
            vertices=np.where(body.vertices == body.vertices[0], np.nan, body.vertices),
            faces=body.faces + 1000,
            mass=-1.0,
            center=np.array([0.0, np.inf, 0.0]),
            inertia=-body.inertia,
            friction=-0.1,
            sharp_edges=body.sharp_edges - 1000,
            color=(0.1, 0.2, 1.3),
        )
    text = str(caught.value)
    for part in ("name is empty", "not finite", "faces points to", "sharp_edges points to"):
        assert part in text
    for part in ("mass is -1.0", "center is", "principal moments", "friction is -0.1", "color is"):
        assert part in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inertia": np.diag([1.0, 1.0, 2.5])}, "above the sum of the other two"),
        ({"inertia": np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]])}, "not symmetric"),
        ({"inertia": np.full((3, 3), np.nan)}, "expected 3 x 3 finite"),
        ({"faces": np.zeros((0, 3), dtype=np.int64)}, "faces is empty"),
    ],
)
def test_single_faults_of_a_body_are_named(change, words):
    with pytest.raises(InvalidValueError, match=words):
        dataclasses.replace(make(), **change)
