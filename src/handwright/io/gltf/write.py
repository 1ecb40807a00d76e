"""Clips as .glb files (binary glTF 2.0), for editors, engines and pages.

The file holds an animation of skinned hands and of bodies, the surroundings, and two groups of
nodes for contacts and forces (see ``gltf_contacts``). Axes are glTF's: Y up. Times start at zero.
Joint values, the contact table and the provenance are in ``asset.extras``; ``load_glb`` reads
them back.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np

from handwright.core.clip import Clip
from handwright.core.surface import HalfSpace
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import plane_patch
from handwright.io.clip.resample import frame_times, resampled
from handwright.io.gltf.buffers import GltfBuilder
from handwright.io.gltf.contacts import add_contact_points, add_force_arrows, contact_table
from handwright.io.gltf.figure import add_figures
from handwright.io.gltf.hand import add_hand
from handwright.io.gltf.meshes import add_surface, box, square
from handwright.io.skeleton_names import link_names

EXTRAS = "handwright"
VERSION = 1
"""Of what the extras hold."""

_GROUND_HALF = 0.6
_GROUND_COLOR = (0.80, 0.80, 0.78)


def save_glb(
    clip: Clip,
    path: str | Path,
    *,
    fps: float | None = None,
    environment: bool = True,
    figure: bool = True,
    contacts: bool = True,
    forces: bool = True,
    metres_per_newton: float = 0.02,
    skeleton: str | None = None,
) -> None:
    """Writes a .glb file, whole or not at all.

    Args:
        clip: The motion.
        path: Usually ends in ``.glb``.
        fps: Frames per second of the file; the clip's own frames if None.
        environment: Whether to draw boxes, and a square of each plane.
        figure: Whether to draw an upper body behind hands with arms.
        contacts: Whether to add the group of contact points.
        forces: Whether to add the group of force arrows.
        metres_per_newton: Length of the arrows, m/N.
        skeleton: Whose names the hands' joints have: ``openxr``, ``unity`` or ``unreal``; our own
            if None. Names in the extras stay ours.
    """
    if not (np.isfinite(metres_per_newton) and metres_per_newton > 0.0):
        raise InvalidValueError(
            f"metres_per_newton is {metres_per_newton}; expected above zero, such as 0.02."
        )
    clip = resampled(clip, frame_times(clip, fps))
    seconds = (clip.times - clip.times[0]).astype(np.float32)
    if np.any(np.diff(seconds) <= 0.0):
        raise InvalidValueError(
            f"{path}: some frames are nearer in time than the single precision of glTF can tell. "
            "Give a frame rate with fps."
        )
    builder = GltfBuilder()
    times = builder.add_array(seconds, bounds=True)
    hands = [
        add_hand(
            builder, name, clip.problem.hands[name], motion, times,
            link_names(name, clip.problem.hands[name], skeleton, is_only=len(clip.hands) == 1),
        )
        for name, motion in clip.hands.items()
    ]  # fmt: skip
    bodies = [_add_body(builder, clip, name, times) for name in clip.bodies]
    if environment and clip.problem.environment:
        _add_environment(builder, clip)
    if figure:
        add_figures(builder, clip, times)
    if contacts:
        add_contact_points(builder, clip.contacts, clip.num_frames, times)
    if forces:
        add_force_arrows(builder, clip.contacts, clip.num_frames, times, metres_per_newton)
    stamp = clip.provenance
    extras = {
        "version": VERSION,
        "provenance": {
            "scene": stamp.scene,
            "method": stamp.method,
            "settings": dict(stamp.settings),
            "seed": int(stamp.seed),
            "version": stamp.version,
        },
        "times": clip.times.tolist(),
        "hands": hands,
        "bodies": bodies,
        "contacts": contact_table(clip.contacts),
    }
    document = builder.document(
        clip.problem.name or "clip", f"handwright {version('handwright')}", {EXTRAS: extras}
    )
    try:
        builder.write(path, document)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(
            f"{path}: the provenance's settings hold something that JSON cannot ({error}). "
            "Use text, numbers, lists and dictionaries."
        ) from error


def _add_body(builder: GltfBuilder, clip: Clip, name: str, times: int) -> dict[str, object]:
    body, pose = clip.problem.bodies[name], clip.bodies[name]
    material = builder.add_material(body.name, body.color, 0.6)
    mesh = builder.add_mesh(
        body.name, [add_surface(builder, (body.vertices, body.faces), material)]
    )
    node = builder.add_node(name, mesh=mesh)
    builder.move(node, times, pose.position, pose.wxyz)
    return {"name": name, "node": node}


def _add_environment(builder: GltfBuilder, clip: Clip) -> None:
    """Boxes, and a square of each plane below the middle of the motion."""
    group = builder.add_node("environment")
    material = builder.add_material("environment", _GROUND_COLOR, 0.9)
    for number, surface in enumerate(clip.problem.environment):
        if isinstance(surface, HalfSpace):
            title, mesh = f"plane {number}", square(_GROUND_HALF)
            pose = plane_patch(surface, clip.middle)
        else:
            title, mesh, pose = f"box {number}", box(surface.half_extents), surface.pose
        primitive = add_surface(builder, mesh, material)
        node = builder.add_node(title, parent=group, mesh=builder.add_mesh(title, [primitive]))
        builder.place(node, pose.position, pose.wxyz)
