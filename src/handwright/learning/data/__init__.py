"""Motions to learn from: made, certified, kept in files."""

from __future__ import annotations

from handwright.learning.data.motion import TaughtMotion, load_motion, load_motions

__all__ = ["TaughtMotion", "load_motion", "load_motions"]
