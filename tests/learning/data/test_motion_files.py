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
from handwright.learning.data import TaughtMotion, load_motion, load_motions, save_motion
from handwright.learning.data.motion import count_frames, hand_model
from handwright.learning.data.shapes import Thing
from handwright.learning.data.stage import work_table
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
