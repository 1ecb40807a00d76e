"""Problems from files that people write, hands of robots among them."""

from __future__ import annotations

from pathlib import Path

from handwright.core.problem import Problem
from handwright.io.goals import file as goal_file
from handwright.scenes.robot_hands import robot_hand


def read_problem(path: str | Path) -> Problem:
    """Reads a problem from a problem file (.yaml): one with goals, or with tracks, or with both.

    Args:
        path: The file; docs/how-to/write-goals.md tells what is in it.

    Raises:
        FileFormatError: Something in the file cannot be used; the text lists all of it by line.
    """
    return goal_file.read_problem(path, robot_hand)
