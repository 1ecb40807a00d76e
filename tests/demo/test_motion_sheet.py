"""The demo's picture and figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handwright.core.contact import ContactTrack
from handwright.demo.motions import figures_of
from handwright.demo.sheet import motion_sheet, spread, touching_span
from handwright.evidence import certify
from handwright.methods import Scripted, synthesize
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def clip():
    return synthesize(load_scene("milk_box_turn"), Scripted()).best


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


def test_a_hand_that_touches_nothing_has_such_figures(clip):
    certificate = certify(clip)
    own = figures_of(clip, certificate)
    assert not certificate.passed
    assert own.verdict == certificate.verdict
    assert (own.digits, own.slides, own.relocations) == (0.0, 0, 0)
    assert own.acceleration == pytest.approx(0.0, abs=1e-9)
