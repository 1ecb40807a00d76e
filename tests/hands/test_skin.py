"""The skin: a closed, well-shaped mesh that agrees with the hand it covers and bends well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from handwright.errors import InvalidValueError
from handwright.hands import bones_of_size, human, skin_of, trident
from handwright.hands.human.surface import skin_shape
from handwright.hands.skin import build as skin_module
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.form import form_of_bones, form_of_model
from handwright.hands.skin.mesh import mesh_of
from handwright.kinematics import (
    link_poses,
    posed_capsules,
    posed_sites,
    posed_skin,
    vertex_normals,
)
from handwright.math import rotation
from handwright.math.pose import Pose

MM = 1e-3


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    patch = pytest.MonkeyPatch()
    patch.setenv("HANDWRIGHT_CACHE", str(folder))
    yield folder
    patch.undo()


@pytest.fixture(scope="module")
def model():
    return human()


@pytest.fixture(scope="module")
def skin(model, cache):
    return skin_of(model)


def directed_edges(faces):
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)


def undirected_edges(faces):
    return np.unique(np.sort(directed_edges(faces), axis=1), axis=0)


def assert_closed_ball(vertices, faces):
    """Closed, oriented, in one piece and without holes through it."""
    edges = directed_edges(faces)
    assert len(np.unique(edges, axis=0)) == len(edges), "an edge is used twice in one direction"
    there = {tuple(edge) for edge in edges.tolist()}
    assert all((b, a) in there for a, b in there), "an edge has a face on one side only"
    assert np.array_equal(np.unique(faces), np.arange(len(vertices))), "unused vertices"
    assert len(vertices) - len(edges) // 2 + len(faces) == 2
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(len(vertices),) * 2)
    assert connected_components(graph, directed=False)[0] == 1
    assert volume(vertices, faces) > 0


def volume(vertices, faces):
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def smallest_angles(vertices, faces):
    corners = vertices[faces]
    angles = []
    for k in range(3):
        u = corners[:, (k + 1) % 3] - corners[:, k]
        v = corners[:, (k + 2) % 3] - corners[:, k]
        cosine = np.einsum("ij,ij->i", u, v)
        cosine /= np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return np.min(angles, axis=0)


def distance_to_mesh(points, vertices, faces):
    """Distance to dense samples of the faces: an upper bound, close for small triangles."""
    near = cKDTree(points).query(vertices[faces].mean(axis=1))[0] < 5 * MM
    faces = faces[near]
    steps = [(i / 4, j / 4) for i in range(5) for j in range(5 - i)]
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    samples = np.concatenate([a + s * (b - a) + t * (c - a) for s, t in steps])
    return cKDTree(samples).query(points)[0]


def crossing_pairs(vertices, faces):
    """Pairs of faces without a common vertex of which one is pierced by an edge of the other."""
    corners = vertices[faces]
    middle = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middle[:, None], axis=2).max()
    pairs = cKDTree(middle).query_pairs(2 * reach, output_type="ndarray")
    # Boxes that do not touch cannot cross.
    low, high = corners.min(axis=1), corners.max(axis=1)
    one, other = pairs.T
    touch = (low[one] <= high[other]).all(axis=1) & (low[other] <= high[one]).all(axis=1)
    pairs = pairs[touch]
    shared = (faces[pairs[:, 0]][:, :, None] == faces[pairs[:, 1]][:, None, :]).any(axis=(1, 2))
    pairs = pairs[~shared]
    hit = np.zeros(len(pairs), dtype=bool)
    for one, other in (pairs.T, pairs.T[::-1]):
        a, b, c = np.moveaxis(corners[other], 1, 0)
        normal = np.cross(b - a, c - a)
        for k in range(3):
            start, end = corners[one, k], corners[one, (k + 1) % 3]
            low = np.einsum("ij,ij->i", start - a, normal)
            high = np.einsum("ij,ij->i", end - a, normal)
            with np.errstate(invalid="ignore", divide="ignore"):
                point = start + (low / (low - high))[:, None] * (end - start)
                inside = low * high < 0
                for p, q in ((a, b), (b, c), (c, a)):
                    inside &= np.einsum("ij,ij->i", np.cross(q - p, point - p), normal) > 0
            hit |= inside
    return pairs[hit]


def test_mesh_is_a_closed_ball_of_good_triangles(skin):
    assert_closed_ball(skin.vertices, skin.faces)
    assert 8_000 <= len(skin.vertices) <= 14_000
    assert smallest_angles(skin.vertices, skin.faces).min() > 1.5
    assert np.percentile(smallest_angles(skin.vertices, skin.faces), 1) > 20


def test_mesh_does_not_cross_itself(skin):
    assert len(crossing_pairs(skin.vertices, skin.faces)) == 0


def test_crossing_check_finds_fingers_that_cross(model, skin):
    q = skin.bind.copy()
    q[model.joints.index("index_mcp_abduction")] = np.radians(-20)
    q[model.joints.index("middle_mcp_abduction")] = np.radians(20)
    assert len(crossing_pairs(posed_skin(model, skin, q), skin.faces)) > 0


@pytest.mark.parametrize(("length", "breadth"), [(0.15, 0.065), (0.165, 0.073), (0.215, 0.098)])
def test_other_sizes_are_closed_balls_too(length, breadth):
    bones = bones_of_size(length, breadth)
    field = SkinField(form_of_bones(bones, skin_shape(bones)))
    vertices, faces = mesh_of(field, 0.26 * field.form.thickness, 5_000)
    assert_closed_ball(vertices, faces)
    assert np.abs(field.distance(vertices)).max() < 0.01 * MM


def test_a_stout_hand_gets_a_whole_skin_with_nails(cache):
    stout = skin_of(human(length=0.17, breadth=0.09))
    assert_closed_ball(stout.vertices, stout.faces)
    edges = undirected_edges(stout.faces)
    length = np.linalg.norm(stout.vertices[edges[:, 0]] - stout.vertices[edges[:, 1]], axis=1)
    assert length.max() < 8 * MM, "a vertex has strayed"
    assert smallest_angles(stout.vertices, stout.faces).min() > 1.0


def test_bones_that_make_no_hand_are_refused():
    bones = bones_of_size(0.19, 0.086)
    direction, phalanges = bones.direction.copy(), bones.phalanges.copy()
    # A long thumb that grows into the index finger: the skin would be a ring.
    aim = bones.knuckle[1] + 0.045 * bones.direction[1] - bones.knuckle[0]
    direction[0] = aim / np.linalg.norm(aim)
    phalanges[0] *= 1.6
    ring = replace(bones, direction=direction, phalanges=phalanges)
    field = SkinField(form_of_bones(ring, skin_shape(ring)))
    with pytest.raises(InvalidValueError, match=r"1 parts and Euler number 0"):
        mesh_of(field, 0.2 * field.form.thickness, 5_000)


def test_form_is_the_same_from_bones_and_from_the_model(model):
    bones = bones_of_size(0.1938, 0.0904)
    model = human(bones=bones)
    assert form_of_bones(bones, model.skin).digest() == form_of_model(model).digest()


def test_field_is_close_to_a_distance_near_the_skin(model):
    field = SkinField(form_of_model(model))
    rng = np.random.default_rng(0)
    low, high = field.bounds()
    points = field.project(rng.uniform(low, high, (4000, 3)), 25)
    points = points[np.abs(field.distance(points)) < 1e-6]
    assert len(points) > 2000
    normal = field.normals(points)
    for step in (-0.5 * MM, 0.5 * MM):
        value = field.distance(points + step * normal)
        assert np.percentile(np.abs(value / step - 1.0), 95) < 0.25


def test_weights_are_four_shares_of_geometry_links(model, skin):
    assert skin.weights.shape == skin.links.shape == (len(skin.vertices), 4)
    assert np.abs(skin.weights.sum(axis=1) - 1.0).max() < 1e-12
    assert skin.weights.min() >= 0.0
    carriers = set(model.capsules.link.tolist()) | {model.wrist_link}
    assert set(skin.links[skin.weights > 0].tolist()) == carriers
    for link in carriers:
        share = np.where(skin.links == link, skin.weights, 0.0).sum(axis=1)
        assert share.max() > 0.6, f"no part of the skin belongs to link {link}"


def palm_side(model, skin, capsule):
    """Vertices of a phalanx whose normal is within 60 degrees of the palm side."""
    turns, _ = link_poses(model, skin.bind)
    digit = model.digits[model.capsules.digit[capsule]].name
    tip = model.frames.index(f"{digit}_tip")
    dorsal = turns[model.frames.link[tip]] @ rotation.to_matrix(model.frames.wxyz[tip])[:, 1]
    share = np.where(skin.links == model.capsules.link[capsule], skin.weights, 0.0).sum(axis=1)
    normal = vertex_normals(skin.vertices, skin.faces)
    return (share > 0.9) & (normal @ dorsal < -0.5)


def capsule_gap(posed, capsule, points):
    start, end = posed.start[capsule], posed.end[capsule]
    t = np.clip((points - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1)
    axis = start + t[:, None] * (end - start)
    return np.linalg.norm(points - axis, axis=1) - posed.radius[capsule]


def test_capsules_follow_the_palm_side_of_every_phalanx(model, skin):
    posed = posed_capsules(model, skin.bind)
    for capsule in np.flatnonzero(model.capsules.digit >= 0):
        points = skin.vertices[palm_side(model, skin, capsule)]
        assert len(points) >= 20
        assert np.abs(capsule_gap(posed, capsule, points)).max() <= 1.5 * MM, capsule


def test_capsules_fill_the_palm(model, skin):
    posed = posed_capsules(model, skin.bind)
    gap = np.min([capsule_gap(posed, c, skin.vertices) for c in range(len(model.capsules))], axis=0)
    palm = set(model.capsules.link[model.capsules.digit < 0].tolist())
    share = np.where(np.isin(skin.links, list(palm)), skin.weights, 0.0).sum(axis=1)
    faces_down = vertex_normals(skin.vertices, skin.faces)[:, 2] < -0.5
    chosen = (share > 0.9) & faces_down & (skin.vertices[:, 0] > 0.015)
    assert np.percentile(np.abs(gap[chosen]), 97) < 2 * MM
    assert np.abs(gap[chosen]).max() < 5 * MM


@pytest.mark.parametrize("side", ["right", "left"])
def test_sites_lie_on_the_skin(side, cache):
    model = human(side)
    skin = skin_of(model)
    sites = posed_sites(model, skin.bind)
    assert 100 <= len(model.sites) <= 110
    assert distance_to_mesh(sites.position, skin.vertices, skin.faces).max() < 1.0 * MM
    nearest = cKDTree(skin.vertices).query(sites.position)[1]
    normal = vertex_normals(skin.vertices, skin.faces)[nearest]
    assert np.einsum("ij,ij->i", normal, sites.normal).min() > 0.8


def test_pads_tips_and_nails_lie_on_the_skin(model, skin):
    turns, places = link_poses(model, skin.bind)
    nail_faces = skin.faces[skin.is_nail]
    for digit in model.digits:
        for point in (digit.tip, digit.pad, digit.nail):
            world = places[point.link] + turns[point.link] @ point.position
            assert distance_to_mesh(world[None], skin.vertices, skin.faces)[0] < 0.5 * MM
        # The last of them is the nail's: it must be on a plate, not only on the skin.
        assert distance_to_mesh(world[None], skin.vertices, nail_faces)[0] < 0.5 * MM


def test_nails_are_five_plates_with_simple_outlines(model, skin):
    faces = skin.faces[skin.is_nail]
    edges = directed_edges(faces)
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(len(skin.vertices),) * 2)
    _, label = connected_components(graph, directed=False)
    plates = np.unique(label[faces[:, 0]])
    assert len(plates) == 5
    there = {tuple(edge) for edge in edges.tolist()}
    for plate in plates:
        own = faces[label[faces[:, 0]] == plate]
        rim = {a: b for a, b in directed_edges(own).tolist() if (b, a) not in there}
        first = next(iter(rim))
        loop = [first]
        while (after := rim[loop[-1]]) != first:
            loop.append(after)
        assert len(loop) == len(rim), "the outline is more than one loop"
        a, b, c = np.moveaxis(skin.vertices[own], 1, 0)
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
        assert 60e-6 < area < 260e-6
        # A clean outline turns steadily: no zigzag from edge to edge.
        path = skin.vertices[loop]
        step = np.roll(path, -1, axis=0) - path
        step /= np.linalg.norm(step, axis=1, keepdims=True)
        turn = np.arccos(np.clip(np.einsum("ij,ij->i", step, np.roll(step, -1, axis=0)), -1, 1))
        assert np.degrees(turn.max()) < 40
        assert np.degrees(turn.sum()) < 480


def test_left_is_the_mirror_image_of_right(skin, cache):
    left = skin_of(human("left"))
    assert np.array_equal(left.vertices, skin.vertices * [1, -1, 1])
    assert np.array_equal(left.faces, skin.faces[:, ::-1])
    assert np.array_equal(left.links, skin.links)
    assert volume(left.vertices, left.faces) > 0
    q = human().pose("closed")
    posed = posed_skin(human("left"), left, q)
    assert np.allclose(posed, posed_skin(human(), skin, q) * [1, -1, 1], atol=1e-9)


def test_an_arm_shifts_the_links_and_nothing_else(skin, cache):
    arm = human(arm=True)
    skin_arm = skin_of(arm)
    assert np.array_equal(skin_arm.vertices, skin.vertices)
    assert np.array_equal(skin_arm.links, skin.links + arm.wrist_link)
    # Whatever the arm does, the hand at its end has the same shape.
    q = arm.pose("pinch")
    turns, places = link_poses(arm, q)
    wrist = (posed_skin(arm, skin_arm, q) - places[arm.wrist_link]) @ turns[arm.wrist_link]
    bare = human()
    assert np.allclose(wrist, posed_skin(bare, skin, bare.pose("pinch")), atol=1e-12)


def test_posed_at_bind_is_the_mesh_itself(model, skin):
    assert np.allclose(posed_skin(model, skin, skin.bind), skin.vertices, atol=1e-12)


def test_firm_vertices_move_with_their_link(model, skin):
    rng = np.random.default_rng(3)
    q = model.joints.random(rng, (2, 3))
    root = Pose(rng.normal(size=3), rotation.random(rng))
    posed = posed_skin(model, skin, q, root)
    assert posed.shape == (2, 3, *skin.vertices.shape)
    turns, places = link_poses(model, q, root)
    bind_turns, bind_places = link_poses(model, skin.bind)
    firm = np.flatnonzero(skin.weights.max(axis=1) > 1.0 - 1e-12)
    assert len(firm) > 1000
    for v in firm[::37]:
        link = skin.links[v, np.argmax(skin.weights[v])]
        local = bind_turns[link].T @ (skin.vertices[v] - bind_places[link])
        expected = places[..., link, :] + turns[..., link, :, :] @ local
        assert np.allclose(posed[..., v, :], expected, atol=1e-12)


def test_normals_point_out_of_the_field(model, skin):
    normal = vertex_normals(skin.vertices, skin.faces)
    assert np.abs(np.linalg.norm(normal, axis=1) - 1.0).max() < 1e-9
    slope = SkinField(form_of_model(model)).normals(skin.vertices)
    # The relief around the nails is not part of the field.
    nails = skin.vertices[np.unique(skin.faces[skin.is_nail])]
    smooth = cKDTree(nails).query(skin.vertices)[0] > 4 * MM
    agreement = np.einsum("ij,ij->i", normal, slope)[smooth]
    assert np.percentile(agreement, 1) > 0.97


def test_volume_is_that_of_a_hand_and_stays_so(model, skin):
    volumes = {
        name: volume(posed_skin(model, skin, q), skin.faces) for name, q in model.poses.items()
    }
    assert all(0.30e-3 < value < 0.48e-3 for value in volumes.values()), volumes
    assert abs(volumes["closed"] / volumes["open"] - 1.0) < 0.10


def test_no_part_collapses_in_any_named_pose(model, skin):
    edges = undirected_edges(skin.faces)

    def lengths(vertices):
        return np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)

    rest = lengths(skin.vertices)
    for name, q in model.poses.items():
        ratio = lengths(posed_skin(model, skin, q)) / rest
        assert ratio.min() > 0.04, name
        assert np.percentile(ratio, 1) > 0.4, name
        assert ratio.max() < 4.0, name


def test_nails_stay_rigid(model, skin):
    on_nail = np.unique(skin.faces[skin.is_nail])
    assert skin.weights[on_nail].max(axis=1).min() > 1.0 - 1e-9


def test_second_call_reads_the_cache(model, skin, monkeypatch):
    def fail(*_):
        raise AssertionError("built again")

    monkeypatch.setattr(skin_module, "mesh_of", fail)
    again = skin_of(model)
    assert np.array_equal(again.vertices, skin.vertices)
    with pytest.raises(AssertionError, match="built again"):
        skin_of(human(percentile=51.0))


def test_hands_without_skin_say_so():
    with pytest.raises(InvalidValueError, match="has no skin"):
        skin_of(trident())
