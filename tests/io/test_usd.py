"""USD stages, evaluated by the USD library itself."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, MissingExtraError, UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.hands import human, skin_of, trident, whole_skin_of
from handwright.io.formats import EXPORTERS, export
from handwright.io.usd.stage import save_usd
from handwright.kinematics import frame_poses, posed_capsules, posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

REASON = "usd-core is not installed; it comes with the extras 'usd' and 'dev'"
Usd = pytest.importorskip("pxr.Usd", reason=REASON)
UsdGeom = pytest.importorskip("pxr.UsdGeom", reason=REASON)
UsdSkel = pytest.importorskip("pxr.UsdSkel", reason=REASON)


def skinned(stage, label, code):
    """World positions of a hand's vertices, by the library."""
    root = UsdSkel.Root(stage.GetPrimAtPath(f"/World/hands/{label}"))
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = cache.GetSkelQuery(
        UsdSkel.Skeleton(stage.GetPrimAtPath(f"{root.GetPath()}/skeleton"))
    )
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"{root.GetPath()}/skin"))
    query = cache.GetSkinningQuery(mesh.GetPrim())
    assert skeleton
    assert query
    points = mesh.GetPointsAttr().Get()
    transforms = skeleton.ComputeSkinningTransforms(code)
    assert query.ComputeSkinnedPoints(transforms, points, code)
    to_world = mesh.ComputeLocalToWorldTransform(code)
    return np.array([to_world.Transform(point) for point in points])


def joint_places(stage, label, code):
    root = f"/World/hands/{label}"
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(stage.GetPrimAtPath(root)), Usd.PrimDefaultPredicate)
    skeleton = cache.GetSkelQuery(UsdSkel.Skeleton(stage.GetPrimAtPath(f"{root}/skeleton")))
    matrices = skeleton.ComputeJointSkelTransforms(code)
    names = [str(name).rsplit("/", 1)[-1] for name in skeleton.GetJointOrder()]
    return {name: np.array(m.ExtractTranslation()) for name, m in zip(names, matrices, strict=True)}


def clip_of(hands, count=7, bodies=None):
    rng = np.random.default_rng(0)
    times = np.arange(count) / 30.0
    motions = {}
    for name, model in hands.items():
        root = Pose(rng.normal(size=(count, 3)), rotation.random(rng, (count,)))
        motions[name] = HandMotion(root, model.joints.random(rng, (count,)))
    bodies = bodies or {}
    poses = {
        name: Pose(rng.normal(size=(count, 3)), rotation.random(rng, (count,))) for name in bodies
    }
    return Clip(
        Problem("p", times, hands, bodies),
        times,
        motions,
        poses,
        ContactTrack.empty(),
        Provenance("p", "test", {"depth": 0.1}, 2**70, "1.2"),
    )


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_the_skin_is_where_ours_is_in_every_format(tmp_path, human_clip, suffix):
    path = tmp_path / f"a{suffix}"
    save_usd(human_clip, path)
    stage = Usd.Stage.Open(str(path))
    model, motion = human_clip.problem.hands["right"], human_clip.hands["right"]
    ours = posed_skin(model, skin_of(model), motion.q, motion.root)
    for t in range(0, human_clip.num_frames, 6):
        np.testing.assert_allclose(skinned(stage, "right", t), ours[t], atol=1e-6)


@pytest.mark.parametrize("side", ["right", "left"])
def test_joints_and_whole_skin_of_an_arm(tmp_path, side):
    model = human(side, arm=True)
    clip = clip_of({side: model})
    save_usd(clip, tmp_path / "a.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    motion, skin = clip.hands[side], whole_skin_of(model)
    ours = posed_skin(model, skin, motion.q, motion.root)
    frames = frame_poses(model, motion.q, motion.root).position
    for t in range(clip.num_frames):
        points = skinned(stage, side, t)
        np.testing.assert_allclose(points, ours[t], atol=2e-6)
        places = joint_places(stage, side, t)
        np.testing.assert_allclose(
            places["index_pip_flexion"],
            frames[t, model.frames.index("index_intermediate")],
            atol=2e-6,
        )


def test_capsules_of_a_hand_without_a_skin(tmp_path):
    model = trident()
    clip = clip_of({"claw": model})
    save_usd(clip, tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    motion = clip.hands["claw"]
    start, end, radius = posed_capsules(model, motion.q, motion.root)
    for t in range(clip.num_frames):
        points = skinned(stage, "claw", t)
        along = end[t] - start[t]
        share = np.einsum("vci,ci->vc", points[:, None] - start[t], along) / np.maximum(
            np.sum(along**2, axis=-1), 1e-30
        )
        nearest = start[t] + np.clip(share, 0.0, 1.0)[..., None] * along
        gap = np.linalg.norm(points[:, None] - nearest, axis=-1) - radius
        # Every vertex is on a capsule, and every capsule has vertices on it.
        on = np.abs(gap) < 2e-6
        assert on.any(axis=1).all()
        assert on.any(axis=0).all()


def test_bodies_move_and_look_as_ours(tmp_path, human_clip):
    save_usd(human_clip, tmp_path / "a.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/bodies/ball"))
    body, pose = human_clip.problem.bodies["ball"], human_clip.bodies["ball"]
    points = np.array(mesh.GetPointsAttr().Get(), dtype=np.float64)
    np.testing.assert_allclose(points, body.vertices, atol=1e-7)
    faces = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    np.testing.assert_array_equal(faces, body.faces)
    assert set(mesh.GetFaceVertexCountsAttr().Get()) == {3}
    color = mesh.GetDisplayColorPrimvar().Get()
    np.testing.assert_allclose(color, [body.color], atol=1e-6)
    for t in range(human_clip.num_frames):
        matrix = mesh.ComputeLocalToWorldTransform(t)
        theirs = np.array([matrix.Transform(point) for point in mesh.GetPointsAttr().Get()[:20]])
        np.testing.assert_allclose(theirs, pose[t].apply(points[:20]), atol=1e-6)


def test_the_librarys_validators_find_nothing(tmp_path, human_clip):
    validation = pytest.importorskip("pxr.UsdValidation", reason="this usd-core has no validators")
    save_usd(human_clip, tmp_path / "a.usdc")
    validators = validation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 10
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    found = validation.ValidationContext(validators).Validate(stage)
    assert [error.GetMessage() for error in found] == []
    # The same validators do find a fault.
    stage.ClearMetadata("upAxis")
    found = validation.ValidationContext(validators).Validate(stage)
    assert any("upAxis" in error.GetMessage() for error in found)


def test_axes_units_times_and_provenance(tmp_path, human_clip):
    save_usd(human_clip, tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == pytest.approx(30.0)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 30.0)
    assert str(stage.GetDefaultPrim().GetPath()) == "/World"
    stamp = stage.GetRootLayer().customLayerData["handwright"]
    assert stamp["scene"] == human_clip.provenance.scene
    assert stamp["seed"] == "7"
    animation = UsdSkel.Animation(stage.GetPrimAtPath("/World/hands/right/animation"))
    assert animation.GetRotationsAttr().GetTimeSamples() == [float(t) for t in range(31)]


def test_uneven_frames_and_other_rates(tmp_path, tiny_clip):
    save_usd(tiny_clip, tmp_path / "a.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    animation = UsdSkel.Animation(stage.GetPrimAtPath("/World/hands/claw/animation"))
    rate = stage.GetTimeCodesPerSecond()
    seconds = np.array(animation.GetTranslationsAttr().GetTimeSamples()) / rate
    np.testing.assert_allclose(seconds, tiny_clip.times, atol=1e-6)
    save_usd(tiny_clip, tmp_path / "b.usdc", fps=50.0)
    stage = Usd.Stage.Open(str(tmp_path / "b.usdc"))
    assert stage.GetTimeCodesPerSecond() == 50.0
    animation = UsdSkel.Animation(stage.GetPrimAtPath("/World/hands/claw/animation"))
    assert len(animation.GetTranslationsAttr().GetTimeSamples()) == 26


def test_names_that_usd_does_not_allow(tmp_path):
    ball = make_shape("sphere")
    clip = clip_of({"my hand": trident()}, bodies={"1 ball": ball, "1-ball": ball, "käse": ball})
    save_usd(clip, tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    bodies = stage.GetPrimAtPath("/World/bodies").GetChildren()
    assert [prim.GetDisplayName() for prim in bodies] == ["1 ball", "1-ball", "käse"]
    assert stage.GetPrimAtPath("/World/hands/my_hand").GetDisplayName() == "my hand"
    stamp = stage.GetRootLayer().customLayerData["handwright"]
    assert stamp["seed"] == str(2**70)
    assert json.loads(stamp["settings"]) == {"depth": 0.1}


def test_turns_do_not_change_their_sign_between_frames(tmp_path):
    clip = clip_of({"claw": trident()}, count=40, bodies={"ball": make_shape("sphere")})
    save_usd(clip, tmp_path / "a.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    orient = stage.GetPrimAtPath("/World/bodies/ball").GetAttribute("xformOp:orient")
    rotations = stage.GetPrimAtPath("/World/hands/claw/animation").GetAttribute("rotations")
    for read in (orient.Get, lambda code: rotations.Get(code)[0]):
        turns = [read(code) for code in range(40)]
        wxyz = np.array([[q.GetReal(), *q.GetImaginary()] for q in turns])
        assert np.sum(wxyz[1:] * wxyz[:-1], axis=-1).min() >= 0.0


def test_what_cannot_be_written_leaves_no_file(tmp_path, tiny_clip):
    with pytest.raises(UnknownNameError, match="suffix of USD files"):
        save_usd(tiny_clip, tmp_path / "a.usdz")
    with pytest.raises(InvalidValueError, match="no folder"):
        save_usd(tiny_clip, tmp_path / "nowhere" / "a.usda")
    with pytest.raises(InvalidValueError, match="fps"):
        save_usd(tiny_clip, tmp_path / "a.usda", fps=-1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_with_the_extra_that_brings_it(tmp_path, tiny_clip, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr.Usd", None)
    with pytest.raises(MissingExtraError, match=r"handwright\[usd\]"):
        save_usd(tiny_clip, tmp_path / "a.usda")
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_chooses_the_format(tmp_path, tiny_clip):
    for suffix in (".usd", ".usda", ".usdc"):
        assert suffix in EXPORTERS
        export(tiny_clip, tmp_path / f"a{suffix}", fps=10.0)
    assert (tmp_path / "a.usda").read_bytes().startswith(b"#usda")
    assert (tmp_path / "a.usdc").read_bytes().startswith(b"PXR-USDC")
