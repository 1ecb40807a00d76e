"""Colours of hands in pictures and files."""

from __future__ import annotations

Color = tuple[float, float, float]
"""Red, green, blue, each from 0 to 1."""

SKIN_COLOR: Color = (0.90, 0.72, 0.63)
NAIL_COLOR: Color = (0.95, 0.79, 0.75)
ROBOT_COLOR: Color = (0.55, 0.59, 0.64)
FIGURE_COLOR: Color = (0.66, 0.68, 0.71)
