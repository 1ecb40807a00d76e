"""The two passes see the past and never the future, in streams as in whole tracks."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from handwright.learning.training.columns import DISTANCES, POSE, finger_columns, fixed_columns
from handwright.learning.training.networks.normalisation import Normalisation
from handwright.learning.training.networks.windowed import (
    MEMORY,
    FirstPass,
    SecondPass,
    empty_memory,
)
from handwright.learning.training.recipe import Recipe

WIDTH = 24
RECIPE = Recipe(architecture="windowed", width=WIDTH)
OUTPUTS = Normalisation(np.zeros(220), np.ones(220))


@pytest.fixture
def passes():
    torch.manual_seed(0)
    plain = {"width": WIDTH, "dropout": 0.3, "distances": DISTANCES}
    first = FirstPass(
        fixed_columns(RECIPE), Normalisation(np.zeros(1336), np.ones(1336)), OUTPUTS, **plain
    )
    second = SecondPass(
        finger_columns(RECIPE),
        Normalisation(np.zeros(1020), np.ones(1020)),
        OUTPUTS,
        pose=POSE,
        **plain,
    )
    return first.eval(), second.eval()


def inputs(frames: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    return torch.randn(2, frames, 1336), torch.randn(2, frames, 1020)


def test_outputs_depend_on_a_second_of_the_past_and_not_on_the_future(passes):
    first, _ = passes
    fixed, _ = inputs(100)
    fixed.requires_grad_(True)
    at = 90
    said = first(fixed, empty_memory(2, WIDTH))[0]
    said[:, at, POSE].sum().backward()
    felt = fixed.grad[0].abs().sum(dim=-1).numpy()
    assert felt[at] > 0.0
    assert felt[at - MEMORY] > 0.0
    assert (felt[at + 1 :] == 0.0).all()
    assert (felt[: at - MEMORY] == 0.0).all()
    assert pytest.approx(1.0, abs=0.1) == MEMORY / 60.0


def test_frames_one_by_one_give_what_the_whole_track_gives(passes):
    first, second = passes
    fixed, finger = inputs(80)
    with torch.no_grad():
        whole, context, end = first(fixed, empty_memory(2, WIDTH))
        refined, second_end = second(context, finger, empty_memory(2, WIDTH))
        memory, after = empty_memory(2, WIDTH), empty_memory(2, WIDTH)
        for frame in range(80):
            one = slice(frame, frame + 1)
            said, seen, memory = first(fixed[:, one], memory)
            again, after = second(seen, finger[:, one], after)
            torch.testing.assert_close(said, whole[:, one], atol=1e-6, rtol=1e-5)
            torch.testing.assert_close(again, refined[:, one], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(memory, end)
    torch.testing.assert_close(after, second_end)


def test_the_second_pass_changes_the_pose_that_sensors_were_read_at(passes):
    _, second = passes
    torch.nn.init.zeros_(second.decoder.dense.weight)
    torch.nn.init.zeros_(second.decoder.dense.bias)
    _, finger = inputs(5)
    said, _ = second(torch.randn(2, 5, 2 * WIDTH), finger, empty_memory(2, WIDTH))
    assert torch.equal(said[..., POSE], finger[..., POSE])
