"""Synthesises dexterous hand-object manipulation.

Importing this package loads nothing else: each public name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handwright.core.body import RigidBody
    from handwright.core.hand import HandModel
    from handwright.errors import HandwrightError
    from handwright.geometry.mesh import body_from_mesh, load_body
    from handwright.geometry.sdf_build import signed_distance_field
    from handwright.geometry.shapes import SHAPES, make_shape
    from handwright.hands.human import human
    from handwright.hands.registry import HANDS, make_hand
    from handwright.hands.skin import skin_of
    from handwright.hands.trident import trident
    from handwright.math.pose import Pose
    from handwright.physics import from_mjcf, to_mjcf
    from handwright.render import body_item, hand_items, render_still, turntable, write_png

    __version__: str

__all__ = [
    "HANDS",
    "SHAPES",
    "HandModel",
    "HandwrightError",
    "Pose",
    "RigidBody",
    "__version__",
    "body_from_mesh",
    "body_item",
    "from_mjcf",
    "hand_items",
    "human",
    "load_body",
    "make_hand",
    "make_shape",
    "render_still",
    "signed_distance_field",
    "skin_of",
    "to_mjcf",
    "trident",
    "turntable",
    "write_png",
]

_HOMES = {
    "HANDS": "handwright.hands.registry",
    "SHAPES": "handwright.geometry.shapes",
    "HandModel": "handwright.core.hand",
    "HandwrightError": "handwright.errors",
    "Pose": "handwright.math.pose",
    "RigidBody": "handwright.core.body",
    "body_from_mesh": "handwright.geometry.mesh",
    "body_item": "handwright.render",
    "from_mjcf": "handwright.physics",
    "hand_items": "handwright.render",
    "human": "handwright.hands.human",
    "load_body": "handwright.geometry.mesh",
    "make_hand": "handwright.hands.registry",
    "make_shape": "handwright.geometry.shapes",
    "render_still": "handwright.render",
    "signed_distance_field": "handwright.geometry.sdf_build",
    "skin_of": "handwright.hands.skin",
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
