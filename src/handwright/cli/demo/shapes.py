"""A hand put on ten shapes, as a picture and as numbers: ``handwright demo --shapes``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from handwright.cli.console import make_console
from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.io.atomic import written_whole
from handwright.kinematics import posed_capsules
from handwright.kinematics.ik.closing import ClosedHand, capsule_gap, close_around
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.render import Camera, body_item, contact_sheet, hand_items, render_still, write_png

_PALM_GAP = 0.002


@dataclass(frozen=True, slots=True)
class Placement:
    """How the hand comes to a shape."""

    shape: str
    turn: tuple[float, float, float]
    """Rotation vector of the hand in the world, degrees."""
    grip: tuple[float, float]
    """Place of the object's grip point in the hand, along and across the palm, m."""
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Grip point on the object, m from its centre."""
    yaw: float = 0.0
    """Turn of hand and camera about the vertical, degrees."""
    azimuth: float = -50.0
    """Where the camera stands before that turn, degrees."""


# Thumb up, palm towards +y: the way one takes a glass. Palm down: the way one takes a ball.
_SIDE = (90.0, 0.0, 0.0)
_TOP = (0.0, 25.0, 0.0)

PLACEMENTS = (
    Placement("cylinder", _SIDE, (0.098, 0.0), (0.0, 0.0, -0.01)),
    Placement("bottle", _SIDE, (0.102, 0.0)),
    Placement("can", _SIDE, (0.102, 0.0), (0.0, 0.0, -0.01)),
    Placement("mug", _SIDE, (0.106, 0.0), yaw=180.0),
    Placement("milk_carton", _SIDE, (0.098, 0.0), (0.0, 0.0, -0.03)),
    Placement("sphere", _TOP, (0.100, 0.008)),
    Placement("ellipsoid", _TOP, (0.100, 0.008)),
    Placement("soap", _TOP, (0.095, 0.005)),
    Placement("hammer", (0.0, 0.0, 0.0), (0.090, 0.0), (-0.08, 0.0, 0.0), 90.0, -125.0),
    Placement("capsule", _SIDE, (0.098, 0.0), (0.0, 0.0, -0.01)),
)

# The thumb stands across from the fingers before it closes: its six joints, degrees.
_THUMB_BEFORE = (-12.0, 24.0, 25.0, -5.0, 0.0, -5.0)
_THUMB_AFTER = (33.0, 24.0, 25.0, 45.0, 0.0, 60.0)


def with_thumb(model: HandModel, pose: str, degrees: tuple[float, ...]) -> np.ndarray:
    """A named pose with another thumb."""
    q = model.pose(pose).copy()
    q[list(model.digit("thumb").joints)] = np.radians(degrees)
    return model.joints.clamp(q)


def place_hand(
    model: HandModel, field: Field, body: RigidBody, placement: Placement, q: np.ndarray
) -> Pose:
    """Pose of the wrist that brings the open palm up to the body without touching it."""
    yaw = rotation.exp(np.radians([0.0, 0.0, placement.yaw]))
    wxyz = rotation.multiply(yaw, rotation.exp(np.radians(placement.turn)))
    grip = body.center + np.array(placement.at)
    out = rotation.rotate(wxyz, np.array([0.0, 0.0, 1.0]))
    along = rotation.rotate(wxyz, np.array([*placement.grip, 0.0]))
    palm = [c for c in range(len(model.capsules)) if model.capsules.digit[c] < 0]

    def gap(distance: float) -> float:
        root = Pose(grip - along + distance * out, wxyz)
        capsules = posed_capsules(model, q, root)
        return min(capsule_gap(field, capsules, c) for c in palm)

    far, near = 0.25, 0.0
    for _ in range(24):
        middle = 0.5 * (far + near)
        far, near = (middle, near) if gap(middle) > _PALM_GAP else (far, middle)
    return Pose(grip - along + far * out, wxyz)


def run(out: Path) -> None:
    """Poses the hand on ten shapes and writes a contact sheet and the joint values.

    Args:
        out: Folder for the results; made if it is not there.
    """
    out.mkdir(parents=True, exist_ok=True)
    console = make_console()
    model = human()
    start = with_thumb(model, "open", _THUMB_BEFORE)
    end = with_thumb(model, "closed", _THUMB_AFTER)
    images, labels = [], []
    roots: list[Pose] = []
    grasps: list[ClosedHand] = []
    table = Table("shape", "pads touching", "worst pad gap mm", "deepest capsule mm", box=None)
    for placement in track(PLACEMENTS, "Closing the hand", console=console):
        body = make_shape(placement.shape)
        field = signed_distance_field(body)
        root = place_hand(model, field, body, placement, start)
        grasp = close_around(model, field, root=root, start=start, end=end)
        items = [*hand_items(model, grasp.q, root), body_item(body)]
        for side, turn in (("back of the hand", 0.0), ("thumb side", 180.0)):
            azimuth = np.radians(placement.azimuth + placement.yaw + turn)
            camera = Camera(azimuth=azimuth, elevation=np.radians(20.0))
            images.append(render_still(items, camera, width=360, height=360))
            labels.append(f"{placement.shape}, {side}")
        roots.append(root)
        grasps.append(grasp)
        gaps = np.abs(grasp.pad_gap[grasp.touching])
        table.add_row(
            placement.shape,
            f"{grasp.touching.sum()} of {len(model.digits)}",
            f"{1e3 * gaps.max():.2f}" if len(gaps) else "-",
            f"{1e3 * grasp.depth:.2f}",
        )
    sheet = write_png(contact_sheet(images, 4, labels), out / "ten_shapes.png")
    poses = _write_poses(out / "ten_shapes.npz", model, roots, grasps)
    console.print(table)
    console.print(f"Picture: {sheet}\nJoint values and wrist poses: {poses}", highlight=False)


def _write_poses(path: Path, model: HandModel, roots: list[Pose], grasps: list[ClosedHand]) -> Path:
    """Writes the grasps so that a reader never sees half a file."""
    with written_whole(path) as file:
        np.savez(
            file,
            shapes=np.array([placement.shape for placement in PLACEMENTS]),
            joint_names=np.array(model.joints.names),
            q_rad=np.array([grasp.q for grasp in grasps]),
            wrist_position_m=np.array([root.position for root in roots]),
            wrist_wxyz=np.array([root.wxyz for root in roots]),
            touching=np.array([grasp.touching for grasp in grasps]),
            pad_gap_m=np.array([grasp.pad_gap for grasp in grasps]),
        )
    return path
