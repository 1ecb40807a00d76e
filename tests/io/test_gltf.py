"""The .glb files, read with another library and evaluated by the glTF specification."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pygltflib
import pytest

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.errors import FileFormatError, InvalidValueError
from handwright.hands import human, skin_of, whole_skin_of
from handwright.io.clip.resample import frame_times, resampled
from handwright.io.gltf.read import load_glb
from handwright.io.gltf.write import save_glb
from handwright.kinematics import frame_poses, posed_capsules, posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

COMPONENTS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Evaluated:
    """A file as a viewer sees it: accessors, node matrices at any time, skinned vertices."""

    def __init__(self, path: Path) -> None:
        self.gltf = pygltflib.GLTF2().load(str(path))
        self.blob = self.gltf.binary_blob()
        self.index = {node.name: k for k, node in enumerate(self.gltf.nodes)}
        assert len(self.index) == len(self.gltf.nodes)

    def array(self, accessor: int) -> np.ndarray:
        entry = self.gltf.accessors[accessor]
        view = self.gltf.bufferViews[entry.bufferView]
        start = (view.byteOffset or 0) + (entry.byteOffset or 0)
        dtype, width = np.dtype(COMPONENTS[entry.componentType]), WIDTHS[entry.type]
        assert start % dtype.itemsize == 0
        assert entry.count * width * dtype.itemsize <= view.byteLength
        values = np.frombuffer(self.blob, dtype, entry.count * width, start)
        return values.reshape(entry.count, width)

    def channels(self, node: int) -> dict[str, pygltflib.AnimationSampler]:
        (animation,) = self.gltf.animations
        return {
            channel.target.path: animation.samplers[channel.sampler]
            for channel in animation.channels
            if channel.target.node == node
        }

    def value(self, node: int, path: str, time: float) -> np.ndarray:
        default = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}[path]
        sampler = self.channels(node).get(path)
        if sampler is None:
            return np.array(getattr(self.gltf.nodes[node], path) or default, dtype=np.float64)
        keys = self.array(sampler.input)[:, 0].astype(np.float64)
        values = self.array(sampler.output).astype(np.float64)
        after = int(np.clip(np.searchsorted(keys, time, side="right"), 1, len(keys) - 1))
        share = np.clip((time - keys[after - 1]) / (keys[after] - keys[after - 1]), 0.0, 1.0)
        if sampler.interpolation == "STEP":
            return values[after - 1] if share < 1.0 else values[after]
        a, b = values[after - 1], values[after]
        if path != "rotation":
            return (1 - share) * a + share * b
        cosine = abs(a @ b)
        b = b if a @ b >= 0 else -b
        angle = np.arccos(min(cosine, 1.0))
        if angle < 1e-6:
            return (1 - share) * a + share * b
        return (np.sin((1 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle)

    def matrices(self, time: float) -> list[np.ndarray]:
        parent = {
            child: k for k, node in enumerate(self.gltf.nodes) for child in node.children or []
        }
        local = [self._local(k, time) for k in range(len(self.gltf.nodes))]

        def world(k: int) -> np.ndarray:
            return world(parent[k]) @ local[k] if k in parent else local[k]

        return [world(k) for k in range(len(local))]

    def _local(self, node: int, time: float) -> np.ndarray:
        x, y, z, w = self.value(node, "rotation", time)
        matrix = np.eye(4)
        matrix[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        matrix[:3, :3] *= self.value(node, "scale", time)
        matrix[:3, 3] = self.value(node, "translation", time)
        return matrix

    def skinned(self, time: float, number: int = 0) -> np.ndarray:
        skin = self.gltf.skins[number]
        (node,) = (n for n in self.gltf.nodes if n.skin == number)
        attributes = self.gltf.meshes[node.mesh].primitives[0].attributes
        inverse = self.array(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        world = self.matrices(time)
        joints = np.array([world[j] for j in skin.joints]) @ inverse
        vertices = self.array(attributes.POSITION).astype(np.float64)
        vertices = np.concatenate([vertices, np.ones((len(vertices), 1))], axis=1)
        weights = self.array(attributes.WEIGHTS_0).astype(np.float64)
        matrices = joints[self.array(attributes.JOINTS_0)]
        return np.einsum("vk,vkij,vj->vi", weights, matrices, vertices)[:, :3]

    def mesh_vertices(self, node: int, time: float) -> np.ndarray:
        """World vertices of a node's mesh, in glTF's axes."""
        mesh = self.gltf.meshes[self.gltf.nodes[node].mesh]
        matrix = self.matrices(time)[node]
        vertices = np.concatenate([self.array(p.attributes.POSITION) for p in mesh.primitives])
        return vertices @ matrix[:3, :3].T + matrix[:3, 3]


def y_up(points: np.ndarray) -> np.ndarray:
    """The turn that takes z to y, written out a second time."""
    return points @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def sorted_rows(points: np.ndarray) -> np.ndarray:
    points = np.unique(np.round(points, 5), axis=0)
    return points[np.lexsort(points.T)]


@pytest.fixture(scope="module")
def human_file(human_clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "human.glb"
    save_glb(human_clip, path)
    return path


@pytest.fixture(scope="module")
def tiny_file(tiny_clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "tiny.glb"
    save_glb(tiny_clip, path)
    return path


def skin_error(clip: Clip, path: Path, frames: range, hand: str = "right") -> float:
    """Largest distance, m, of the file's skin from ours."""
    file = Evaluated(path)
    model, motion = clip.problem.hands[hand], clip.hands[hand]
    ours = posed_skin(model, whole_skin_of(model), motion.q[frames], motion.root[frames])
    errors = [
        np.abs(file.skinned(float(clip.times[frame] - clip.times[0])) - y_up(one)).max()
        for frame, one in zip(frames, ours, strict=True)
    ]
    return float(max(errors))


def test_skin_agrees_to_a_hundredth_of_a_millimetre(human_clip: Clip, human_file: Path) -> None:
    frames = range(0, 31, 1)[:20]
    assert skin_error(human_clip, human_file, frames) < 1e-5


def test_skin_of_a_left_hand_with_an_arm_agrees(human_clip: Clip, tmp_path: Path) -> None:
    model = human(side="left", arm=True)
    rng = np.random.default_rng(0)
    q = model.joints.random(rng, (3,))
    problem = dataclasses.replace(
        human_clip.problem,
        times=np.array([0.0, 0.5, 1.0]),
        hands={"right": model},
        tracks={},
        goals=(),
    )
    clip = dataclasses.replace(
        human_clip,
        problem=problem,
        times=problem.times,
        hands={"right": HandMotion(human_clip.hands["right"].root[:3], q)},
        bodies={"ball": human_clip.bodies["ball"][:3]},
        contacts=ContactTrack.empty(),
    )
    save_glb(clip, tmp_path / "left.glb")
    assert skin_error(clip, tmp_path / "left.glb", range(3)) < 1e-5
    # The arm is part of the one mesh, not of capsules on its links.
    file = Evaluated(tmp_path / "left.glb")
    titles = [node.name for node in file.gltf.nodes if node.mesh is not None]
    assert [title for title in titles if title.startswith("right")] == ["right skin"]
    (mesh,) = (file.gltf.meshes[n.mesh] for n in file.gltf.nodes if n.skin is not None)
    assert len({primitive.attributes.POSITION for primitive in mesh.primitives}) == 1
    weights = file.array(mesh.primitives[0].attributes.WEIGHTS_0)
    assert np.abs(weights.sum(axis=1, dtype=np.float64) - 1.0).max() < 1e-6


@pytest.mark.parametrize("is_drawn", [True, False])
def test_a_body_sits_behind_an_arm_unless_it_is_unwanted(
    human_clip: Clip, tmp_path: Path, is_drawn: bool
) -> None:
    model = human(arm=True)
    # A shoulder that is upright: y of the root is up.
    upright = rotation.exp([np.pi / 2.0, 0.0, 0.0])
    root = Pose(np.zeros((3, 3)), np.tile(upright, (3, 1)))
    problem = dataclasses.replace(
        human_clip.problem, times=np.arange(3.0), hands={"right": model}, tracks={}, goals=()
    )
    clip = dataclasses.replace(
        human_clip,
        problem=problem,
        times=problem.times,
        hands={"right": HandMotion(root, np.tile(model.pose("rest"), (3, 1)))},
        bodies={"ball": human_clip.bodies["ball"][:3]},
        contacts=ContactTrack.empty(),
    )
    save_glb(clip, tmp_path / "a.glb", figure=is_drawn)
    names = [node.name for node in Evaluated(tmp_path / "a.glb").gltf.nodes]
    assert ("figure" in names) == ("figure 0" in names) == is_drawn
    # It is neither a hand nor a body of the motion.
    assert set(load_glb(tmp_path / "a.glb").bodies) == {"ball"}


def test_skin_agrees_between_the_frames_at_another_rate(human_clip: Clip, tmp_path: Path) -> None:
    save_glb(human_clip, tmp_path / "a.glb", fps=47.0)
    times = frame_times(human_clip, 47.0)
    assert times[0] == human_clip.times[0]
    assert times[-1] == human_clip.times[-1]
    np.testing.assert_allclose(np.diff(times)[:-1], 1 / 47.0)
    clip = resampled(human_clip, times)
    assert skin_error(clip, tmp_path / "a.glb", range(0, 40, 7)) < 1e-5
    assert load_glb(tmp_path / "a.glb").times.tolist() == times.tolist()


def test_bodies_are_where_they_should_be(human_clip: Clip, human_file: Path) -> None:
    file = Evaluated(human_file)
    ball, poses = human_clip.problem.bodies["ball"], human_clip.bodies["ball"]
    for frame in (0, 13, 30):
        time = float(human_clip.times[frame] - human_clip.times[0])
        ours = sorted_rows(y_up(poses[frame].apply(ball.vertices)))
        theirs = file.mesh_vertices(file.index["ball"], time)
        gaps = np.linalg.norm(theirs[:, None] - ours[None, ::17], axis=-1).min(axis=0)
        assert gaps.max() < 2e-5
        assert len(sorted_rows(theirs)) == pytest.approx(len(ours), rel=0.01)


def test_a_hand_without_a_skin_is_drawn_as_its_capsules(tiny_clip: Clip, tiny_file: Path) -> None:
    file = Evaluated(tiny_file)
    assert not file.gltf.skins
    model, motion = tiny_clip.problem.hands["claw"], tiny_clip.hands["claw"]
    capsules = posed_capsules(model, motion.q[3], motion.root[3])
    nodes = [
        k
        for k, node in enumerate(file.gltf.nodes)
        if node.name.startswith("claw") and node.mesh is not None
    ]
    vertices = np.concatenate([file.mesh_vertices(k, float(tiny_clip.times[3])) for k in nodes])
    start, end = y_up(capsules.start), y_up(capsules.end)
    axis = end - start
    share = np.einsum("vci,ci->vc", vertices[:, None] - start, axis)
    share = np.clip(share / np.maximum((axis**2).sum(axis=1), 1e-30), 0.0, 1.0)
    nearest = start + share[..., None] * axis
    gap = np.linalg.norm(vertices[:, None] - nearest, axis=-1) - capsules.radius
    # Every vertex lies on the surface of some capsule, and every capsule has vertices.
    assert np.abs(gap).min(axis=1).max() < 1e-6
    assert (np.abs(gap) < 1e-6).any(axis=0).all()


def test_named_groups_and_materials(human_clip: Clip, human_file: Path) -> None:
    file = Evaluated(human_file)
    nodes = file.gltf.nodes
    names = {material.name for material in file.gltf.materials}
    assert {"skin", "nails", "contacts", "forces", "environment"} <= names
    (skin,) = (mesh for mesh in file.gltf.meshes if mesh.name == "right skin")
    materials = [file.gltf.materials[p.material].name for p in skin.primitives]
    assert materials == ["skin", "nails"]
    counts = [file.gltf.accessors[p.indices].count // 3 for p in skin.primitives]
    is_nail = skin_of(human_clip.problem.hands["right"]).is_nail
    assert counts == [int((~is_nail).sum()), int(is_nail.sum())]
    # Parts 0 (table), 3, and 7 twice touch; the table's contact has no force.
    assert len(nodes[file.index["contacts"]].children) == 4
    assert len(nodes[file.index["forces"]].children) == 3
    assert [nodes[k].name for k in nodes[file.index["environment"]].children] == [
        "plane 0",
        "box 1",
    ]


def test_contacts_show_exactly_when_and_where_they_are(human_clip: Clip, human_file: Path) -> None:
    file = Evaluated(human_file)
    contacts = human_clip.contacts
    for frame in (0, 7, 15, 16, 30):
        # A little after the key, whose time is rounded to single precision in the file.
        world = file.matrices(float(human_clip.times[frame] - human_clip.times[0]) + 1e-3)
        shown = [
            world[k][:3, 3]
            for k in file.gltf.nodes[file.index["contacts"]].children
            if np.linalg.det(world[k][:3, :3]) > 0.5
        ]
        rows = contacts.frame == frame
        expected = y_up(contacts.point[rows])
        assert len(shown) == rows.sum()
        np.testing.assert_allclose(
            sorted_rows(np.array(shown).reshape(-1, 3)), sorted_rows(expected), atol=2e-5
        )


def test_arrows_end_at_the_contact_and_are_as_long_as_the_force(
    human_clip: Clip, human_file: Path
) -> None:
    file = Evaluated(human_file)
    frame = 20
    time = float(human_clip.times[frame] - human_clip.times[0]) + 1e-3
    rows = (human_clip.contacts.frame == frame) & np.isfinite(human_clip.contacts.force[:, 0])
    points = y_up(human_clip.contacts.point[rows])
    forces = y_up(human_clip.contacts.force[rows])
    arrows = file.gltf.nodes[file.index["forces"]].children
    assert len(arrows) == rows.sum() == 3
    for k in arrows:
        vertices = file.mesh_vertices(k, time)
        tip = file.matrices(time)[k][:3, 3]
        match = int(np.argmin(np.linalg.norm(points - tip, axis=1)))
        np.testing.assert_allclose(tip, points[match], atol=1e-6)
        length = np.linalg.norm(forces[match])
        reach = (vertices - tip) @ (forces[match] / length)
        assert reach.max() == pytest.approx(0.0, abs=1e-6)
        assert reach.min() == pytest.approx(-0.02 * length, abs=1e-6)


def test_the_table_faces_up(human_clip: Clip, human_file: Path) -> None:
    file = Evaluated(human_file)
    ground = human_clip.problem.environment[0]
    vertices = file.mesh_vertices(file.index["plane 0"], 0.0)
    np.testing.assert_allclose(vertices @ y_up(ground.normal), ground.offset, atol=1e-6)
    mesh = file.gltf.meshes[file.gltf.nodes[file.index["plane 0"]].mesh]
    a, b, c = vertices[file.array(mesh.primitives[0].indices)[:3, 0]]
    assert np.cross(b - a, c - a) @ y_up(ground.normal) > 0.0


@pytest.mark.parametrize("name", ["human_file", "tiny_file"])
def test_the_file_keeps_the_rules_of_the_format(name: str, request: pytest.FixtureRequest) -> None:
    file = Evaluated(request.getfixturevalue(name))
    gltf = file.gltf
    assert gltf.asset.version == "2.0"
    for mesh in gltf.meshes:
        for primitive in mesh.primitives:
            positions = file.array(primitive.attributes.POSITION)
            entry = gltf.accessors[primitive.attributes.POSITION]
            assert entry.min == positions.min(axis=0).tolist()
            assert entry.max == positions.max(axis=0).tolist()
            normals = np.linalg.norm(file.array(primitive.attributes.NORMAL), axis=1)
            np.testing.assert_allclose(normals, 1.0, atol=1e-4)
            indices = file.array(primitive.indices)
            assert indices.size % 3 == 0
            assert indices.max() < len(positions)
            if primitive.attributes.WEIGHTS_0 is not None:
                weights = file.array(primitive.attributes.WEIGHTS_0)
                assert np.abs(weights.sum(axis=1) - 1.0).max() < 4e-7
                assert weights.min() >= 0.0
    (animation,) = gltf.animations
    for sampler in animation.samplers:
        times = file.array(sampler.input)[:, 0]
        assert times[0] == 0.0
        assert (np.diff(times) > 0.0).all()
        assert gltf.accessors[sampler.output].count == len(times)
    targets = [(c.target.node, c.target.path) for c in animation.channels]
    assert len(set(targets)) == len(targets)
    for view in gltf.bufferViews:
        assert (view.byteOffset or 0) % 4 == 0
        assert (view.byteOffset or 0) + view.byteLength <= gltf.buffers[0].byteLength


def assert_turns_agree(ours: Pose, theirs: Pose) -> None:
    assert np.abs(ours.position - theirs.position).max() < 1e-6
    dot = np.abs(np.einsum("ti,ti->t", ours.wxyz, theirs.wxyz))
    assert np.sqrt(np.maximum(2.0 - 2.0 * dot, 0.0)).max() < 1e-6


@pytest.mark.parametrize("name", ["human", "tiny"])
def test_round_trip(name: str, request: pytest.FixtureRequest) -> None:
    clip = request.getfixturevalue(f"{name}_clip")
    motion = load_glb(request.getfixturevalue(f"{name}_file"))
    assert motion.times.tolist() == clip.times.tolist()
    assert list(motion.hands) == list(clip.hands)
    for hand, ours in clip.hands.items():
        model = clip.problem.hands[hand]
        assert np.abs(motion.hands[hand].q - ours.q).max() < 1e-6
        assert_turns_agree(ours.root, motion.hands[hand].root)
        assert motion.joint_names[hand] == model.joints.names
        # A frame at the end of a chain of nodes.
        tip = frame_poses(model, ours.q, ours.root)
        link = int(model.frames.link[-1])
        node = motion.nodes[f"{hand}:{model.joints.names[link - 1]}"]
        local = Pose(model.frames.position[-1], model.frames.wxyz[-1])
        assert np.abs((node @ local).position - tip.position[:, -1]).max() < 1e-6
    for body, pose in clip.bodies.items():
        assert_turns_agree(pose, motion.bodies[body])
    assert motion.provenance.settings == clip.provenance.settings
    assert motion.provenance.seed == clip.provenance.seed
    assert motion.provenance.scene == clip.provenance.scene
    for item in dataclasses.fields(ContactTrack):
        ours, theirs = getattr(clip.contacts, item.name), getattr(motion.contacts, item.name)
        if isinstance(ours, tuple):
            assert ours == theirs
        else:
            np.testing.assert_allclose(theirs, ours, atol=1e-8, rtol=1e-8, err_msg=item.name)


def test_switches_leave_parts_out(human_clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "plain.glb"
    save_glb(human_clip, path, environment=False, contacts=False, forces=False)
    file = Evaluated(path)
    assert not {"environment", "contacts", "forces"} & set(file.index)
    assert len(load_glb(path).contacts) == len(human_clip.contacts)


def test_names_of_bodies_may_be_those_of_groups(tiny_clip: Clip, tmp_path: Path) -> None:
    body, pose = tiny_clip.problem.bodies["block"], tiny_clip.bodies["block"]
    names = ["block", "contacts", "claw:root", "forces"]
    problem = dataclasses.replace(tiny_clip.problem, bodies=dict.fromkeys(names, body))
    clip = dataclasses.replace(tiny_clip, problem=problem, bodies=dict.fromkeys(names, pose))
    save_glb(clip, tmp_path / "a.glb")
    motion = load_glb(tmp_path / "a.glb")
    assert list(motion.bodies) == names
    for name in names:
        assert_turns_agree(pose, motion.bodies[name])
    assert_turns_agree(clip.hands["claw"].root, motion.hands["claw"].root)


def test_a_clip_without_contacts_has_no_empty_groups(tiny_clip: Clip, tmp_path: Path) -> None:
    save_glb(dataclasses.replace(tiny_clip, contacts=ContactTrack.empty()), tmp_path / "a.glb")
    assert not {"contacts", "forces"} & set(Evaluated(tmp_path / "a.glb").index)
    assert len(load_glb(tmp_path / "a.glb").contacts) == 0


def test_a_single_frame_and_a_turn_beyond_half_can_be_written(
    tiny_clip: Clip, tmp_path: Path
) -> None:
    q = tiny_clip.hands["claw"].q[:1] + 7.0
    clip = dataclasses.replace(
        tiny_clip,
        times=tiny_clip.times[:1],
        hands={"claw": HandMotion(tiny_clip.hands["claw"].root[:1], q)},
        bodies={"block": tiny_clip.bodies["block"][:1]},
        contacts=ContactTrack.empty(),
    )
    save_glb(clip, tmp_path / "one.glb", fps=30)
    np.testing.assert_allclose(load_glb(tmp_path / "one.glb").hands["claw"].q, q, atol=1e-6)


def test_signs_of_quaternions_do_not_jump(tiny_clip: Clip, tmp_path: Path) -> None:
    pose = tiny_clip.bodies["block"]
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    clip = dataclasses.replace(
        tiny_clip, bodies={"block": Pose(pose.position, pose.wxyz * signs[:, None])}
    )
    save_glb(clip, tmp_path / "a.glb")
    file = Evaluated(tmp_path / "a.glb")
    turns = file.array(file.channels(file.index["block"])["rotation"].output)
    assert (np.einsum("ti,ti->t", turns[1:], turns[:-1]) > 0.0).all()
    assert_turns_agree(pose, load_glb(tmp_path / "a.glb").bodies["block"])


def test_mistakes_are_explained(tiny_clip: Clip, tiny_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="fps is 0; expected a rate above zero"):
        save_glb(tiny_clip, tmp_path / "a.glb", fps=0)
    with pytest.raises(InvalidValueError, match=r"expected at most 100000\. Choose a lower rate"):
        save_glb(tiny_clip, tmp_path / "a.glb", fps=1e6)
    with pytest.raises(InvalidValueError, match="metres_per_newton is -1"):
        save_glb(tiny_clip, tmp_path / "a.glb", metres_per_newton=-1)
    close = dataclasses.replace(tiny_clip, times=1.1e-5 * np.arange(5))
    save_glb(close, tmp_path / "close.glb")
    late = dataclasses.replace(tiny_clip, times=np.array([0, 1e4, 1e4 + 2e-5, 2e4, 3e4]))
    with pytest.raises(InvalidValueError, match="nearer in time than the single precision"):
        save_glb(late, tmp_path / "a.glb")
    assert not (tmp_path / "a.glb").exists()
    with pytest.raises(FileFormatError, match="there is no such file"):
        load_glb(tmp_path / "a.glb")
    data = tiny_file.read_bytes()
    (tmp_path / "a.glb").write_bytes(data[:-5])
    with pytest.raises(FileFormatError, match="it is truncated or damaged"):
        load_glb(tmp_path / "a.glb")
    (tmp_path / "a.glb").write_bytes(data.replace(b'"handwright":{', b'"handwrighd":{'))
    with pytest.raises(FileFormatError, match="was not written by handwright"):
        load_glb(tmp_path / "a.glb")
    (tmp_path / "a.glb").write_bytes(
        data.replace(b'"handwright":{"version":1', b'"handwright":{"version":9')
    )
    with pytest.raises(FileFormatError, match="version of the extras is 9; expected 1 to 1"):
        load_glb(tmp_path / "a.glb")


def test_resampling_keeps_contacts_of_the_nearest_frame(human_clip: Clip) -> None:
    times = np.array([0.5, 0.516, 0.9, 1.5])
    clip = resampled(human_clip, times)
    for frame, time in enumerate(times):
        near = int(np.argmin(np.abs(human_clip.times - time)))
        ours = [c.point.tolist() for c in human_clip.contacts.at(near)]
        assert [c.point.tolist() for c in clip.contacts.at(frame)] == ours
    assert_turns_agree(human_clip.bodies["ball"][[0, -1]], clip.bodies["ball"][[0, -1]])
