"""Pictures: something is on them, in the right place, in the right colour."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from handwright.errors import HandwrightError, InvalidValueError
from handwright.geometry.shapes import make_shape
from handwright.geometry.shapes.surfaces import capsule_mesh
from handwright.hands import human, trident
from handwright.hands.skin.whole import whole_skin_of
from handwright.kinematics import posed_capsules, posed_pads
from handwright.math import Pose, rotation
from handwright.render import (
    Camera,
    Drawn,
    body_item,
    contact_sheet,
    hand_items,
    render_still,
    turntable,
    write_png,
)
from handwright.render.items import Marker
from handwright.render.postprocess import BACKGROUND
from handwright.render.scene import Stage

pytestmark = pytest.mark.usefixtures("opengl")

PAPER = np.rint(255 * np.array(BACKGROUND))
RED = (0.8, 0.1, 0.1)


def ball(center: tuple[float, float, float] = (0.0, 0.0, 0.0), **changes) -> Drawn:
    middle = np.array(center)
    return replace(Drawn(*capsule_mesh(middle, middle, 0.03), RED), **changes)


def mask_of(image: np.ndarray) -> np.ndarray:
    return np.abs(image.astype(float) - PAPER).max(axis=-1) > 12


def test_a_ball_is_a_centred_disc_of_its_colour():
    image = render_still([ball()], width=120, height=90)
    assert image.shape == (90, 120, 3)
    assert image.dtype == np.uint8
    mask = mask_of(image)
    rows, columns = np.nonzero(mask)
    assert abs(rows.mean() - 44.5) < 1.0
    assert abs(columns.mean() - 59.5) < 1.0
    # A disc fills pi/4 of its box, and the box keeps the margin of the default camera.
    box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    assert abs(mask.sum() / box - math.pi / 4) < 0.03
    assert abs(np.ptp(rows) + 1 - 90 * (1 - 2 * Camera().margin)) < 3
    red, green, blue = image[mask].mean(axis=0)
    assert red > 2 * green
    assert red > 2 * blue
    assert np.abs(image[0, 0] - PAPER).max() <= 1


@pytest.mark.parametrize("center", [(10.0, -3.0, 0.5), (-0.2, 0.0, 40.0)])
def test_the_picture_does_not_depend_on_where_things_are(center):
    here = render_still([ball()], width=60, height=60).astype(float)
    there = render_still([ball(center)], width=60, height=60).astype(float)
    assert np.abs(here - there).mean() < 2.0


@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_the_picture_does_not_depend_on_size(scale):
    item = body_item(make_shape("box"))
    near = render_still([item], width=60, height=60).astype(float)
    far = render_still([replace(item, vertices=scale * item.vertices)], width=60, height=60)
    assert np.abs(near - far.astype(float)).mean() < 2.0


def test_directions_of_the_camera():
    """A long rod along X is long seen from -Y and round seen from +X; +X is then on the right."""
    rod = Drawn(*capsule_mesh(np.zeros(3), np.array([0.2, 0.0, 0.0]), 0.02), RED)
    marker = Drawn(*capsule_mesh(np.array([0.2, 0, 0]), np.array([0.2, 0, 0]), 0.021), (0, 0, 1))
    side = render_still(
        [rod, marker], Camera(azimuth=-math.pi / 2, elevation=0.0), width=99, height=99
    )
    rows, columns = np.nonzero(mask_of(side))
    assert np.ptp(columns) > 4 * np.ptp(rows)
    is_blue = side[..., 2].astype(int) > side[..., 0].astype(int) + 40
    assert np.nonzero(is_blue)[1].mean() > 70
    end = render_still([rod, marker], Camera(azimuth=0.0, elevation=0.0), width=99, height=99)
    rows, columns = np.nonzero(mask_of(end))
    assert abs(np.ptp(columns) - np.ptp(rows)) <= 2


def test_up_is_up():
    items = [ball(), ball((0.0, 0.0, 0.1), color=(0.0, 0.0, 1.0))]
    image = render_still(items, Camera(elevation=0.0), width=60, height=60).astype(int)
    blue_rows = np.nonzero(image[..., 2] > image[..., 0] + 40)[0]
    red_rows = np.nonzero(image[..., 0] > image[..., 2] + 40)[0]
    assert blue_rows.max() < red_rows.min()


def test_near_things_hide_far_ones():
    back, front = ball((-0.2, 0.0, 0.0)), ball((0.2, 0.0, 0.0), color=(0.0, 0.0, 1.0))
    camera = Camera(azimuth=0.0, elevation=0.0)
    image = render_still([front, back], camera, width=60, height=60).astype(int)
    assert image[30, 30, 2] > image[30, 30, 0] + 40


def test_a_hand_without_skin_is_drawn_as_its_capsules():
    hand = trident()
    root = Pose(np.array([0.3, -0.1, 0.2]), rotation.exp([0.4, -0.2, 0.9]))
    q = hand.pose("rest")
    items = hand_items(hand, q, root)
    assert len(items) == len(hand.capsules)
    posed = posed_capsules(hand, q, root)
    for item, start, end in zip(items, posed.start, posed.end, strict=True):
        assert np.allclose(
            (item.vertices.min(0) + item.vertices.max(0)) / 2, (start + end) / 2, atol=1e-3
        )
    assert mask_of(render_still(items, width=60, height=60)).mean() > 0.1


@pytest.mark.parametrize("has_arm", [False, True])
def test_a_human_hand_is_drawn_with_skin_and_nails_alone(has_arm):
    hand = human(arm=has_arm)
    skin_item, nail_item = hand_items(hand, hand.pose("rest"))
    skin = whole_skin_of(hand)
    assert len(skin_item.faces) + len(nail_item.faces) == len(skin.faces)
    assert len(nail_item.faces) == skin.is_nail.sum() > 0
    assert skin_item.color != nail_item.color
    tips = posed_pads(hand, hand.pose("rest")).position
    gaps = np.linalg.norm(tips[:, None] - skin_item.vertices, axis=-1).min(axis=1)
    assert gaps.max() < 0.004


# A square picture of 0.2 m by 0.2 m, seen from -Y: columns are X, rows are -Z.
SIDE_VIEW = Camera(
    azimuth=-math.pi / 2,
    elevation=0.0,
    target=(0.0, 0.0, 0.0),
    distance=1.0,
    field_of_view=2.0 * math.atan(0.1),
)


def seen_box(image: np.ndarray) -> np.ndarray:
    """Least and largest X and Z (m) of what is red in a side view."""
    rows, columns = np.nonzero(image[..., 0].astype(int) > image[..., 1].astype(int) + 40)
    size = 0.2 / len(image)
    edges = [columns.min(), columns.max() + 1, len(image) - rows.max() - 1, len(image) - rows.min()]
    return np.array(edges) * size - 0.1


def test_markers_are_where_they_say_and_last_until_the_next_show():
    item = ball((0.0, 5.0, 0.0), color=(0.5, 0.5, 0.5))
    corners = np.array([[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]])
    arrow = Marker(np.array([0.04, 0.0, 0.02]), 0.002, RED, np.array([-0.06, 0.0, 0.02]))
    dot = Marker(np.array([0.03, 0.0, -0.05]), 0.01, RED)
    with Stage([item], width=200, height=200, reach=corners, max_markers=2) as stage:
        stage.show([item], [arrow])
        left, right, low, high = seen_box(stage.picture(SIDE_VIEW))
        # Tail and tip; the head is wider than the shaft, and its middle is on the line.
        assert left == pytest.approx(-0.06, abs=0.002)
        assert right == pytest.approx(0.04, abs=0.002)
        assert (low + high) / 2 == pytest.approx(0.02, abs=0.0015)
        assert 2 * 0.002 < high - low < 0.012
        stage.show([item], [dot])
        np.testing.assert_allclose(
            seen_box(stage.picture(SIDE_VIEW)), [0.02, 0.04, -0.06, -0.04], atol=0.0015
        )
        stage.show([item])
        image = stage.picture(SIDE_VIEW).astype(int)
        assert not (image[..., 0] > image[..., 1] + 40).any()


def test_items_are_moved_without_a_new_stage():
    here, there = ball((-0.05, 0.0, 0.0)), ball((0.04, 0.0, 0.05))
    corners = np.array([[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]])
    with Stage([here], width=100, height=100, reach=corners) as stage:
        first = stage.picture(SIDE_VIEW)
        stage.show([there])
        np.testing.assert_allclose(stage.points.mean(axis=0), [0.04, 0.0, 0.05], atol=1e-3)
        np.testing.assert_allclose(
            seen_box(stage.picture(SIDE_VIEW)), [0.01, 0.07, 0.02, 0.08], atol=0.003
        )
        stage.show([here])
        np.testing.assert_array_equal(stage.picture(SIDE_VIEW), first)
        with pytest.raises(InvalidValueError, match="2 items; expected the 1 that"):
            stage.show([here, there])
        with pytest.raises(InvalidValueError, match="1 markers; expected at most 0"):
            stage.show([here], [Marker(np.zeros(3), 0.01, RED)])
        with pytest.raises(InvalidValueError, match="item 0 has 8 vertices, fewer than"):
            stage.show([body_item(make_shape("box"))])


def test_highlights_keep_their_hue():
    """Bright skin stays warm everywhere: no channel is cut off before the shading."""
    image = render_still([ball(color=(0.9, 0.72, 0.63))], width=80, height=80).astype(int)
    inside = image[20:60, 20:60].reshape(-1, 3)
    assert (inside[:, 0] > inside[:, 1]).all()
    assert (inside[:, 1] > inside[:, 2]).all()
    assert inside.max() > 215


def test_a_body_is_carried_by_its_pose():
    body = make_shape("box")
    pose = Pose(np.array([1.0, 2.0, 3.0]), rotation.exp([0.0, 0.0, 0.5]))
    assert np.allclose(body_item(body, pose).vertices, pose.apply(body.vertices))
    assert body_item(body).color == body.color


def test_a_turntable_turns():
    box = body_item(make_shape("box"))
    peg = ball((0.06, 0.0, 0.0), color=(0.0, 0.0, 1.0))
    views = turntable([box, peg], 4, camera=Camera(azimuth=0.0, elevation=0.0), width=80, height=80)
    blue = [(v[..., 2].astype(int) > v[..., 0].astype(int) + 40).sum() for v in views]
    # Seen in front, at the left, hidden behind the box, at the right.
    assert blue[0] > blue[1] > 0
    assert blue[2] == 0
    columns = [np.nonzero(mask_of(views[k]))[1].mean() for k in (1, 3)]
    assert columns[0] + columns[1] == pytest.approx(79.0, abs=3.0)
    assert abs(columns[0] - columns[1]) > 5


def test_a_contact_sheet_keeps_its_pictures():
    rng = np.random.default_rng(3)
    images = [rng.integers(0, 255, (20, 30, 3), dtype=np.uint8) for _ in range(5)]
    sheet = contact_sheet(images, 3)
    labelled = contact_sheet(images, 3, ["one", "two", "three", "four", "five"])
    assert labelled.shape[0] > sheet.shape[0]
    for page in (sheet, labelled):
        windows = np.lib.stride_tricks.sliding_window_view(page, (20, 30, 3))[:, :, 0]
        for image in images:
            assert (windows == image).all(axis=(2, 3, 4)).sum() == 1
    assert (labelled != contact_sheet(images, 3, [""] * 5)).any()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: render_still([]), "nothing to draw"),
        (lambda: render_still([ball()], width=0), "0 x 640 pixels; expected 1 to"),
        (lambda: contact_sheet([], 2), "there are no images"),
        (lambda: contact_sheet([np.zeros((2, 2, 3), np.uint8)], 0), "columns is 0"),
        (lambda: contact_sheet([np.zeros((2, 2, 3), np.uint8)], 1, []), "0 labels for 1 images"),
        (lambda: turntable([ball()], 0), "num_views is 0"),
        (lambda: Camera(elevation=45.0), "elevation is 45.0; expected radians"),
        (lambda: Camera(distance=0.0), "distance is 0.0 m"),
        (lambda: Camera(field_of_view=4.0), "field_of_view is 4.0"),
        (lambda: ball(color=(2.0, 0.0, 0.0)), "color is"),
        (lambda: ball(shininess=-1.0), "shininess is -1.0"),
        (lambda: ball(faces=np.array([[0, 1, 99999]])), "faces point to vertices 0 to 99999"),
        (lambda: ball(vertices=np.full((900, 3), np.nan)), "NaN"),
        (lambda: Marker(np.zeros(3), 0.0, RED), "radius is 0.0 m"),
        (lambda: Stage([ball()], samples=4), "samples is 4; expected 1, 2 or 3"),
        (lambda: write_png(np.zeros((2, 2, 3), np.uint8), "a.jpg"), "ends in .png"),
    ],
)
def test_mistakes_are_named(call, text):
    with pytest.raises(InvalidValueError, match=text):
        call()


def test_a_png_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new folder" / "picture.png"
    first = np.full((4, 6, 3), 7, np.uint8)
    assert write_png(first, path) == path
    assert (np.asarray(Image.open(path)) == first).all()
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        write_png(first + 1, path)
    assert (np.asarray(Image.open(path)) == first).all()
    assert [entry.name for entry in path.parent.iterdir()] == ["picture.png"]


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_backend_is_found_without_touching_the_environment(tmp_path):
    done = draw_in_new_process(tmp_path / "box.png")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("backend", ["egl", "osmesa"])
def test_both_backends_draw(backend, tmp_path):
    """In a process of its own, because a process settles on one library."""
    out = tmp_path / "box.png"
    done = draw_in_new_process(out, MUJOCO_GL=backend)
    if "NoDisplayError" in done.stderr:
        pytest.skip(f"{backend} does not work here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert mask_of(np.asarray(Image.open(out))).mean() > 0.2


def test_switched_off_pictures_say_so(tmp_path):
    done = draw_in_new_process(tmp_path / "box.png", MUJOCO_GL="disabled")
    assert done.returncode == 1
    assert "switches pictures off" in done.stderr


def test_an_unknown_backend_is_named(tmp_path):
    done = draw_in_new_process(tmp_path / "box.png", MUJOCO_GL="vulkan")
    assert done.returncode == 1
    message = done.stderr.strip().splitlines()[-1]
    assert "InvalidValueError: MUJOCO_GL is 'vulkan'" in message
    assert "Set it to egl, osmesa or glfw" in message


def test_no_library_names_the_packages(monkeypatch):
    from handwright.render import backend

    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(backend, "_is_usable", lambda name: False)
    monkeypatch.setattr(backend.platform, "system", lambda: "Linux")
    backend._backend.cache_clear()
    try:
        with pytest.raises(HandwrightError, match=r"libegl1 \(or libosmesa6\)"):
            backend.make_context(8, 8)
    finally:
        backend._backend.cache_clear()


def draw_in_new_process(out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    code = """
import sys, os, handwright as hw
before = dict(os.environ)
picture = hw.render_still([hw.body_item(hw.make_shape("box"))], width=40, height=40)
# MuJoCo itself prepares the environment for a backend that the user has named.
assert "MUJOCO_GL" in before or before == dict(os.environ)
hw.write_png(picture, sys.argv[1])
"""
    chosen = ("MUJOCO_GL", "PYOPENGL_PLATFORM")
    clean = {key: value for key, value in os.environ.items() if key not in chosen}
    return subprocess.run(
        [sys.executable, "-c", code, str(out)],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
