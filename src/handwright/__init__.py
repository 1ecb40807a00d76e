"""Synthesises dexterous hand-object manipulation.

Importing this package loads nothing else: each public name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handwright.core.body import RigidBody
    from handwright.core.clip import Clip
    from handwright.core.events import Grip, Push, Stroke, TouchSpan
    from handwright.core.goal import Feature, Goal
    from handwright.core.hand import HandModel
    from handwright.core.problem import Problem
    from handwright.core.result import Progress, Result, Status
    from handwright.core.track import Track
    from handwright.errors import HandwrightError
    from handwright.evidence import Tolerances, certify, evaluate
    from handwright.geometry.distance.sdf_build import signed_distance_field
    from handwright.geometry.mesh.bodies import body_from_mesh, load_body
    from handwright.geometry.shapes import SHAPES, make_shape
    from handwright.hands.human.model import human
    from handwright.hands.registry import HANDS, make_hand
    from handwright.hands.skin.build import skin_of
    from handwright.hands.trident import trident
    from handwright.io.clip.file import load_clip
    from handwright.math.pose import Pose
    from handwright.methods import (
        METHODS,
        ContactInvariant,
        ContactSampling,
        Scripted,
        Session,
        Stepwise,
    )
    from handwright.physics import from_mjcf, to_mjcf
    from handwright.render import body_item, hand_items, render_still, turntable, write_png
    from handwright.render.exporting import export
    from handwright.scenes import SCENES, from_recording, load_scene, read_problem
    from handwright.synthesis import synthesize

    __version__: str

__all__ = [
    "HANDS",
    "METHODS",
    "SCENES",
    "SHAPES",
    "Clip",
    "ContactInvariant",
    "ContactSampling",
    "Feature",
    "Goal",
    "Grip",
    "HandModel",
    "HandwrightError",
    "Pose",
    "Problem",
    "Progress",
    "Push",
    "Result",
    "RigidBody",
    "Scripted",
    "Session",
    "Status",
    "Stepwise",
    "Stroke",
    "Tolerances",
    "TouchSpan",
    "Track",
    "__version__",
    "body_from_mesh",
    "body_item",
    "certify",
    "evaluate",
    "export",
    "from_mjcf",
    "from_recording",
    "hand_items",
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
    "to_mjcf",
    "trident",
    "turntable",
    "write_png",
]

_HOMES = {
    "HANDS": "handwright.hands.registry",
    "METHODS": "handwright.methods",
    "SCENES": "handwright.scenes",
    "SHAPES": "handwright.geometry.shapes",
    "Clip": "handwright.core.clip",
    "ContactInvariant": "handwright.methods",
    "ContactSampling": "handwright.methods",
    "Feature": "handwright.core.goal",
    "Goal": "handwright.core.goal",
    "Grip": "handwright.core.events",
    "HandModel": "handwright.core.hand",
    "HandwrightError": "handwright.errors",
    "Pose": "handwright.math.pose",
    "Problem": "handwright.core.problem",
    "Progress": "handwright.core.result",
    "Push": "handwright.core.events",
    "Result": "handwright.core.result",
    "RigidBody": "handwright.core.body",
    "Scripted": "handwright.methods",
    "Session": "handwright.methods",
    "Status": "handwright.core.result",
    "Stepwise": "handwright.methods",
    "Tolerances": "handwright.core.tolerances",
    "Stroke": "handwright.core.events",
    "TouchSpan": "handwright.core.events",
    "Track": "handwright.core.track",
    "body_from_mesh": "handwright.geometry.mesh.bodies",
    "body_item": "handwright.render",
    "certify": "handwright.evidence",
    "evaluate": "handwright.evidence",
    "export": "handwright.render.exporting",
    "from_mjcf": "handwright.physics",
    "from_recording": "handwright.scenes",
    "hand_items": "handwright.render",
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
    "to_mjcf": "handwright.physics",
    "trident": "handwright.hands.trident",
    "turntable": "handwright.render",
    "write_png": "handwright.render",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("handwright")
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'handwright' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
