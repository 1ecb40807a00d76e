"""Whole recordings: a made-up data set of our own hand, read back and held against what made it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from benchmarks.recordings.metrics import recorded_joints, skin_depth
from handwright.cli import main as cli
from handwright.core.clip import Clip
from handwright.errors import FileFormatError, HandwrightError, InvalidValueError, UnknownNameError
from handwright.evidence import evaluate
from handwright.evidence.metrics.sweep import sweep_conventions
from handwright.geometry.mesh.bodies import load_body
from handwright.hands import human, joint_names
from handwright.io import formats
from handwright.io.axes import to_z_up, world_to_z_up
from handwright.io.manipnet.dataset import is_recording, read_recording, read_skin
from handwright.io.manipnet.hand import matched_hand, read_hand, reproduce
from handwright.kinematics import frame_poses, link_poses
from handwright.math import rotation
from handwright.math.pose import Pose

FRAMES = 60
STILL = 36
EXTENTS = np.array([0.06, 0.08, 0.05])
TABLE = 0.4
TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def as_wxyz(matrices):
    return Rotation.from_matrix(matrices).as_quat()[..., [3, 0, 1, 2]]


def finger_values(model, seed):
    """A smooth motion of the fingers, carpometacarpal joints of the fingers at rest."""
    rng = np.random.default_rng(seed)
    phase, time = rng.uniform(0.0, 6.0, model.num_joints), np.linspace(0.0, 1.0, FRAMES)[:, None]
    low, high = model.joints.lower, model.joints.upper
    q = low + (high - low) * (0.5 + 0.25 * np.sin(3.0 * time + phase))
    fixed = [
        j
        for j, name in enumerate(model.joints.names)
        if "_cmc_" in name and not name.startswith("thumb")
    ]
    q[:, fixed] = 0.0
    return q


def skeleton(model):
    """Joints of the data set: name, our frame, parent."""
    rows = [("WRIST", "wrist", -1)]
    names = joint_names("manipnet", model.side)
    for digit in ("thumb", "index", "middle", "ring", "little"):
        parent = 0
        if digit == "thumb":
            rows.append(("THUMB_CMC_FE", "thumb_metacarpal", 0))
            parent = len(rows) - 1
        for name, theirs in names.items():
            if name.startswith(digit):
                rows.append((theirs, name, parent))
                parent = len(rows) - 1
    return rows


def recorded_arrays(side, seed):
    """One hand of a recording, its skin, and the joint values and world frames behind them."""
    model = human(side)
    q = finger_values(model, seed)
    rows = skeleton(model)
    links = [model.frames.link[model.frames.index(ours)] for _, ours, _ in rows]
    rng = np.random.default_rng(seed)
    wrist = Rotation.from_rotvec(0.3 * rng.normal(size=3) + np.linspace(0, 1, FRAMES)[:, None])
    wrist, place = wrist.as_matrix(), rng.normal(size=3) + 0.1 * np.linspace(0, 1, FRAMES)[:, None]

    def frames(values, turn, origin):
        turns, places = link_poses(model, values)
        turns, places = turns[:, links], places[:, links]
        return turn[:, None] @ turns, np.einsum("tij,tnj->tni", turn, places) + origin[:, None]

    turns, places = frames(q, wrist, place)
    half = np.diag([-1.0, -1.0, 1.0]) if side == "left" else np.eye(3)
    turns[:, 0] = turns[:, 0] @ half
    parents = np.array([parent for _, _, parent in rows])
    local, offsets = turns.copy(), np.zeros((len(rows), 3))
    for n, parent in enumerate(parents[1:], start=1):
        back = turns[:, parent].transpose(0, 2, 1)
        local[:, n] = back @ turns[:, n]
        offset = np.einsum("tij,tj->ti", back, places[:, n] - places[:, parent])
        assert np.ptp(offset, axis=0).max() < 1e-9
        offsets[n] = offset[0]
    bind_turns, bind_places = frames(q[:1] * 0.0, np.eye(3)[None], np.zeros((1, 3)))
    bind_turns[:, 0] = bind_turns[:, 0] @ half
    vertices, weights, faces = [], [], []
    for n, (_, ours, _) in enumerate(rows):
        ring = 0.004 * rng.normal(size=(4, 3))
        if ours.endswith("_distal"):
            tip = model.frames.position[model.frames.index(ours.replace("_distal", "_tip"))]
            ring[0] = tip
        faces.append([len(vertices), len(vertices) + 1, len(vertices) + 2])
        vertices += list(ring @ bind_turns[0, n].T + bind_places[0, n])
        share = np.zeros((4, len(rows)))
        share[:, n] = 1.0
        if n > 1 and not ours.endswith("_distal"):
            share[2, [n, parents[n]]] = 0.6, 0.4
        weights += list(share)
    bind = np.tile(np.eye(4), (len(rows), 1, 1))
    bind[:, :3, :3], bind[:, :3, 3] = bind_turns[0], bind_places[0]
    names = np.array([theirs for theirs, _, _ in rows])
    skin = {
        "vertices": np.array(vertices),
        "faces": np.array(faces),
        "weights": np.array(weights),
        "inv_bind": np.linalg.inv(bind),
        "joint_names": names,
    }
    arrays = {
        f"{side}_wrist_pos": places[:, 0],
        f"{side}_wrist_quat_wxyz": as_wxyz(turns[:, 0]),
        f"{side}_local_quat_wxyz": as_wxyz(local),
        f"{side}_joint_pos": places,
        f"{side}_offsets": offsets,
        "joint_names": names,
        "parents": parents,
    }
    return arrays, skin, q, (turns, places)


def write_data_set(folder):
    """A folder like the data set's, and what it was made from."""
    (folder / "objects").mkdir(parents=True)
    (folder / "sequences").mkdir()
    trimesh.creation.box(EXTENTS).export(folder / "objects" / "brick.obj")
    # Rests on the table, Y up, then is lifted and turned; the last frame comes three times.
    height = TABLE + 0.5 * EXTENTS[1] + np.r_[np.zeros(STILL), np.linspace(0, 0.1, FRAMES - STILL)]
    lift = np.maximum(height - height[0], 0.0)
    arrays = {
        "fps": np.float32(120.0),
        "object_names": np.array(["brick"]),
        "object_brick_pos": np.stack([0.1 + 0 * lift, height, 0.2 + lift], axis=1),
        "object_brick_quat_wxyz": as_wxyz(
            Rotation.from_rotvec(lift[:, None] * [0, 9.0, 0]).as_matrix()
        ),
    }
    made = {}
    for seed, side in enumerate(("left", "right")):
        hand, skin, q, frames = recorded_arrays(side, seed)
        arrays |= hand
        np.savez(folder / f"hand_skin_{side}.npz", **skin)
        made[side] = (q, frames, skin)
    for key in list(arrays):
        if key.endswith(("_pos", "_wxyz")):
            arrays[key] = np.concatenate([arrays[key], arrays[key][-1:], arrays[key][-1:]])
    path = folder / "sequences" / "lift.npz"
    np.savez(path, **arrays)
    return path, arrays, made


@pytest.fixture(scope="module")
def data_set(tmp_path_factory):
    return write_data_set(tmp_path_factory.mktemp("manipnet"))


@pytest.fixture(scope="module")
def recording(data_set):
    return read_recording(data_set[0])


def test_object_and_wrists_are_turned_to_z_up(data_set, recording):
    _, arrays, made = data_set
    body = recording.tracks["brick"].pose
    corners = recording.body.vertices.copy()
    turn = Rotation.from_quat(arrays["object_brick_quat_wxyz"][:FRAMES, [1, 2, 3, 0]])
    for t in (0, 40, 59):
        world = turn[t].apply(corners) + arrays["object_brick_pos"][t]
        np.testing.assert_allclose(body[t].apply(corners), world @ TO_Z.T, atol=1e-12)
    for side, (_, (_, places), _) in made.items():
        wrist = recording.tracks[side].pose
        np.testing.assert_allclose(wrist.position, places[:, 0] @ TO_Z.T, atol=1e-12)
        # A joint, seen from the wrist, is where it is in the world.
        hand = recording.fingers[side]
        joint = recording.skins[side].joints.index("MIDDLE_PIP_FE")
        seen = wrist.apply(hand.position[:, hand.names.index("middle_intermediate")])
        np.testing.assert_allclose(seen, places[:, joint] @ TO_Z.T, atol=1e-12)


def test_frames_table_and_repeats_are_found(recording):
    assert (recording.start, recording.stop, recording.repeated) == (0, FRAMES, 2)
    assert recording.fps == 120.0
    assert recording.table == pytest.approx(TABLE, abs=1e-9)
    assert recording.sides == ("left", "right")


def test_there_is_no_table_if_the_object_never_rests(data_set):
    path, arrays, _ = data_set
    moving = dict(arrays)
    moving["object_brick_pos"] = arrays["object_brick_pos"] + np.linspace(0, 1, FRAMES + 2)[:, None]
    np.savez(path.with_name("moving.npz"), **moving)
    recording = read_recording(path.with_name("moving.npz"))
    assert recording.table is None
    assert recording.problem().environment == ()


def test_the_clip_has_the_recorded_fingers_and_their_tips(data_set, recording):
    _, _, made = data_set
    clip = recording.clip(fps=60.0)
    assert clip.fps == pytest.approx(60.0)
    assert clip.provenance.settings == {"start": 0, "stop": FRAMES, "fps": 60.0}
    for side, (q, _, _) in made.items():
        own, model, motion = human(side), clip.problem.hands[side], clip.hands[side]
        wanted = frame_poses(own, q[::2]).position
        got = frame_poses(model, motion.q).position
        for name in recording.fingers[side].names:
            error = np.linalg.norm(
                got[:, model.frames.index(name)] - wanted[:, own.frames.index(name)], axis=1
            )
            # The axes of the thumb are guessed from its motion; those of a finger are known.
            assert error.mean() < (2e-3 if name.startswith("thumb") else 1e-3), (side, name)


def test_only_the_skin_tells_how_the_last_joints_bend(data_set, recording):
    path, _, made = data_set
    q, _, _ = made["right"]
    bare = read_hand(path, "right")
    model = matched_hand(bare)
    tip = human("right").frames.index("index_tip")
    wanted = frame_poses(human("right"), q).position[:, tip]
    blind = frame_poses(model, reproduce(model, bare)[0][:FRAMES]).position[:, tip]
    seen = recording.models["right"]
    known = frame_poses(seen, reproduce(seen, recording.fingers["right"])[0]).position[:, tip]
    assert np.linalg.norm(blind - wanted, axis=1).mean() > 3e-3
    assert np.linalg.norm(known - wanted, axis=1).mean() < 1e-3


def test_a_problem_has_wrists_and_object_but_no_fingers(recording):
    problem = recording.problem(10, 50, sides=("right",), fps=60.0)
    assert set(problem.hands) == {"right"}
    assert set(problem.tracks) == {"right", "brick"}
    np.testing.assert_allclose(problem.times, np.arange(20) / 60.0)
    whole = recording.tracks["right"].pose
    np.testing.assert_array_equal(problem.track("right").pose.position, whole.position[10:50:2])
    assert problem.environment[0].offset == pytest.approx(TABLE)


def test_a_part_keeps_the_count_of_frames_and_the_hand(data_set, recording):
    part = read_recording(data_set[0], start=20, stop=50)
    assert (part.start, part.stop) == (20, 50)
    assert part.table == recording.table
    a, b = part.problem(30, 44), recording.problem(30, 44)
    for name, track in a.tracks.items():
        np.testing.assert_array_equal(track.pose.position, b.track(name).pose.position)
    np.testing.assert_array_equal(
        part.models["left"].capsules.radius, recording.models["left"].capsules.radius
    )


def test_what_is_not_there_cannot_be_asked_for(data_set, recording):
    with pytest.raises(InvalidValueError, match="frames 0 to 500 were asked for"):
        recording.clip(0, 500)
    with pytest.raises(InvalidValueError, match="at 120 Hz and asked for at 50"):
        recording.problem(fps=50.0)
    with pytest.raises(UnknownNameError, match="'up'"):
        recording.problem(sides=("up",))
    with pytest.raises(InvalidValueError, match="start=40 and stop=40 was asked for"):
        read_recording(data_set[0], start=40, stop=40)


def test_a_start_in_the_still_end_is_refused_with_what_was_given(data_set, recording):
    """Without a stop the frames that only repeat the last one are left out."""
    count = FRAMES + recording.repeated
    assert recording.repeated > 1
    with pytest.raises(InvalidValueError) as refused:
        read_recording(data_set[0], start=FRAMES + 1)
    text = str(refused.value)
    assert f": start={FRAMES + 1} was asked for; the recording has {count} frames" in text
    assert f"from frame {FRAMES} on they repeat the last one" in text
    assert f"0 <= start < stop <= {FRAMES};" in text
    assert read_recording(data_set[0], start=FRAMES - 5, stop=count).stop == count


def test_wrists_alone_make_a_problem_but_no_clip(data_set, tmp_path):
    path, arrays, _ = data_set
    keep = {
        key.replace("_brick", ""): arrays[key]
        for key in arrays
        if key == "fps" or key.startswith("object_brick") or "_wrist_" in key
    }
    np.savez(tmp_path / "demo.npz", **keep)
    with pytest.raises(FileFormatError, match="does not say which object was recorded"):
        read_recording(tmp_path / "demo.npz")
    body = load_body(path.parent.parent / "objects" / "brick.obj")
    recording = read_recording(tmp_path / "demo.npz", body=body)
    assert set(recording.problem().hands) == {"left", "right"}
    with pytest.raises(InvalidValueError, match="left and right hand were not recorded"):
        recording.clip()


def test_the_skin_is_blended_linearly(data_set, recording):
    for side, (_, (turns, places), skin) in data_set[2].items():
        got = recording.skin_vertices(side, slice(0, FRAMES, 7))
        bind = np.linalg.inv(skin["inv_bind"])
        for row, t in enumerate(range(0, FRAMES, 7)):
            for v in (0, 2, 30, 42, 66):
                want = np.zeros(3)
                for n, share in enumerate(skin["weights"][v]):
                    local = bind[n, :3, :3].T @ (skin["vertices"][v] - bind[n, :3, 3])
                    want += share * (turns[t, n] @ local + places[t, n])
                np.testing.assert_allclose(got[row, v], TO_Z @ want, atol=1e-12)


def test_skin_depth_in_a_box_is_that_of_its_nearest_face(data_set, recording, monkeypatch):
    rng = np.random.default_rng(3)
    cut = recording.frames(None, None, 60.0)
    pose = recording.tracks["brick"].pose[cut]
    local = rng.uniform(-0.6, 0.6, (len(pose), 20, 3)) * EXTENTS
    local[5] += 10.0
    world = pose[:, None].apply(local)
    monkeypatch.setattr(type(recording), "skin_vertices", lambda self, side, frames: world)
    wanted = np.maximum((0.5 * EXTENTS - np.abs(local)).min(axis=-1), 0.0).max(axis=-1)
    assert wanted[5] == 0.0
    assert (wanted > 0.0).sum() > 20
    np.testing.assert_allclose(skin_depth(recording), wanted, atol=1e-9)


def test_there_are_22_joints_for_each_hand(recording):
    joints = recorded_joints(recording)
    assert joints.shape == (FRAMES // 2, 44, 3)
    assert np.linalg.norm(joints, axis=-1).max() < 0.25


def test_a_recording_can_be_evaluated_and_its_conventions_swept(recording):
    clip = recording.clip(0, 20)
    report = evaluate(clip)
    assert report["brick.counted_frames"] == 0
    rows = sweep_conventions(clip, "brick")
    counted = {row.value: row.counted for row in rows if row.convention == "only_airborne"}
    assert counted == {True: 0, False: clip.num_frames}
    assert {row.convention for row in rows} == {
        "contact_distance", "sliding_speed", "only_airborne", "cone",
    }  # fmt: skip
    assert rows[0].plain()["percent"] is None


def test_recordings_are_recognised(data_set, capsys):
    path = data_set[0]
    assert is_recording(path)
    assert not is_recording(path.parent.parent / "hand_skin_left.npz")
    assert not is_recording(path.parent / "nothing.npz")
    path.with_name("text.npz").write_bytes(b"PK\x03\x04 nonsense")
    assert not is_recording(path.with_name("text.npz"))
    assert isinstance(formats.load(path), Clip)
    assert cli.main(["info", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"frames 0 to {FRAMES}" in said
    assert "hand left: wrist and fingers" in said
    assert "2 frames that repeat" in said
    assert cli.main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["start"], facts["stop"]) == ("recording", 0, FRAMES)
    assert facts["hands"]["left"] == {"has_fingers": True}
    assert facts["repeated_frames"] == 2


def changed(arrays, **changes):
    arrays = dict(arrays)
    for key, value in changes.items():
        if value is None:
            del arrays[key]
        else:
            arrays[key] = value(arrays[key]) if callable(value) else value
    return arrays


BAD = {
    "arrays fps are missing": {"fps": None},
    "fps is": {"fps": np.float32(0.0)},
    r"object_brick_pos, object_brick_quat_wxyz are missing": {
        "object_brick_pos": None,
        "object_brick_quat_wxyz": None,
    },
    "left_wrist_quat_wxyz is missing": {"left_wrist_quat_wxyz": None},
    "holds the objects brick, mug": {"object_names": np.array(["brick", "mug"])},
    "stand for no character": {
        # Numpy makes a character of any 32 bits; such a text cannot be printed.
        "object_names": np.frombuffer(np.uint32([99, 0x202C2734]).tobytes(), dtype="U2")
    },
    r"objects/mug\.obj": {
        "object_names": np.array(["mug"]),
        "object_mug_pos": np.zeros((FRAMES + 2, 3)),
        "object_mug_quat_wxyz": np.tile([1.0, 0, 0, 0], (FRAMES + 2, 1)),
    },
    r"the object has 62 frames, but: right_joint_pos \(30": {"right_joint_pos": lambda a: a[:30]},
    "quaternion of length": {"right_wrist_quat_wxyz": lambda a: 3.0 * a},
    "left_offsets has shape": {"left_offsets": lambda a: a[:, :2]},
    "parents are": {"parents": lambda a: a[::-1].copy()},
    "left_joint_pos holds NaN": {"left_joint_pos": lambda a: np.where(a > 0, np.nan, a)},
    "joint_names is missing": {"joint_names": None},
    "joints INDEX_MCP are not": {
        "joint_names": lambda a: np.where(a == "INDEX_MCP", "FINGER", a),
    },
    "numbers or text": {"right_offsets": np.array([[{}]], dtype=object)},
    "left hand cannot be matched": {"left_joint_pos": lambda a: 0.0 * a + 1.0},
}


@pytest.mark.parametrize("match", BAD)
def test_bad_recordings_are_refused(data_set, match):
    path, arrays, _ = data_set
    bad = path.with_name("bad.npz")
    np.savez(bad, **changed(arrays, **BAD[match]))
    with pytest.raises(FileFormatError, match=match):
        read_recording(bad)


def test_an_array_that_claims_more_than_it_holds_is_refused(data_set):
    path, _, _ = data_set
    bad = path.with_name("claims.npz")
    with zipfile.ZipFile(path) as good, zipfile.ZipFile(bad, "w") as out:
        for name in good.namelist():
            data = good.read(name)
            if name == "left_wrist_pos.npy":
                data = data.replace(b"(62, 3), }     ", b"(6200000000, 3),}", 1)
            out.writestr(name, data)
    with pytest.raises(FileFormatError, match="left_wrist_pos"):
        read_recording(bad)


SKIN_FAULTS = {
    "weights are|do not sum": {"weights": lambda a: 0.5 * a},
    "faces point to": {"faces": lambda a: a + 10_000},
    "inv_bind has shape": {"inv_bind": lambda a: a[:, :3]},
    "joint INDEX_DIP_FE is missing": {
        "joint_names": lambda a: np.where(a == "INDEX_DIP_FE", "FINGER", a),
    },
    "vertices are missing": {"vertices": None},
}


@pytest.mark.parametrize("match", SKIN_FAULTS)
def test_bad_skins_are_refused(data_set, tmp_path, match):
    skin = data_set[2]["left"][2]
    np.savez(tmp_path / "skin.npz", **changed(skin, **SKIN_FAULTS[match]))
    with pytest.raises(FileFormatError, match=match):
        read_skin(tmp_path / "skin.npz", "left")


def test_a_missing_skin_is_named(data_set, tmp_path):
    path, arrays, _ = data_set
    np.savez(tmp_path / "alone.npz", **arrays)
    body = load_body(path.parent.parent / "objects" / "brick.obj")
    with pytest.raises(FileFormatError, match=r"hand_skin_left\.npz"):
        read_recording(tmp_path / "alone.npz", body=body)


def test_a_skin_that_numbers_the_joints_otherwise_is_refused(data_set, recording):
    skin = recording.skins["left"]
    order = np.r_[0, np.arange(len(skin.joints) - 1, 0, -1)]
    other = replace(
        skin,
        joints=tuple(skin.joints[n] for n in order),
        weights=skin.weights[:, order],
        inverse_bind=skin.inverse_bind[order],
    )
    with pytest.raises(FileFormatError, match="expected the same in the same order"):
        read_recording(data_set[0], skins={"left": other})


def test_damaged_recordings_give_clean_errors(data_set):
    path, _, _ = data_set
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    damaged = path.with_name("damaged.npz")
    for _ in range(300):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[int(rng.integers(len(data))) :]
        else:
            # Headers and the list of contents are hit as often as numbers.
            ends = [len(data), 2000, 300]
            for place in rng.integers(0, ends[int(rng.integers(3))], 4):
                data[place] ^= 1 << int(rng.integers(8))
        damaged.write_bytes(bytes(data))
        try:
            read_recording(damaged)
        except HandwrightError:
            refused += 1
    assert refused > 250


def test_axes_of_a_pose_keep_the_frame_that_moves():
    rng = np.random.default_rng(1)
    pose = Pose(rng.normal(size=(5, 3)), rotation.random(rng, (5,)))
    points = rng.normal(size=(5, 3))
    np.testing.assert_allclose(
        world_to_z_up(pose).apply(points), to_z_up(pose.apply(points)), atol=1e-12
    )
