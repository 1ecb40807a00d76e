"""Synthesises dexterous hand-object manipulation.

Importing this package loads nothing else: each public name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handwright.conditioning import Conditioning, corrected
    from handwright.core.body import RigidBody
    from handwright.core.certificate import Certificate
    from handwright.core.clip import Clip, HandMotion
    from handwright.core.contact import Contact, ContactTrack
    from handwright.core.events import Grip, Push, Stroke, Toss, TouchSpan
    from handwright.core.goal import Feature, Goal
    from handwright.core.hand import HandModel
    from handwright.core.problem import Problem
    from handwright.core.result import Progress, Result, Status
    from handwright.core.track import Track
    from handwright.errors import HandwrightError
    from handwright.evidence import Report, Tolerances, certify, evaluate
    from handwright.geometry.distance.environment import floor, table
    from handwright.geometry.distance.sdf_build import signed_distance_field
    from handwright.geometry.mesh.bodies import body_from_mesh, load_body
    from handwright.geometry.shapes import SHAPES, make_shape
    from handwright.grasping import GRIP_STYLES, GraspOptions, NoGrasp, find_grasp
    from handwright.hands.human.model import human
    from handwright.hands.registry import HANDS, make_hand
    from handwright.hands.skin.build import skin_of
    from handwright.hands.trident import trident
    from handwright.io.clip.file import load_clip
    from handwright.math.pose import Pose
    from handwright.methods import (
        METHODS,
        CatchThrow,
        ContactInvariant,
        ContactSampling,
        NeuralFingers,
        Scripted,
        Session,
        Stepwise,
    )
    from handwright.methods.sampling import GraspRegion, NoContact, Pin, Preference
    from handwright.physics import from_mjcf, to_mjcf
    from handwright.render import render_still
    from handwright.render.film import export
    from handwright.scenes import SCENES, from_recording, load_scene, read_problem
    from handwright.synthesis import synthesize

    __version__: str

__all__ = [
    "GRIP_STYLES",
    "HANDS",
    "METHODS",
    "SCENES",
    "SHAPES",
    "CatchThrow",
    "Certificate",
    "Clip",
    "Conditioning",
    "Contact",
    "ContactInvariant",
    "ContactSampling",
    "ContactTrack",
    "Feature",
    "Goal",
    "GraspOptions",
    "GraspRegion",
    "Grip",
    "HandModel",
    "HandMotion",
    "HandwrightError",
    "NeuralFingers",
    "NoContact",
    "NoGrasp",
    "Pin",
    "Pose",
    "Preference",
    "Problem",
    "Progress",
    "Push",
    "Report",
    "Result",
    "RigidBody",
    "Scripted",
    "Session",
    "Status",
    "Stepwise",
    "Stroke",
    "Tolerances",
    "Toss",
    "TouchSpan",
    "Track",
    "__version__",
    "body_from_mesh",
    "certify",
    "corrected",
    "evaluate",
    "export",
    "find_grasp",
    "floor",
    "from_mjcf",
    "from_recording",
    "human",
    "load_body",
    "load_clip",
    "load_scene",
    "make_hand",
    "make_shape",
    "read_problem",
    "render_still",
    "signed_distance_field",
    "skin_of",
    "synthesize",
    "table",
    "to_mjcf",
    "trident",
]

_HOMES = {
    "GRIP_STYLES": "handwright.grasping",
    "HANDS": "handwright.hands.registry",
    "METHODS": "handwright.methods",
    "SCENES": "handwright.scenes",
    "SHAPES": "handwright.geometry.shapes",
    "Certificate": "handwright.core.certificate",
    "Clip": "handwright.core.clip",
    "Conditioning": "handwright.conditioning",
    "Contact": "handwright.core.contact",
    "CatchThrow": "handwright.methods",
    "ContactInvariant": "handwright.methods",
    "ContactSampling": "handwright.methods",
    "ContactTrack": "handwright.core.contact",
    "Feature": "handwright.core.goal",
    "Goal": "handwright.core.goal",
    "GraspOptions": "handwright.grasping",
    "GraspRegion": "handwright.methods.sampling",
    "Grip": "handwright.core.events",
    "HandModel": "handwright.core.hand",
    "HandMotion": "handwright.core.clip",
    "HandwrightError": "handwright.errors",
    "NeuralFingers": "handwright.methods",
    "NoContact": "handwright.methods.sampling",
    "NoGrasp": "handwright.grasping",
    "Pin": "handwright.methods.sampling",
    "Pose": "handwright.math.pose",
    "Preference": "handwright.methods.sampling",
    "Problem": "handwright.core.problem",
    "Progress": "handwright.core.result",
    "Push": "handwright.core.events",
    "Report": "handwright.evidence",
    "Result": "handwright.core.result",
    "RigidBody": "handwright.core.body",
    "Scripted": "handwright.methods",
    "Session": "handwright.methods",
    "Status": "handwright.core.result",
    "Stepwise": "handwright.methods",
    "Stroke": "handwright.core.events",
    "Toss": "handwright.core.events",
    "Tolerances": "handwright.core.tolerances",
    "TouchSpan": "handwright.core.events",
    "Track": "handwright.core.track",
    "body_from_mesh": "handwright.geometry.mesh.bodies",
    "certify": "handwright.evidence",
    "corrected": "handwright.conditioning",
    "evaluate": "handwright.evidence",
    "export": "handwright.render.film",
    "find_grasp": "handwright.grasping",
    "floor": "handwright.geometry.distance.environment",
    "from_mjcf": "handwright.physics",
    "from_recording": "handwright.scenes",
    "human": "handwright.hands.human.model",
    "load_body": "handwright.geometry.mesh.bodies",
    "load_clip": "handwright.io.clip.file",
    "load_scene": "handwright.scenes",
    "make_hand": "handwright.hands.registry",
    "make_shape": "handwright.geometry.shapes",
    "read_problem": "handwright.scenes",
    "render_still": "handwright.render",
    "signed_distance_field": "handwright.geometry.distance.sdf_build",
    "skin_of": "handwright.hands.skin.build",
    "synthesize": "handwright.synthesis",
    "table": "handwright.geometry.distance.environment",
    "to_mjcf": "handwright.physics",
    "trident": "handwright.hands.trident",
}
_MOVED = {
    name: f"handwright.render.{name}"
    for name in ("body_item", "hand_items", "turntable", "write_png")
}
"""Deprecated names, and where to find what they name."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("handwright")
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        from handwright.deprecated import renamed_attributes

        return renamed_attributes(__name__, _MOVED)(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
