"""Taught motions in files."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import HandwrightError
from handwright.io.clip.file import load_clip, save_clip
from handwright.learning.data import TaughtMotion, load_motion, load_motions, save_motion
from handwright.learning.data.motion import count_frames, hand_model, motion_files
from handwright.learning.data.shapes import Thing
from handwright.learning.data.stage import work_table
from handwright.learning.training.lessons.sources import recorded_motions, taught_motions
from handwright.math.pose import Pose

FRAMES = 12


def made(name="primitives_s0_000001", split="train"):
    """A hand that moves over a still box."""
    thing = Thing("box", MappingProxyType({"width": 0.05, "depth": 0.06, "height": 0.07}), 0.8)
    times = np.arange(FRAMES) / 60.0
    still = np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, 1))
    wrist = Pose(np.linspace([0.0, 0.0, 1.0], [0.1, 0.0, 1.1], FRAMES), still)
    body = Pose(np.tile([0.2, 0.0, 0.8], (FRAMES, 1)), still)
    problem = Problem(
        name,
        times,
        {"right": hand_model("right")},
        {"box": thing.body()},
        tracks={"right": Track(times, wrist), "box": Track(times, body)},
        environment=(work_table(),),
    )
    q = np.linspace(hand_model("right").pose("open"), hand_model("right").pose("rest"), FRAMES)
    clip = Clip(
        problem, times, {"right": HandMotion(wrist, q)}, {"box": body}, ContactTrack.empty(),
        Provenance(name, "sampling", {"window": 20}, 3, "0.1.0", is_certified=True),
    )  # fmt: skip
    labels = ("reach",) * 5 + ("carry",) * (FRAMES - 5)
    return TaughtMotion(name, clip, labels, {"box": thing}, split, ("carry",))


def test_a_motion_comes_back_to_single_precision(tmp_path):
    motion = made()
    save_motion(motion, tmp_path / f"{motion.name}.npz")
    back = load_motion(tmp_path / f"{motion.name}.npz")
    assert (back.name, back.split, back.shape) == (motion.name, motion.split, "box")
    assert (back.activity, back.acts) == (motion.activity, motion.acts)
    np.testing.assert_allclose(back.clip.hands["right"].q, motion.clip.hands["right"].q, atol=1e-6)
    np.testing.assert_allclose(
        back.clip.bodies["box"].position, motion.clip.bodies["box"].position, atol=1e-6
    )
    np.testing.assert_allclose(back.clip.times, motion.clip.times, atol=1e-12)
    assert back.clip.provenance.is_certified
    assert count_frames(tmp_path / f"{motion.name}.npz") == FRAMES


def test_a_folder_gives_the_motions_of_a_split_in_order(tmp_path):
    for number, split in ((2, "test"), (1, "train"), (3, "train")):
        motion = made(f"primitives_s0_{number:06d}", split)
        save_motion(motion, tmp_path / f"{motion.name}.npz")
    names = [motion.name[-1] for motion in load_motions(tmp_path)]
    assert names == ["1", "2", "3"]
    assert [motion.name[-1] for motion in load_motions(tmp_path, "train")] == ["1", "3"]
    with pytest.raises(HandwrightError, match="validation"):
        list(load_motions(tmp_path, "trainig"))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "primitives_s0_000001.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(HandwrightError, match="primitives_s0_000001"):
        load_motion(path)


def test_a_clip_file_is_called_a_clip_file(tmp_path):
    path = tmp_path / "milk_box_turn_s0_00.npz"
    save_clip(made().clip, path)
    said = "is a clip file, but no taught motion. Give one that 'handwright data make' wrote"
    with pytest.raises(HandwrightError, match=said):
        list(load_motions(tmp_path))
    save_motion(made(), path)
    said = "is a taught motion, but no clip file. Give one that handwright wrote"
    with pytest.raises(HandwrightError, match=said):
        load_clip(path)


@pytest.mark.parametrize("read", [load_motions, motion_files, taught_motions, recorded_motions])
def test_a_file_in_the_place_of_a_folder_is_told(tmp_path, read):
    path = tmp_path / "primitives_s0_000001.npz"
    with pytest.raises(HandwrightError, match="there is no such folder; expected a folder of"):
        list(read(path))
    save_motion(made(), path)
    with pytest.raises(HandwrightError, match="is a file; expected a folder of") as caught:
        list(read(path))
    assert str(caught.value).endswith(f"Give the folder that it is in, '{tmp_path}'.")
