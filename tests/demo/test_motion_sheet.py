"""The demo's picture and figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handwright.cli.demo import motions
from handwright.cli.demo.motions import figures_of
from handwright.core.contact import ContactTrack
from handwright.core.result import NoSolutionError, Result, Status
from handwright.evidence import certify
from handwright.methods import Scripted
from handwright.render import motion_sheet as sheet
from handwright.render.motion_sheet import motion_sheet, pictures, spread, touching_span
from handwright.render.scene import Stage
from handwright.scenes import load_scene
from handwright.synthesis import synthesize


@pytest.fixture(scope="module")
def clip():
    return synthesize(load_scene("milk_box_turn"), Scripted(), certify=False).best


@given(st.integers(0, 50), st.integers(0, 200), st.integers(1, 20))
def test_numbers_are_spread_evenly_from_first_to_last(first, more, most):
    chosen = spread(first, first + more, most)
    assert len(chosen) == len(set(chosen)) == min(most, more + 1)
    assert chosen[0] == first
    if len(chosen) > 1:
        assert chosen[-1] == first + more
        steps = np.diff(chosen)
        assert steps.max() - steps.min() <= 1


def _touching(clip, toucher, frames):
    """The clip with one contact in each of some frames."""
    count = len(frames)
    rows = np.zeros(count, dtype=np.int64)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    return replace(
        clip,
        contacts=ContactTrack(
            touchers=(toucher,),
            bodies=tuple(clip.bodies),
            frame=np.array(frames),
            toucher=rows,
            part=rows,
            body=rows,
            point=np.zeros((count, 3)),
            normal=up,
            force=up,
            gap=np.zeros(count),
            mode=rows,
        ),
    )


def test_times_are_those_at_which_a_hand_touches(clip):
    assert len(clip.contacts) == 0
    assert touching_span(clip) == (0, clip.num_frames - 1)
    assert touching_span(_touching(clip, next(iter(clip.hands)), [9, 10, 30])) == (9, 30)
    assert touching_span(_touching(clip, "environment", [9, 30])) == (0, clip.num_frames - 1)


def test_the_sheet_has_a_row_for_each_motion_and_a_column_for_each_time(clip, opengl):
    small = {"columns": 3, "size": (48, 48)}
    one = motion_sheet([clip], **small)
    two = motion_sheet([clip, clip, clip], rows=2, **small)
    assert one.shape[1] == two.shape[1] >= 3 * 48
    assert two.shape[0] - one.shape[0] > 48
    # Same motion, same row but for its label.
    assert np.array_equal(one[:52], two[:52])
    assert len(np.unique(one.reshape(-1, 3), axis=0)) > 50


def test_the_sheet_shows_the_motions_that_differ_most(monkeypatch):
    shown = []
    monkeypatch.setattr(
        sheet,
        "pictures",
        lambda clip, frames, *_, **__: shown.append(clip) or [np.zeros((8, 8, 3), np.uint8)] * 2,
    )
    clips = [
        synthesize(load_scene("milk_box_turn"), Scripted(pose=pose), certify=False).best
        for pose in ("open", "open", "closed", "rest")
    ]
    motion_sheet(clips, rows=3, columns=2)
    assert [clips.index(clip) for clip in shown] == [0, 2, 3]


def test_a_still_camera_stays_and_another_goes_along(clip, monkeypatch, opengl):
    seen = []
    taken = Stage.picture
    monkeypatch.setattr(
        Stage, "picture", lambda stage, camera: seen.append(camera) or taken(stage, camera)
    )
    frames = [0, clip.num_frames // 2]
    for still in (False, True):
        assert len(pictures(clip, frames, size=(32, 32), is_still=still)) == 2
    first, second, *stays = [(*camera.target, camera.distance) for camera in seen]
    assert stays[0] == stays[1]
    assert np.linalg.norm(np.subtract(first, second)) > 1e-3
    # It stands back to see both.
    assert stays[0][3] > max(first[3], second[3])


def test_a_hand_that_touches_nothing_has_such_figures(clip):
    certificate = certify(clip)
    own = figures_of(clip, certificate)
    assert not certificate.passed
    assert own.verdict == certificate.verdict
    assert (own.digits, own.slides, own.relocations) == (0.0, 0, 0)
    assert own.acceleration == pytest.approx(0.0, abs=1e-9)


def test_the_demo_writes_and_tells_everything(clip, monkeypatch, tmp_path, capsys, opengl):
    def synthesize_scripted(problem, method, *, seed, on_progress):
        assert (problem.name, method.num_solutions, method.num_workers) == ("milk_box_turn", 2, 1)
        assert seed == 5
        result = synthesize(problem, Scripted(), certify=False)
        return replace(result, clips=result.clips * 2)

    monkeypatch.setattr(motions, "synthesize", synthesize_scripted)
    monkeypatch.setattr(motions, "motion_sheet", lambda clips: motion_sheet(clips, columns=2))
    motions.run(tmp_path / "here", num_solutions=2, num_workers=1, seed=5)
    names = {file.name for file in (tmp_path / "here").iterdir()}
    assert names == {"milk_box_turn.png"} | {
        f"milk_box_turn_{number:02d}.{suffix}" for number in range(2) for suffix in ("npz", "glb")
    }
    printed = capsys.readouterr().out
    # Nothing holds the box, and that is not hidden.
    assert "0 of 2 motions certified" in printed
    assert certify(clip).verdict.split()[0] in printed
    assert f"handwright verify {tmp_path / 'here' / 'milk_box_turn_00.npz'}" in printed


def test_a_demo_without_a_motion_fails(monkeypatch, tmp_path):
    result = Result((), Status.TIME_BUDGET)
    monkeypatch.setattr(motions, "synthesize", lambda *_, **__: result)
    with pytest.raises(NoSolutionError, match="TIME_BUDGET"):
        motions.run(tmp_path)
    assert list(tmp_path.iterdir()) == []
