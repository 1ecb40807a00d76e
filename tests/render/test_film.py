"""Films and strips of a clip."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from handwright.core.contact import Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError, MissingExtraError, UnknownNameError
from handwright.geometry import table
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.math.pose import Pose
from handwright.methods import Scripted, synthesize
from handwright.render.clip_items import MODE_COLORS, Overlay, clip_items
from handwright.render.film import (
    FilmSettings,
    film_frames,
    framing_camera,
    render_clip,
)

TIMES = np.linspace(0.0, 0.4, 5)
SMALL = FilmSettings(width=96, height=64, fps=10.0, stills=3)


@pytest.fixture(scope="module")
def clip():
    from dataclasses import replace

    slide = np.stack([0.4 * TIMES, 0.0 * TIMES, 0.0 * TIMES], axis=-1)
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (len(TIMES), 1))
    problem = Problem(
        "film",
        TIMES,
        {"hand": trident()},
        {"ball": make_shape("sphere")},
        {
            "hand": Track(TIMES, Pose(slide - np.array([0.2, 0.0, 0.0]), wxyz)),
            "ball": still(Pose.identity(), TIMES),
        },
        environment=(table(-0.035, size=(0.3, 0.3)),),
    )
    made = synthesize(problem, Scripted(end_pose="closed")).best
    touch = Contact(
        2,
        "hand",
        0,
        "ball",
        np.array([-0.035, 0.0, 0.0]),
        np.array([1.0, 0.0, 0.0]),
        0.0,
        np.array([2.0, 0.0, 0.0]),
        ContactMode.SLIDING,
    )
    return replace(made, contacts=ContactTrack.of([touch]))


def test_contacts_and_forces_are_drawn_in_their_frame_only(clip):
    bare = Overlay(contacts=False, forces=False, surroundings=False)
    num_bare = len(clip_items(clip, 2, bare))
    assert len(clip_items(clip, 1)) == num_bare + 1
    full = clip_items(clip, 2, Overlay(metres_per_newton=0.01))
    dots = [item for item in full if item.color == MODE_COLORS[ContactMode.SLIDING]]
    assert len(dots) == 1
    np.testing.assert_allclose(
        (dots[0].vertices.min(axis=0) + dots[0].vertices.max(axis=0)) / 2, [-0.035, 0, 0], atol=1e-6
    )
    shaft = full[num_bare + 2]
    # Two newtons are two centimetres, outside the ball, ending at the contact.
    assert shaft.vertices[:, 0].min() == pytest.approx(-0.055 - 0.0014, abs=1e-4)
    assert shaft.vertices[:, 0].max() == pytest.approx(-0.035 + 0.0014, abs=1e-4)


def test_a_film_takes_the_nearest_frames(clip):
    np.testing.assert_array_equal(film_frames(clip, 10.0), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(film_frames(clip, 5.0), [0, 2, 4])
    assert len(film_frames(clip, 30.0)) == 13


def test_the_camera_stands_still_and_sees_the_whole_motion(clip):
    camera = framing_camera(clip, SMALL)
    target, distance = camera.placed(np.zeros((1, 3)), aspect=1.5)
    np.testing.assert_allclose(target, camera.target)
    assert distance == camera.distance
    axes = camera.axes()
    bare = Overlay(contacts=False, forces=False, surroundings=False)
    for frame in range(clip.num_frames):
        for item in clip_items(clip, frame, bare):
            right, up, back = axes @ (item.vertices - camera.target).T
            reach = np.tan(camera.field_of_view / 2) * (camera.distance - back)
            assert np.all(np.abs(up) <= reach * 1.001)
            assert np.all(np.abs(right) <= 1.5 * reach * 1.001)


@pytest.mark.usefixtures("opengl")
def test_strip_gif_and_film_hold_the_motion(clip, tmp_path):
    strip = np.array(Image.open(render_clip(clip, tmp_path / "a.png", SMALL)))
    assert strip.shape[1] >= 3 * 96
    with Image.open(render_clip(clip, tmp_path / "new" / "a.gif", SMALL)) as film:
        assert film.n_frames == 5
        assert film.info["duration"] == 100
        first = np.array(film.convert("RGB")).astype(int)
        film.seek(4)
        last = np.array(film.convert("RGB")).astype(int)
    assert np.abs(first - last).max() > 60
    pytest.importorskip("imageio_ffmpeg", reason="the extra film is not installed")
    import imageio_ffmpeg

    path = render_clip(clip, tmp_path / "a.mp4", SMALL)
    reader = imageio_ffmpeg.read_frames(str(path))
    details = next(reader)
    assert details["source_size"] == (96, 64)
    assert details["fps"] == pytest.approx(10.0)
    assert len(list(reader)) == 5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mp4", "a.png", "new"]


def test_mistakes_are_explained(clip, tmp_path, monkeypatch):
    with pytest.raises(
        UnknownNameError, match=r"picture format '.avi'.*Known: \.gif, \.mp4, \.png"
    ):
        render_clip(clip, tmp_path / "a.avi")
    with pytest.raises(InvalidValueError, match=r"95 x 64 pixels.*fps is 0"):
        FilmSettings(width=95, height=64, fps=0.0)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match="needs the 'film' extra"):
        render_clip(clip, tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []
