"""The recordings: a made-up file for the format, the real ones where they are at hand."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import FileFormatError
from handwright.hands import human, joint_names
from handwright.io.manipnet.hand import matched_hand, read_hand, reproduce
from handwright.io.manipnet.range import with_recorded_range
from handwright.kinematics import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose


def write_recording(path, side, num_frames=30, spread=None):
    """A recording of our own hand in the format of the data set, its index finger spread, rad."""
    model, rng = human(side), np.random.default_rng(0)
    q = model.joints.clamp(
        model.pose("rest") + 0.2 * rng.normal(size=(num_frames, model.num_joints))
    )
    fixed = [j for j, name in enumerate(model.joints.names) if "_cmc_" in name]
    q[:, fixed] = 0.0
    if spread is not None:
        q[:, model.joints.index("index_mcp_abduction")] = spread
    names = joint_names("manipnet", side)
    frames = frame_poses(model, q)
    local = np.stack([frames.position[:, model.frames.index(name)] for name in names], axis=1)
    base = np.tile(model.frames.position[0] * 0.0, (num_frames, 1))
    theirs = [*names.values(), "THUMB_CMC_FE"]
    local = np.concatenate([local, base[:, None]], axis=1)
    local[:, -1] = local[:, theirs.index("THUMB_CMC_AA")]
    stored = local * np.array([-1.0, -1.0, 1.0]) if side == "left" else local
    wrist = Pose(rng.normal(size=(num_frames, 3)), rotation.random(rng, (num_frames,)))
    np.savez(
        path,
        fps=120.0,
        joint_names=np.array(theirs),
        **{
            f"{side}_joint_pos": wrist[:, None].apply(stored),
            f"{side}_wrist_pos": wrist.position,
            f"{side}_wrist_quat_wxyz": wrist.wxyz,
        },
    )
    return local, list(names)


@pytest.mark.parametrize("side", ["right", "left"])
def test_joints_come_back_in_the_wrist_frame(tmp_path, side):
    local, names = write_recording(tmp_path / "a.npz", side)
    recorded = read_hand(tmp_path / "a.npz", side)
    assert recorded.fps == 120.0
    assert "wrist" not in recorded.names
    for n, name in enumerate(recorded.names):
        np.testing.assert_allclose(recorded.position[:, n], local[:, names.index(name)], atol=1e-9)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_recording_of_our_own_hand_is_reproduced(tmp_path, side):
    write_recording(tmp_path / "a.npz", side)
    recorded = read_hand(tmp_path / "a.npz", side)
    _, errors = reproduce(matched_hand(recorded), recorded)
    assert errors.mean() < 2e-4


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(FileFormatError, match="there is no such file"):
        read_hand(path, "right")
    path.write_bytes(b"not a zip file")
    with pytest.raises(FileFormatError, match=r"not a readable \.npz file"):
        read_hand(path, "right")
    write_recording(path, "right")
    with pytest.raises(FileFormatError, match="arrays left_joint_pos"):
        read_hand(path, "left")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match=r"not a readable \.npz file"):
        read_hand(path, "right")
    with np.load(write_and_path(tmp_path)) as archive:
        arrays = dict(archive)
    arrays["right_joint_pos"] = np.full_like(arrays["right_joint_pos"], np.nan)
    np.savez(path, **arrays)
    with pytest.raises(FileFormatError, match="right_joint_pos holds NaN"):
        read_hand(path, "right")


def write_and_path(folder):
    path = folder / "good.npz"
    write_recording(path, "right")
    return path


def test_limits_hold_what_was_recorded_and_never_less(tmp_path):
    write_recording(tmp_path / "a.npz", "right", spread=-0.5)
    recorded = read_hand(tmp_path / "a.npz", "right")
    model = matched_hand(recorded)
    ranged = with_recorded_range(model, recorded)
    assert np.all(ranged.joints.lower <= model.joints.lower)
    assert np.all(ranged.joints.upper >= model.joints.upper)
    index = model.joints.index("index_mcp_abduction")
    assert model.joints.lower[index] > -0.4
    assert ranged.joints.lower[index] == pytest.approx(-0.5, abs=0.02)
    assert ranged.pose("rest")[index] == pytest.approx(-0.5, abs=0.02)
    thumb = model.joints.index("thumb_ip_flexion")
    assert ranged.pose("rest")[thumb] == model.pose("rest")[thumb]


@pytest.mark.data
@pytest.mark.parametrize("side", ["right", "left"])
def test_joints_of_a_real_recording_are_reproduced_within_two_millimetres(manipnet_data, side):
    recorded = read_hand(manipnet_data / "sequences" / "cube_med2.npz", side)
    model = matched_hand(recorded)
    q, errors = reproduce(model, recorded, stride=20)
    assert errors.mean() < 2e-3
    assert np.all(q >= model.joints.lower - 1e-12)
    assert np.all(q <= model.joints.upper + 1e-12)
