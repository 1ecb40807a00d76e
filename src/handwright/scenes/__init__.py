"""Named problems: wrists and bodies move as given, and the fingers are wanted.

Thirty frames a second; Z is up. The person is at the table's near edge, towards -y, and looks
along +y, so that +x is to the right.
"""

from __future__ import annotations

from handwright.scenes.recordings import from_recording
from handwright.scenes.registry import SCENES, Scene, load_scene

__all__ = ["SCENES", "Scene", "from_recording", "load_scene"]
