"""Clips as USD stages: skeletons, skins, their animation, and bodies; Z up, metres.

Needs the extra ``usd``. Each hand is a SkelRoot with one joint for each link, so that its joint
angles are those of the clip; hands without a skin are drawn as capsules that ride on the links.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from handwright.core.clip import Clip, HandMotion
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError, require
from handwright.io.atomic import written_whole
from handwright.io.clip.resample import frame_times, resampled
from handwright.io.skeleton_names import link_names
from handwright.io.usd.surfaces import HandSurface, surface_of
from handwright.kinematics.skin.skinning import skin_link_poses
from handwright.math import rotation

SUFFIXES = (".usd", ".usda", ".usdc")


def save_usd(
    clip: Clip, path: str | Path, *, fps: float | None = None, skeleton: str | None = None
) -> None:
    """Writes a USD stage, whole or not at all.

    Hands are at ``/World/hands``, bodies at ``/World/bodies``; time codes count frames from zero.
    The provenance is in the layer's custom data.

    Args:
        clip: The motion.
        path: Ends in ``.usda`` (text), ``.usdc`` or ``.usd`` (binary).
        fps: Frames per second of the file; the clip's own frames if None.
        skeleton: Whose names the hands' joints have: ``openxr``, ``unity`` or ``unreal``; our own
            if None.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UnknownNameError("suffix of USD files", path.suffix, SUFFIXES)
    writer = _Writer(resampled(clip, frame_times(clip, fps)), fps or clip.fps or 24.0, skeleton)
    writer.add_all()
    with written_whole(path) as file, tempfile.TemporaryDirectory() as folder:
        # The library picks the format by the suffix, and writes files only by name.
        stage_file = Path(folder) / f"clip{path.suffix.lower()}"
        if not writer.stage.GetRootLayer().Export(str(stage_file)):
            raise InvalidValueError(f"{path}: the USD library could not write the stage.")
        with stage_file.open("rb") as written:
            shutil.copyfileobj(written, file)


class _Writer:
    """One stage and the modules of the library, which are there only with the extra."""

    def __init__(self, clip: Clip, rate: float, skeleton: str | None) -> None:
        def module(name: str) -> ModuleType:
            return require(f"pxr.{name}", extra="usd", feature="Writing USD files")

        self.usd, self.geom, self.skel = module("Usd"), module("UsdGeom"), module("UsdSkel")
        self.gf, self.vt, self.sdf, self.tf = (module(name) for name in ("Gf", "Vt", "Sdf", "Tf"))
        self.clip, self.others = clip, skeleton
        # Without the last digits, so that evenly spaced frames have whole numbers.
        self.codes = np.round((clip.times - clip.times[0]) * rate, 6).tolist()
        if len(set(self.codes)) < len(self.codes):
            raise InvalidValueError(
                "Some frames are nearer in time than a millionth of the mean frame. Give a frame "
                "rate with fps."
            )
        self.stage = self.usd.Stage.CreateInMemory()
        self.stage.SetTimeCodesPerSecond(rate)
        self.stage.SetFramesPerSecond(rate)
        self.stage.SetStartTimeCode(self.codes[0])
        self.stage.SetEndTimeCode(self.codes[-1])
        self.geom.SetStageUpAxis(self.stage, self.geom.Tokens.z)
        self.geom.SetStageMetersPerUnit(self.stage, 1.0)

    def add_all(self) -> None:
        """Fills the stage."""
        world = self.geom.Xform.Define(self.stage, "/World")
        self.stage.SetDefaultPrim(world.GetPrim())
        stamp = self.clip.provenance
        data = {
            "scene": stamp.scene,
            "method": stamp.method,
            "settings": json.dumps(dict(stamp.settings), sort_keys=True, default=str),
            # A dictionary of USD holds no integers above 64 bits.
            "seed": str(stamp.seed),
            "version": stamp.version,
            "writer": f"handwright {version('handwright')}",
        }
        self.stage.GetRootLayer().customLayerData = {"handwright": data}
        for group, names in (("hands", self.clip.hands), ("bodies", self.clip.bodies)):
            if names:
                self.geom.Scope.Define(self.stage, f"/World/{group}")
        for name, label in self.labels(self.clip.hands).items():
            motion, model = self.clip.hands[name], self.clip.problem.hands[name]
            self.add_hand(f"/World/hands/{label}", name, model, motion)
        for name, label in self.labels(self.clip.bodies).items():
            self.add_body(f"/World/bodies/{label}", name)

    def labels(self, names: Iterable[str]) -> dict[str, str]:
        """Different valid names of prims for different names."""
        labels: dict[str, str] = {}
        for name in names:
            label = plain = self.tf.MakeValidIdentifier(name)
            number = 2
            while label in labels.values():
                label, number = f"{plain}_{number}", number + 1
            labels[name] = label
        return labels

    def add_hand(self, path: str, name: str, model: HandModel, motion: HandMotion) -> None:
        """A skeleton with a joint for each link, its animation, and the surface bound to it."""
        root = self.skel.Root.Define(self.stage, path)
        root.GetPrim().SetDisplayName(name)
        surface = surface_of(model)
        others = link_names(name, model, self.others, is_only=len(self.clip.hands) == 1)
        titles = [
            others.get(link, title) for link, title in enumerate(("root", *model.joints.names))
        ]
        titles += [one.name for one in surface.between]
        labels = self.labels(titles)
        joints = [labels[titles[0]]]
        parents = [*model.joints.parent, *model.joints.parent[_joints_of(surface)]]
        for title, parent in zip(titles[1:], parents, strict=True):
            joints.append(f"{joints[parent]}/{labels[title]}")
        skeleton = self.skel.Skeleton.Define(self.stage, f"{path}/skeleton")
        skeleton.CreateJointsAttr(joints)
        skeleton.CreateJointNamesAttr(titles)
        rotations, positions = skin_link_poses(model, surface.between, surface.bind)
        skeleton.CreateBindTransformsAttr(self.matrices(rotations, positions))
        local_places, local_turns = _local_poses(model, surface, surface.bind[None])
        skeleton.CreateRestTransformsAttr(
            self.matrices(rotation.to_matrix(local_turns[0]), local_places[0])
        )
        self.add_animation(
            f"{path}/animation", joints, motion, _local_poses(model, surface, motion.q)
        )
        self.skel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(
            [self.sdf.Path(f"{path}/animation")]
        )
        mesh = self.add_mesh(f"{path}/skin", surface.vertices, surface.faces, surface.colors)
        binding = self.skel.BindingAPI.Apply(mesh.GetPrim())
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
        binding.CreateGeomBindTransformAttr(self.gf.Matrix4d(1.0))
        self.bind(binding, surface)

    def bind(self, binding: Any, surface: HandSurface) -> None:  # noqa: ANN401
        """Says which links move which vertices, and by which shares."""
        width = surface.links.shape[1]
        binding.CreateJointIndicesPrimvar(False, width).Set(
            self.vt.IntArray.FromNumpy(surface.links.astype(np.int32).reshape(-1))
        )
        binding.CreateJointWeightsPrimvar(False, width).Set(
            self.vt.FloatArray.FromNumpy(surface.weights.astype(np.float32).reshape(-1))
        )

    def add_animation(
        self,
        path: str,
        joints: list[str],
        motion: HandMotion,
        local: tuple[Float[np.ndarray, "T L 3"], Float[np.ndarray, "T L 4"]],
    ) -> None:
        """Poses of all links in their parents, the root in the world, in every frame."""
        animation = self.skel.Animation.Define(self.stage, path)
        animation.CreateJointsAttr(joints)
        positions, rotations = local
        positions[:, 0], rotations[:, 0] = motion.root.position, _continuous(motion.root.wxyz)
        translate = animation.CreateTranslationsAttr()
        rotate = animation.CreateRotationsAttr()
        animation.CreateScalesAttr([self.gf.Vec3h(1.0, 1.0, 1.0)] * len(joints))
        for code, place, turn in zip(self.codes, positions, rotations, strict=True):
            translate.Set(self.vt.Vec3fArray.FromNumpy(place.astype(np.float32)), code)
            rotate.Set([self.gf.Quatf(*wxyz) for wxyz in turn.tolist()], code)

    def add_body(self, path: str, name: str) -> None:
        """A rigid mesh that moves."""
        body, pose = self.clip.problem.bodies[name], self.clip.bodies[name]
        mesh = self.add_mesh(path, body.vertices, body.faces, np.array([body.color]))
        mesh.GetPrim().SetDisplayName(name)
        translate = mesh.AddTranslateOp(self.geom.XformOp.PrecisionDouble)
        orient = mesh.AddOrientOp(self.geom.XformOp.PrecisionDouble)
        rotations = _continuous(pose.wxyz)
        for code, place, wxyz in zip(self.codes, pose.position, rotations, strict=True):
            translate.Set(self.gf.Vec3d(*place.tolist()), code)
            orient.Set(self.gf.Quatd(*wxyz.tolist()), code)

    def add_mesh(
        self, path: str, vertices: np.ndarray, faces: np.ndarray, colors: np.ndarray
    ) -> Any:  # noqa: ANN401
        """A triangle mesh; one colour, or one for each face."""
        mesh = self.geom.Mesh.Define(self.stage, path)
        points = self.vt.Vec3fArray.FromNumpy(vertices.astype(np.float32))
        mesh.CreatePointsAttr(points)
        mesh.CreateExtentAttr(self.geom.PointBased.ComputeExtent(points))
        mesh.CreateFaceVertexCountsAttr([3] * len(faces))
        mesh.CreateFaceVertexIndicesAttr(
            self.vt.IntArray.FromNumpy(faces.astype(np.int32).reshape(-1))
        )
        mesh.CreateSubdivisionSchemeAttr(self.geom.Tokens.none)
        mesh.CreateOrientationAttr(self.geom.Tokens.rightHanded)
        spread = self.geom.Tokens.constant if len(colors) == 1 else self.geom.Tokens.uniform
        mesh.CreateDisplayColorPrimvar(spread).Set(
            self.vt.Vec3fArray.FromNumpy(colors.astype(np.float32))
        )
        return mesh

    def matrices(self, rotations: np.ndarray, positions: np.ndarray) -> list[Any]:
        """4 x 4 matrices as USD has them: points are rows, multiplied from the left."""
        full = np.zeros((len(rotations), 4, 4))
        full[:, :3, :3] = np.swapaxes(rotations, 1, 2)
        full[:, 3, :3] = positions
        full[:, 3, 3] = 1.0
        return [self.gf.Matrix4d(matrix.tolist()) for matrix in full]


def _local_poses(
    model: HandModel, surface: HandSurface, q: Float[np.ndarray, "T J"]
) -> tuple[Float[np.ndarray, "T L 3"], Float[np.ndarray, "T L 4"]]:
    """Positions (m) and turns (wxyz) of all links in their parents; the root's is none."""
    joints = model.joints
    slide = np.where(joints.is_slide, q, 0.0)
    angle = np.where(joints.is_slide, 0.0, q)
    positions = np.zeros((len(q), model.num_links, 3))
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (len(q), model.num_links, 1))
    positions[:, 1:] = joints.offset + slide[..., None] * joints.axis
    rotations[:, 1:] = rotation.from_axis_angle(joints.axis, angle)
    joint = _joints_of(surface)
    share = np.array([one.share for one in surface.between])
    turns = rotation.from_axis_angle(joints.axis[joint], share * q[:, joint])
    return (
        np.concatenate([positions, np.tile(joints.offset[joint], (len(q), 1, 1))], axis=1),
        np.concatenate([rotations, turns], axis=1),
    )


def _joints_of(surface: HandSurface) -> Int[np.ndarray, " N"]:
    """The joints that the links between go along with."""
    return np.array([one.joint for one in surface.between], dtype=np.int64)


def _continuous(wxyz: Float[np.ndarray, "T 4"]) -> Float[np.ndarray, "T 4"]:
    """The same turns with signs that do not flip, for programs that mix components."""
    flips = np.sum(wxyz[1:] * wxyz[:-1], axis=-1) < 0.0
    return wxyz * np.where(np.cumsum([0, *flips]) % 2, -1.0, 1.0)[:, None]
