"""The problem file of a scene as text: what ``handwright.read_problem`` takes."""

from __future__ import annotations

from typing import Any

import yaml

from handwright.core.surface import HalfSpace, Surface
from tools.scenes.curves import FPS
from tools.scenes.registry import Scene


def problem_text(scene: Scene) -> str:
    """YAML of a scene; every number is written with all its digits."""
    file: dict[str, Any] = {
        "name": scene.name,
        "summary": scene.summary,
        "fps": round(FPS),
        "hands": {side: _hand(scene, side) for side in scene.hands},
        "bodies": {
            name: part.model_dump(mode="json", exclude_unset=True)
            for name, part in scene.bodies().items()
        },
        "environment": [_surface(surface) for surface in scene.environment()],
        "tracks": f"{scene.name}.npz",
    }
    return yaml.safe_dump(file, sort_keys=False, default_flow_style=None, width=100)


def _hand(scene: Scene, side: str) -> dict[str, Any]:
    hand: dict[str, Any] = {"model": "human", "side": side}
    if scene.make_person is not None:
        hand["bvh"] = {"file": f"{scene.name}.bvh", "joint": f"{side.capitalize()}Hand"}
        if side == "left":
            # A left wrist's x axis points to its fingers, which at the body's zero pose is left.
            hand["bvh"]["wxyz"] = [0, 0, 0, 1]
    return hand


def _surface(surface: Surface) -> dict[str, Any]:
    if isinstance(surface, HalfSpace):
        normal = surface.normal.tolist()
        return {"plane": {"normal": normal, "offset": surface.offset, "friction": surface.friction}}
    return {
        "box": {
            "position": surface.pose.position.tolist(),
            "wxyz": surface.pose.wxyz.tolist(),
            "half_extents": surface.half_extents.tolist(),
            "friction": surface.friction,
        }
    }
