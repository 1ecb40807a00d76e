"""The skin of a hand with an arm: one closed mesh to the shoulder that neither tears nor thins."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from handwright.hands import human, skin_of, trident, whole_skin_of
from handwright.hands.skin.whole import bare_capsules
from handwright.kinematics import link_poses, posed_skin
from handwright.kinematics.skin.skinning import blended_links
from tests.hands.test_skin import assert_closed_ball, crossing_pairs, smallest_angles, volume

MM = 1e-3


@pytest.fixture(scope="module")
def model():
    return human(arm=True)


@pytest.fixture(scope="module")
def skin(model):
    return whole_skin_of(model)


def turned(model, **degrees):
    """Joint values of the rest pose with an arm that is straight but for some joints."""
    q = model.pose("rest").copy()
    q[: model.wrist_link] = 0.0
    for name, angle in degrees.items():
        q[model.joints.index(name)] = np.radians(angle)
    return q


def in_link(model, skin, q, link):
    """The posed skin in the frame of a link."""
    turns, places = link_poses(model, q)
    return (posed_skin(model, skin, q) - places[link]) @ turns[link]


def section_area(vertices, faces, point, normal, reach):
    """Area (m^2) inside a band round what a plane cuts out of skin within reach of a point, m."""
    corners = vertices[faces]
    near = np.linalg.norm(corners.mean(axis=1) - point, axis=1) < reach
    height = (corners[near] - point) @ normal
    cuts = []
    for k in range(3):
        start, end = height[:, k], height[:, (k + 1) % 3]
        crossing = start * end < 0.0
        share = (start / np.where(crossing, start - end, 1.0))[crossing, None]
        a, b = corners[near][crossing, k], corners[near][crossing, (k + 1) % 3]
        cuts.append(a + share * (b - a))
    axes = np.linalg.svd(normal[None])[2][1:]
    return ConvexHull((np.concatenate(cuts) - point) @ axes.T).volume


def girth(points):
    """Length (m) of the way round a ring of points."""
    return np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1).sum()


def rings(model, skin):
    """Vertices of the arm in rings, from the wrist to the shoulder; the last vertex is its end."""
    hand = {tuple(vertex) for vertex in skin_of(model).vertices.tolist()}
    first = next(n for n, vertex in enumerate(skin.vertices.tolist()) if tuple(vertex) not in hand)
    return np.arange(first, len(skin.vertices) - 1).reshape(-1, 60)


@pytest.mark.parametrize(
    "size", [{}, {"sex": "female", "percentile": 5.0}, {"length": 0.215, "breadth": 0.098}]
)
def test_hand_and_arm_are_one_closed_ball(size):
    skin = whole_skin_of(human(arm=True, **size))
    assert_closed_ball(skin.vertices, skin.faces)
    angles = smallest_angles(skin.vertices, skin.faces)
    assert angles.min() > 1.5
    assert np.percentile(angles, 1) > 15
    assert len(crossing_pairs(skin.vertices, skin.faces)) == 0


def test_a_hand_without_an_arm_has_the_skin_that_contacts_are_measured_on():
    bare = human()
    assert whole_skin_of(bare) is skin_of(bare)


def test_beyond_the_wrist_nothing_differs_from_the_hand_alone(model, skin):
    alone = skin_of(model)
    q = turned(model, wrist_flexion=70, wrist_deviation=-20, forearm_pronation=60, elbow_flexion=90)
    ours, theirs = posed_skin(model, skin, q), posed_skin(model, alone, q)
    hand = alone.vertices[:, 0] > 14 * MM
    assert hand.sum() > 10_000
    known = {tuple(vertex): number for number, vertex in enumerate(skin.vertices.tolist())}
    same = np.array([known[tuple(vertex)] for vertex in alone.vertices[hand].tolist()])
    assert np.array_equal(ours[same], theirs[hand])
    # Nails are all there.
    assert skin.is_nail.sum() == alone.is_nail.sum()
    assert np.array_equal(
        skin.vertices[skin.faces[skin.is_nail]], alone.vertices[alone.faces[alone.is_nail]]
    )


def test_weights_are_shares_of_links_and_of_those_between(model, skin):
    assert np.abs(skin.weights.sum(axis=1) - 1.0).max() < 1e-12
    assert skin.weights.min() >= 0.0
    assert skin.links.max() == model.num_links + len(skin.between) - 1
    for link in (2, 3, 4, 5, model.wrist_link):
        share = np.where(skin.links == link, skin.weights, 0.0).sum(axis=1)
        assert share.max() > 0.8, f"no part of the skin belongs to link {link}"


def test_girths_are_those_of_a_man(model, skin):
    around = rings(model, skin)
    places = skin.vertices[around, 0].mean(axis=1)
    girths = np.array([girth(skin.vertices[ring]) for ring in around])
    elbow = -np.linalg.norm(model.joints.offset[model.joints.index("wrist_flexion")])

    def at(place):
        return float(girths[np.abs(places - place).argmin()])

    assert 0.155 < at(-0.03) < 0.185
    assert 0.25 < at(0.78 * elbow) < 0.30
    assert 0.24 < at(elbow) < 0.29
    assert 0.28 < at(elbow - 0.17) < 0.33


POSES = {
    "straight": {},
    "bent 60": {"elbow_flexion": 60},
    "bent 100": {"elbow_flexion": 100},
    "bent 140": {"elbow_flexion": 140},
    "pronated": {"forearm_pronation": 80, "elbow_flexion": 40},
    "supinated": {"forearm_pronation": -80, "elbow_flexion": 110},
    "wrist bent": {"wrist_flexion": 80},
    "wrist back": {"wrist_flexion": -70},
    "wrist to the thumb": {"wrist_deviation": 20, "wrist_twist": 10, "forearm_pronation": 80},
    "wrist to the little finger": {"wrist_deviation": -30, "wrist_twist": -10},
    "arm turned in": {"shoulder_rotation": -70, "shoulder_flexion": -150},
    "arm turned out": {"shoulder_rotation": 90, "shoulder_horizontal_abduction": 130},
}


@pytest.mark.parametrize("pose", POSES)
def test_no_face_turns_over_or_vanishes(model, skin, pose):
    """Each face of the arm looks the way that the links which it follows have turned it."""
    q = turned(model, **POSES[pose])
    arm = (skin.vertices[skin.faces][:, :, 0] < 14 * MM).all(axis=1)
    faces = skin.faces[arm]
    _, change, _ = blended_links(model, skin, q)
    turn = np.einsum("vs,vsij->vij", skin.weights, change[skin.links])[faces].mean(axis=1)

    def normals(vertices):
        a, b, c = np.moveaxis(vertices[faces], 1, 0)
        return np.cross(b - a, c - a) / 2.0

    rest, posed = normals(skin.vertices), normals(posed_skin(model, skin, q))
    expected = np.einsum("fij,fj->fi", turn, rest)
    assert (np.einsum("fi,fi->f", posed, expected) > 0.0).mean() == 1.0
    assert (np.linalg.norm(posed, axis=1) / np.linalg.norm(rest, axis=1)).min() > 0.02


def test_the_bent_elbow_stays_thick(model, skin):
    elbow = model.joints.index("elbow_flexion")
    areas = {}
    for angle in (0, 60, 120, 140):
        q = turned(model, elbow_flexion=angle)
        turns, places = link_poses(model, q)
        # The plane that halves the bend.
        along = turns[elbow][:, 0] + turns[elbow + 1][:, 0]
        along /= np.linalg.norm(along)
        vertices = posed_skin(model, skin, q)
        # Skin of the elbow itself: flesh of the two limbs is pressed together in front of it.
        near = np.abs(skin.vertices[:, 0] + 0.2564) < 0.035
        faces = skin.faces[near[skin.faces].all(axis=1)]
        areas[angle] = section_area(vertices, faces, places[elbow + 1], along, 0.09)
        assert abs(volume(vertices, skin.faces) / volume(skin.vertices, skin.faces) - 1.0) < 0.02
    assert areas[60] > 0.9 * areas[0]
    assert areas[120] > 0.85 * areas[0]
    assert areas[140] > 0.85 * areas[0]


@pytest.mark.parametrize("joint", ["forearm_pronation", "shoulder_rotation"])
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_twisted_limb_keeps_its_girth(model, skin, joint, end):
    number = model.joints.index(joint)
    q = turned(model)
    straight = posed_skin(model, skin, q)
    q[number] = getattr(model.joints, end)[number]
    twisted = posed_skin(model, skin, q)
    shares = [girth(twisted[ring]) / girth(straight[ring]) for ring in rings(model, skin)]
    assert min(shares) > 0.9


def test_the_bent_wrist_stays_thick(model, skin):
    for angle in (80, -70):
        q = turned(model, wrist_flexion=angle)
        posed = in_link(model, skin, q, model.wrist_link)
        straight = in_link(model, skin, turned(model), model.wrist_link)
        faces = skin.faces[(np.abs(skin.vertices[:, 0]) < 0.05)[skin.faces].all(axis=1)]
        half = np.radians(angle) / 2.0
        along = np.array([np.cos(half), 0.0, np.sin(half)])
        bent = section_area(posed, faces, np.zeros(3), along, 0.06)
        assert bent > 0.7 * section_area(straight, faces, np.zeros(3), np.eye(3)[0], 0.06)


def test_left_is_the_mirror_image_of_right(model, skin):
    left = human("left", arm=True)
    mirrored = whole_skin_of(left)
    assert np.array_equal(mirrored.vertices, skin.vertices * [1, -1, 1])
    assert_closed_ball(mirrored.vertices, mirrored.faces)
    q = turned(model, elbow_flexion=80, forearm_pronation=50, shoulder_rotation=30)
    posed = posed_skin(model, skin, q) * [1, -1, 1]
    assert np.allclose(posed_skin(left, mirrored, q), posed, atol=1e-9)


def test_capsules_are_bare_where_there_is_no_skin(model):
    assert not bare_capsules(model).any()
    assert not bare_capsules(human()).any()
    assert bare_capsules(trident()).all()


def test_an_arm_adds_little_to_the_time_that_a_skin_takes():
    model = human(arm=True, percentile=40.0)
    skin_of(model)
    start = time.perf_counter()
    whole_skin_of(model)
    assert time.perf_counter() - start < 5.0
