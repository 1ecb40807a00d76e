"""Named problems: wrists and bodies move as given, or goals are, and the rest is wanted.

Z is up. The person is at the table's near edge, towards -y, and looks along +y, so that +x is to
the right.
"""

from __future__ import annotations

from handwright.scenes.goal_scenes import GoalScene, goal_scenes
from handwright.scenes.recordings import from_recording
from handwright.scenes.registry import SCENES, Scene, load_scene
from handwright.scenes.robot_hands import read_problem

__all__ = [
    "SCENES",
    "GoalScene",
    "Scene",
    "from_recording",
    "goal_scenes",
    "load_scene",
    "read_problem",
]
