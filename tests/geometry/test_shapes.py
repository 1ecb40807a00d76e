"""Every shape is a closed, outward, hand-sized solid, and the simple ones obey their formulas."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry import shapes
from handwright.geometry.mesh.bodies import check_mesh
from handwright.geometry.mesh.inertia import solid_properties
from handwright.geometry.shapes import PHONE_KEYS, SHAPES, animals, make_shape, phone_keys
from handwright.geometry.shapes.surfaces import NUM_SEGMENTS

HANDLES = {
    "torus": 1,
    "mug": 1,
    "teapot": 1,
    "wine_pot": 1,
    "coffee_pot": 1,
    "jug": 1,
    "spatula": 3,
}
"""Number of holes through the shapes that have any."""

MASS_RANGES = {
    "box": (0.1, 0.3),
    "sphere": (0.08, 0.3),
    "can": (0.33, 0.42),
    "bottle": (0.45, 0.6),
    "wine_glass": (0.08, 0.25),
    "mug": (0.2, 0.45),
    "teapot": (0.4, 1.0),
    "wine_pot": (0.4, 1.0),
    "coffee_pot": (0.5, 1.1),
    "jug": (0.5, 1.1),
    "pan": (0.3, 1.2),
    "spatula": (0.03, 0.15),
    "hammer": (0.4, 1.0),
    "pen": (0.006, 0.025),
    "phone": (0.07, 0.2),
    "milk_carton": (0.9, 1.2),
    "playing_card": (0.0015, 0.0025),
    "book": (0.3, 0.8),
    "soap": (0.07, 0.16),
    "bunny_like": (0.05, 0.3),
}
"""Kilograms that the real thing weighs."""

SIZES = st.floats(0.008, 0.2)


@pytest.fixture(params=SHAPES, ids=str)
def body(request):
    return make_shape(request.param)


def winding(body, *points):
    """Winding numbers by summing solid angles (van Oosterom and Strackee)."""
    found = []
    for point in np.array(points, dtype=np.float64):
        a, b, c = np.moveaxis(body.vertices[body.faces] - point, 1, 0)
        x, y, z = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        flat = x * y * z + z * (a * b).sum(1) + x * (b * c).sum(1) + y * (a * c).sum(1)
        found.append(2.0 * np.arctan2(volume, flat).sum() / (4.0 * np.pi))
    return np.array(found)


def depth_below(body, x, y, top):
    """Height of the first surface under a point, by ray, in the body frame."""
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    hits, _, _ = mesh.ray.intersects_location([[x, y, top]], [[0.0, 0.0, -1.0]])
    return hits[:, 2].max()


# Every shape ------------------------------------------------------------------------------------


def test_is_a_good_mesh(body):
    assert check_mesh(body.vertices, body.faces) == []
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.body_count == 1
    assert mesh.volume > 0.0
    assert mesh.euler_number == 2 - 2 * HANDLES.get(body.name, 0)
    assert len(body.faces) < 12_000


def test_faces_are_not_folded_nor_needles(body):
    corners = body.vertices[body.faces]
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = np.linalg.norm(normals, axis=1) / sides.max(axis=1)
    # A card's rim is as thin as the card.
    assert height.min() > 1e-5
    assert (height / sides.max(axis=1)).min() > 0.01
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    assert np.degrees(mesh.face_adjacency_angles.max()) < 150.0


def test_frame_is_at_the_centre_of_mass(body):
    np.testing.assert_array_equal(body.center, np.zeros(3))
    low, high = body.bounds
    assert (low < 0.0).all()
    assert (high > 0.0).all()


def test_is_hand_sized_and_weighs_what_it_should(body):
    extent = np.ptp(body.bounds, axis=0)
    assert 0.05 <= extent.max() <= 0.4
    low, high = MASS_RANGES.get(body.name, (0.03, 0.3))
    assert low <= body.mass <= high
    assert 0.2 <= body.friction <= 1.0


def test_inertia_is_physical(body):
    np.testing.assert_allclose(body.inertia, body.inertia.T)
    low, middle, high = np.linalg.eigvalsh(body.inertia)
    assert low > 0.0
    # With equality only for something flat.
    assert high < low + middle
    radius = np.linalg.norm(body.vertices, axis=1).max()
    assert high < body.mass * radius**2


def test_color_is_muted_and_distinct():
    colors = [make_shape(name).color for name in SHAPES]
    assert len(set(colors)) == len(colors)
    assert all(0.15 < channel < 0.95 for color in colors for channel in color)


def test_meshing_twice_gives_the_same_bytes():
    kept, again = animals._bunny_mesh(), animals._bunny_mesh.__wrapped__()
    assert kept[0] is not again[0]
    np.testing.assert_array_equal(kept[0], again[0])
    np.testing.assert_array_equal(kept[1], again[1])


def test_summary_tells_the_true_size():
    for shape in SHAPES.values():
        assert "mm" in shape.summary
        assert "\n" not in shape.summary
        assert len(shape.summary) < 80
        tall = [w for w in shape.summary.split(",") if w.strip().endswith("mm tall")]
        for words in tall:
            told = float(words.split()[0])
            found = 1000.0 * np.ptp(shape.make().bounds[:, 2])
            assert found == pytest.approx(told, abs=1.0), shape.name


def test_mass_argument_keeps_the_distribution(body):
    heavy = make_shape(body.name, mass=2.5)
    assert heavy.mass == pytest.approx(2.5)
    np.testing.assert_allclose(heavy.inertia / 2.5, body.inertia / body.mass, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(heavy.vertices, body.vertices)


@pytest.mark.parametrize("name", SHAPES)
def test_every_dimension_has_a_unit_and_a_check(name):
    make = SHAPES[name].make
    parameters = inspect.signature(make).parameters
    assert "mass" in parameters
    for parameter in parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert f"        {parameter.name}: " in make.__doc__
        if parameter.name in ("num_sides", "exponent"):
            continue
        for wrong in (0.0, -0.01, float("nan"), float("inf")):
            with pytest.raises(InvalidValueError, match=f"'{name}'.*{parameter.name}"):
                make(**{parameter.name: wrong})


def test_all_bad_dimensions_are_listed():
    with pytest.raises(InvalidValueError, match=r"width=-1\.0, height=nan"):
        make_shape("box", width=-1.0, height=float("nan"))


def test_names_and_arguments_are_checked():
    with pytest.raises(UnknownNameError, match="Did you mean 'teapot'"):
        make_shape("tepot")
    with pytest.raises(InvalidValueError, match=r"no dimension 'radus'\. Known: radius"):
        make_shape("sphere", radus=0.1)
    assert set(shapes.__all__) >= set(SHAPES)


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("capsule", {"radius": 0.05, "length": 0.1}),
        ("torus", {"ring_radius": 0.02, "tube_radius": 0.02}),
        ("prism", {"num_sides": 2}),
        ("soap", {"exponent": 0.5}),
        ("playing_card", {"corner_radius": 0.04}),
        ("mug", {"wall": 0.02}),
        ("pan", {"depth": 0.2}),
        ("can", {"radius": 0.001}),
        ("bottle", {"height": 0.05}),
        ("wine_glass", {"bowl_radius": 0.1}),
        ("pen", {"radius": 0.05}),
        ("book", {"thickness": 0.001}),
        ("milk_carton", {"width": 0.2}),
        ("phone", {"width": 0.1}),
        ("hammer", {"head_length": 0.5}),
        ("spatula", {"blade_width": 0.01}),
        ("teapot", {"height": 3.0}),
    ],
)
def test_dimensions_that_do_not_fit_are_refused(name, dimensions):
    with pytest.raises(InvalidValueError, match=f"Shape '{name}'.*expected"):
        make_shape(name, **dimensions)


# Formulas ---------------------------------------------------------------------------------------

# A polygon of n sides in a circle has this part of its area.
POLYGON = NUM_SEGMENTS / (2.0 * math.pi) * math.sin(2.0 * math.pi / NUM_SEGMENTS)


def volume(body):
    return solid_properties(body.vertices, body.faces).mass


@settings(max_examples=25)
@given(a=SIZES, b=SIZES, c=SIZES)
def test_box(a, b, c):
    body = shapes.box(width=a, depth=b, height=c)
    assert volume(body) == pytest.approx(a * b * c)
    np.testing.assert_allclose(np.ptp(body.bounds, axis=0), [a, b, c])
    assert len(body.sharp_edges) == 12


@settings(max_examples=15)
@given(a=SIZES, b=SIZES, c=SIZES)
def test_ellipsoid_and_sphere(a, b, c):
    body = shapes.ellipsoid(radius_x=a, radius_y=b, radius_z=c)
    assert volume(body) == pytest.approx(4.0 / 3.0 * math.pi * a * b * c, rel=3e-3)
    np.testing.assert_allclose(((body.vertices / [a, b, c]) ** 2).sum(axis=1), 1.0, atol=1e-6)
    ball = shapes.sphere(radius=a)
    np.testing.assert_allclose(np.linalg.norm(ball.vertices, axis=1), a, rtol=1e-9)


@settings(max_examples=15)
@given(r=SIZES, h=SIZES)
def test_cylinder_and_cone(r, h):
    rod = shapes.cylinder(radius=r, height=h)
    assert volume(rod) == pytest.approx(POLYGON * math.pi * r * r * h, rel=1e-9)
    assert len(rod.sharp_edges) == 2 * NUM_SEGMENTS
    cone = shapes.cone(radius=r, height=h)
    assert volume(cone) == pytest.approx(POLYGON * math.pi * r * r * h / 3.0, rel=1e-9)
    # The centre of a cone is a quarter of its height above the base.
    np.testing.assert_allclose(cone.bounds[:, 2], [-h / 4.0, 3.0 * h / 4.0], rtol=1e-9)


@settings(max_examples=15)
@given(r=SIZES, straight=st.floats(0.002, 0.2))
def test_capsule_and_hemisphere(r, straight):
    body = shapes.capsule(radius=r, length=2.0 * r + straight)
    assert volume(body) == pytest.approx(math.pi * r * r * (4.0 / 3.0 * r + straight), rel=4e-3)
    # Every vertex is one radius from the middle segment.
    away = body.vertices.copy()
    away[:, 2] -= np.clip(away[:, 2], -straight / 2.0, straight / 2.0)
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), r, rtol=1e-6)
    half = shapes.hemisphere(radius=r)
    assert volume(half) == pytest.approx(2.0 / 3.0 * math.pi * r**3, rel=4e-3)
    assert -half.bounds[0, 2] == pytest.approx(3.0 / 8.0 * r, rel=4e-3)


@settings(max_examples=15)
@given(ring=SIZES, share=st.floats(0.05, 0.95))
def test_torus(ring, share):
    tube = share * ring
    body = shapes.torus(ring_radius=ring, tube_radius=tube)
    assert volume(body) == pytest.approx(2.0 * math.pi**2 * ring * tube**2, rel=0.012)
    around = np.hypot(body.vertices[:, 0], body.vertices[:, 1]) - ring
    np.testing.assert_allclose(np.hypot(around, body.vertices[:, 2]), tube, rtol=1e-6)
    assert winding(body, [0.0, 0.0, 0.0])[0] == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=15)
@given(n=st.integers(3, 40), r=SIZES, h=SIZES)
def test_prism(n, r, h):
    body = shapes.prism(num_sides=n, radius=r, height=h)
    assert volume(body) == pytest.approx(n / 2.0 * r * r * math.sin(2.0 * math.pi / n) * h)


@given(edge=SIZES)
def test_tetrahedron(edge):
    body = shapes.tetrahedron(edge=edge)
    assert volume(body) == pytest.approx(edge**3 / (6.0 * math.sqrt(2.0)))
    gaps = [np.linalg.norm(p - q) for p in body.vertices for q in body.vertices if p is not q]
    np.testing.assert_allclose([gap for gap in gaps if gap > 0.0], edge)


@settings(max_examples=10)
@given(a=SIZES, b=SIZES, c=SIZES, n=st.floats(2.0, 6.0))
def test_soap(a, b, c, n):
    body = shapes.soap(width=a, depth=b, height=c, exponent=n)
    expected = a * b * c * math.gamma(1.0 + 1.0 / n) ** 3 / math.gamma(1.0 + 3.0 / n)
    assert volume(body) == pytest.approx(expected, rel=0.01)
    np.testing.assert_allclose(np.ptp(body.bounds, axis=0), [a, b, c], rtol=1e-6)


def test_card():
    body = shapes.playing_card()
    r = 0.0035
    area = 0.063 * 0.088 - (4.0 - math.pi) * r * r
    assert volume(body) == pytest.approx(area * 0.0003, rel=1e-3)


# What makes each thing that thing ----------------------------------------------------------------


def test_mug_is_hollow_and_its_handle_stays_outside():
    body = shapes.mug(radius=0.041, height=0.095, wall=0.004)
    low, high = body.bounds
    axis_x = low[0] + 0.041
    floor = low[2] + 0.004
    middle = (low[2] + high[2]) / 2.0
    cavity = [axis_x, 0.0, middle]
    wall = [axis_x, 0.041 - 0.002, middle]
    handle_hole = [axis_x + 0.041 + 0.012, 0.0, middle]
    bottom = [axis_x, 0.0, low[2] + 0.002]
    inside = winding(body, cavity, wall, handle_hole, bottom)
    np.testing.assert_allclose(inside, [0.0, 1.0, 0.0, 1.0], atol=1e-6)
    # Just inside the cavity's wall, on the handle's side, there is no material.
    turn, level = np.meshgrid(
        np.linspace(-np.pi / 3.0, np.pi / 3.0, 17), np.linspace(floor + 0.010, high[2], 10)
    )
    r = 0.041 - 0.004 - 0.0003
    probe = np.stack([axis_x + r * np.cos(turn), r * np.sin(turn), level], axis=-1).reshape(-1, 3)
    assert np.abs(winding(body, *probe)).max() < 0.5
    assert depth_below(body, axis_x, 0.0, 1.0) == pytest.approx(floor, abs=1e-4)
    # Volume of the plain wall, then with a handle worth of more.
    plain = math.pi * (0.041**2 * 0.095 - 0.037**2 * 0.091)
    assert plain < volume(body) < 1.3 * plain


def test_mug_wall_is_as_thick_as_asked_all_around():
    body = shapes.mug()
    axis = np.array([body.bounds[0, 0] + 0.041, 0.0])
    away = np.linalg.norm(body.vertices[:, :2] - axis, axis=1)
    level = body.vertices[:, 2] - body.bounds[0, 2]
    # The handle and its fillets are towards +X.
    plain = (level > 0.015) & (level < 0.085) & (body.vertices[:, 0] < axis[0])
    distance = np.minimum(np.abs(away - 0.041), np.abs(away - 0.037))
    assert distance[plain].max() < 2e-5
    assert plain.sum() > 200


def test_wine_glass_bowl_is_thin_and_open():
    body = shapes.wine_glass(wall=0.0016)
    low, high = body.bounds
    level = low[2] + 0.75 * (high[2] - low[2])
    assert winding(body, [0.0, 0.0, level])[0] == pytest.approx(0.0, abs=1e-6)
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    hits, _, _ = mesh.ray.intersects_location([[0.0, 0.0, level]], [[1.0, 0.3, 0.0]])
    inner, outer = sorted(np.linalg.norm(hits[:, :2], axis=1))
    assert outer - inner == pytest.approx(0.0016, abs=3e-4)
    # The bowl has a floor, and the stem is solid and thin.
    floor = depth_below(body, 1e-4, 0.0, 1.0)
    above, below = winding(body, [0.0, 0.0, floor + 5e-4], [0.0, 0.0, floor - 5e-4])
    assert (above, below) == (pytest.approx(0.0, abs=1e-6), pytest.approx(1.0, abs=1e-6))
    stem = low[2] + 0.3 * (high[2] - low[2])
    on, off = winding(body, [0.0, 0.0, stem], [0.006, 0.0, stem])
    assert (on, off) == (pytest.approx(1.0, abs=1e-6), pytest.approx(0.0, abs=1e-6))


def test_pan_holds_something():
    body = shapes.pan()
    low, _ = body.bounds
    centre = low[0] + 0.10
    assert depth_below(body, centre, 0.0, 1.0) == pytest.approx(low[2] + 0.0035, abs=2e-4)
    above = [[centre, 0.0, low[2] + 0.02], [centre - 0.06, 0.0, low[2] + 0.02]]
    np.testing.assert_allclose(winding(body, *above), 0.0, atol=1e-6)
    # Aluminium outweighs the handle, so the centre of mass is over the dish.
    assert abs(centre) < 0.10


def test_pots_have_a_spout_forward_and_a_handle_behind():
    for name in ("teapot", "wine_pot", "coffee_pot", "jug"):
        body = make_shape(name)
        plane = np.abs(body.vertices[:, 1]) < 0.004
        assert body.vertices[plane][:, 0].max() == pytest.approx(body.bounds[1, 0])
        assert body.vertices[plane][:, 0].min() == pytest.approx(body.bounds[0, 0])
        # The spout's lip is above the middle and has a bore.
        tip = body.vertices[np.argmax(body.vertices[:, 0])]
        assert tip[2] > 0.0
        assert body.vertices[np.argmax(body.vertices[:, 2])][0] == pytest.approx(
            0.0, abs=0.02 + abs(body.bounds[0, 0] + body.bounds[1, 0])
        )


def test_hammer_is_head_heavy():
    body = shapes.hammer()
    low, high = body.bounds
    share = -low[0] / (high[0] - low[0])
    assert share > 0.7
    # The striking face is below and level.
    face = body.vertices[body.vertices[:, 2] < low[2] + 1e-4]
    assert len(face) > 10
    assert face[:, 0].mean() > 0.0


def test_pen_points_down():
    body = shapes.pen()
    low, high = body.bounds
    at_tip = body.vertices[body.vertices[:, 2] < low[2] + 0.002]
    at_end = body.vertices[body.vertices[:, 2] > high[2] - 0.002]
    assert np.hypot(*at_tip[:, :2].T).max() < 0.001
    assert np.hypot(*at_end[:, :2].T).max() > 0.002


def test_carton_ridge_runs_along_x():
    body = shapes.milk_carton()
    top = body.vertices[body.vertices[:, 2] > body.bounds[1, 2] - 1e-6]
    assert np.ptp(top[:, 0]) == pytest.approx(0.07)
    assert np.ptp(top[:, 1]) < 0.005
    # The gable ends are folded inwards, so the space before them is free.
    fold = body.bounds[1, 2] - 0.2 * 0.07 - 0.48 * 0.07 * 0.58
    assert winding(body, [0.030, 0.0, fold])[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("size", [{}, {"width": 0.06, "length": 0.14, "thickness": 0.02}])
def test_phone_keys_are_on_top_of_raised_keys(size):
    body = shapes.phone(**size)
    keys = phone_keys(**size)
    assert tuple(keys) == PHONE_KEYS
    for place in keys.values():
        assert depth_below(body, place[0], place[1], 1.0) == pytest.approx(place[2], abs=1e-4)
    # Between the keys the face is lower.
    between = (keys["1"] + keys["5"]) / 2.0
    assert depth_below(body, between[0], between[1], 1.0) < between[2] - 0.0009
    assert keys["1"][0] < keys["2"][0] < keys["3"][0]
    assert keys["1"][1] > keys["4"][1] > keys["7"][1] > keys["*"][1]
    gaps = [np.linalg.norm(keys[a] - keys[b]) for a in keys for b in keys if a < b]
    assert min(gaps) > 0.01


def test_implicit_shapes_follow_other_sizes():
    body = shapes.mug(radius=0.05, height=0.07, wall=0.005, handle_reach=0.03)
    assert check_mesh(body.vertices, body.faces) == []
    np.testing.assert_allclose(np.ptp(body.bounds, axis=0), [0.13, 0.10, 0.07], atol=1e-3)
    big = shapes.teapot(height=0.2)
    assert np.ptp(big.bounds[:, 2]) == pytest.approx(0.2, rel=0.01)
