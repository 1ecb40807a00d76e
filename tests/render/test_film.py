"""Films and strips of a clip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from handwright.core.contact import Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError, MissingExtraError, UnknownNameError
from handwright.geometry import table
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.render.clip_scene import FORCE_COLOR, MODE_COLORS, ClipScene, Overlay
from handwright.render.film import (
    FilmSettings,
    film_frames,
    film_reach,
    gif_durations,
    pictures,
    render_clip,
)
from handwright.render.scene import Stage
from handwright.synthesis import synthesize

TIMES = np.linspace(0.0, 0.4, 5)
SMALL = FilmSettings(width=96, height=64, fps=10.0, stills=3)


@pytest.fixture(scope="module")
def clip():
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
    made = synthesize(problem, Scripted(end_pose="closed"), certify=False).best
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
    scene = ClipScene(clip, Overlay(metres_per_newton=0.01))
    assert [len(scene.markers(frame)) for frame in range(5)] == [0, 0, 2, 0, 0]
    assert scene.max_markers == 2
    dot, arrow = scene.markers(2)
    np.testing.assert_array_equal(dot.point, [-0.035, 0, 0])
    assert dot.color == MODE_COLORS[ContactMode.SLIDING]
    assert dot.tail is None
    # Two newtons are two centimetres, outside the ball, ending at the contact.
    np.testing.assert_array_equal(arrow.point, [-0.035, 0, 0])
    np.testing.assert_allclose(arrow.tail, [-0.055, 0, 0], atol=1e-12)
    assert arrow.color == FORCE_COLOR
    assert len(ClipScene(clip, Overlay(contacts=False)).markers(2)) == 1
    assert ClipScene(clip, Overlay(contacts=False, forces=False)).markers(2) == ()


def test_a_clip_shows_the_same_surfaces_in_every_frame(clip):
    scene = ClipScene(clip)
    bare = ClipScene(clip, Overlay(surroundings=False))
    assert len(scene.items(0)) == len(bare.items(0)) + 1
    for frame in range(clip.num_frames):
        for first, now in zip(scene.items(0), scene.items(frame), strict=True):
            np.testing.assert_array_equal(first.faces, now.faces)
            assert first.color == now.color
    np.testing.assert_allclose(
        bare.items(3)[-1].vertices,
        clip.bodies["ball"][3].apply(clip.problem.bodies["ball"].vertices),
    )


def test_one_half_of_a_round_body_is_darker(clip):
    ball = clip.problem.bodies["ball"]
    light, dark = ClipScene(clip, Overlay(surroundings=False)).items(0)[-2:]
    assert light.color == ball.color
    assert all(low < high for low, high in zip(dark.color, light.color, strict=True))
    assert len(light.faces) == pytest.approx(len(dark.faces), rel=0.1)
    both = np.concatenate([light.faces, dark.faces])
    assert {tuple(face) for face in both} == {tuple(face) for face in ball.faces}
    # What is not round is seen to turn as it is.
    box = {"ball": make_shape("box")}
    other = replace(clip, problem=replace(clip.problem, bodies=box))
    shown = ClipScene(other, Overlay(surroundings=False)).items(0)
    assert len(shown) == len(ClipScene(clip, Overlay(surroundings=False)).items(0)) - 1


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (1.0, 2.0, 2.0), (0.0, 0.0, -1.0)])
def test_a_piece_of_an_endless_plane_is_drawn_below_the_motion(clip, normal):
    from dataclasses import replace

    plane = HalfSpace(np.array(normal), -0.3)
    seen = replace(clip, problem=replace(clip.problem, environment=(plane,)))
    corners = ClipScene(seen).items(0)[-1].vertices
    heights = corners @ plane.normal - plane.offset
    np.testing.assert_allclose([heights.min(), heights.max()], [-0.01, 0.0], atol=1e-12)
    # The mean of ball and hand over the motion is over the middle of the piece.
    places = np.stack([clip.hands["hand"].root.position, clip.bodies["ball"].position])
    away = places.mean(axis=(0, 1)) - corners.mean(axis=0)
    np.testing.assert_allclose(np.cross(away, plane.normal), 0.0, atol=1e-12)


def test_a_film_takes_the_nearest_frames(clip):
    np.testing.assert_array_equal(film_frames(clip, 10.0), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(film_frames(clip, 5.0), [0, 2, 4])
    assert len(film_frames(clip, 30.0)) == 13


def test_the_camera_stands_still_and_sees_the_whole_motion(clip):
    scene = ClipScene(clip)
    camera = scene.camera.framing(film_reach(clip, scene), aspect=SMALL.width / SMALL.height)
    target, distance = camera.placed(np.zeros((1, 3)), aspect=1.5)
    np.testing.assert_allclose(target, camera.target)
    assert distance == camera.distance
    axes = camera.axes()
    for frame in range(clip.num_frames):
        for item in scene.moving(frame):
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


@pytest.mark.usefixtures("opengl")
def test_rows_of_a_strip_are_as_long_as_each_other(clip, tmp_path, capfd):
    """Five pictures are three and two, not four and one; a log gets no line of them."""
    sizes = {}
    for stills in (3, 5):
        settings = replace(SMALL, stills=stills)
        with Image.open(render_clip(clip, tmp_path / "a.png", settings)) as strip:
            sizes[stills] = strip.size
    assert sizes[5][0] == sizes[3][0]
    assert sizes[5][1] > 1.9 * sizes[3][1]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("fps", [7.0, 24.0, 30.0, 48.0, 50.0])
def test_a_gif_lasts_as_long_as_the_motion(fps):
    durations = gif_durations(90, fps)
    assert len(durations) == 90
    assert all(duration % 10 == 0 and duration >= 20 for duration in durations)
    # At no picture is the film more than half a hundredth of a second off.
    np.testing.assert_allclose(np.cumsum(durations), 1e3 * np.arange(1, 91) / fps, atol=5.0)


@pytest.mark.usefixtures("opengl")
def test_frames_of_a_film_are_the_stills_of_those_frames(clip):
    """Moving one model gives the pictures that a new one for every frame would give."""
    scene = ClipScene(clip)
    reach = film_reach(clip, scene)
    camera = scene.camera.framing(reach, aspect=SMALL.width / SMALL.height)
    filmed = list(pictures(clip, np.array([0, 2, 4, 1]), SMALL))
    assert len(filmed) == 4
    for frame, image in zip([0, 2, 4, 1], filmed, strict=True):
        with Stage(
            scene.items(frame), width=96, height=64, samples=2, reach=reach, max_markers=2
        ) as stage:
            stage.show(scene.items(frame), scene.markers(frame))
            alone = stage.picture(camera)
        assert np.abs(image.astype(int) - alone).mean() < 0.05
    # And the frames are not all the same one.
    assert np.abs(filmed[0].astype(int) - filmed[2]).max() > 60


@pytest.mark.usefixtures("opengl")
def test_a_film_that_fails_leaves_the_old_one(clip, tmp_path, monkeypatch):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    monkeypatch.setattr(
        Image.Image, "save", lambda *_, **__: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        render_clip(clip, path, SMALL)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


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
