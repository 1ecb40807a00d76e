"""Pictures without a window: stills, turntables and contact sheets."""

from __future__ import annotations

from handwright.render.backend import NoDisplayError
from handwright.render.camera import Camera
from handwright.render.items import Drawn, body_item, hand_items
from handwright.render.scene import render_still, write_png
from handwright.render.sheet import contact_sheet, turntable

__all__ = [
    "Camera",
    "Drawn",
    "NoDisplayError",
    "body_item",
    "contact_sheet",
    "hand_items",
    "render_still",
    "turntable",
    "write_png",
]
