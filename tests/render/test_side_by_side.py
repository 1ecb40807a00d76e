"""Several motions in one film or picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import problem_of
from PIL import Image

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.methods import Scripted
from handwright.render.film import FilmSettings
from handwright.render.side_by_side import render_side_by_side
from handwright.synthesis import synthesize

SMALL = FilmSettings(width=96, height=64, fps=2.0, stills=3)


@pytest.fixture(scope="module")
def clips():
    open_hand, closing = (
        synthesize(problem_of("milk_box_turn"), Scripted(end_pose=pose), certify=False).best
        for pose in ("open", "closed")
    )
    half = closing.num_frames // 2
    short = replace(
        closing,
        problem=replace(closing.problem, times=closing.times[:half]),
        times=closing.times[:half],
        hands={
            name: replace(motion, root=motion.root[:half], q=motion.q[:half])
            for name, motion in closing.hands.items()
        },
        bodies={name: pose[:half] for name, pose in closing.bodies.items()},
    )
    return {"open": open_hand, "closing": closing, "short": short}


def _frames(path):
    with Image.open(path) as film:
        frames = []
        for number in range(film.n_frames):
            film.seek(number)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
        return frames


def _cells(sheet, count):
    """The pictures of a row, without the lines of text."""
    return [sheet[4:68, 4 + 100 * i : 100 + 100 * i] for i in range(count)]


def test_motions_are_filmed_beside_each_other_for_as_long_as_the_longest(clips, tmp_path):
    path = render_side_by_side(clips, tmp_path / "all.gif", SMALL)
    frames = _frames(path)
    span = clips["open"].times[-1]
    assert len(frames) == int(span * SMALL.fps) + 1
    first, last = _cells(frames[0], 3), _cells(frames[-1], 3)
    # All begin alike, seen from one place; then fingers differ.
    assert np.abs(first[0] - first[1]).mean() < 1.0
    assert np.abs(last[0] - last[1]).mean() > 1.0


def test_a_motion_that_is_over_stays_as_it_ends(clips, tmp_path):
    frames = _frames(render_side_by_side(clips, tmp_path / "all.gif", SMALL))
    before_last, last = (_cells(frame, 3) for frame in frames[-2:])
    assert np.abs(before_last[2] - last[2]).mean() < 0.5
    assert np.abs(before_last[1] - last[1]).mean() > 0.5


def test_stills_have_a_row_for_each_motion(clips, tmp_path):
    one = render_side_by_side({"open": clips["open"]}, tmp_path / "one.png", SMALL)
    two = render_side_by_side(dict(list(clips.items())[:2]), tmp_path / "two.png", SMALL)
    with Image.open(one) as single, Image.open(two) as double:
        assert single.width == double.width
        assert double.height - 4 == 2 * (single.height - 4)


def test_what_cannot_be_filmed_is_refused(clips, tmp_path):
    with pytest.raises(InvalidValueError, match="give one clip or more"):
        render_side_by_side({}, tmp_path / "none.gif", SMALL)
    with pytest.raises(UnknownNameError, match="picture format"):
        render_side_by_side(clips, tmp_path / "all.avi", SMALL)
