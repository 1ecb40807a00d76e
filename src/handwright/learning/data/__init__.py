"""Motions to learn from: made by our own methods, certified, with labels and fixed splits."""

from __future__ import annotations

from handwright.learning.data.composition import Composition, composition_of
from handwright.learning.data.motion import (
    ACTIVITIES,
    TaughtMotion,
    load_motion,
    load_motions,
    save_motion,
)
from handwright.learning.data.run import DataRun, run_all
from handwright.learning.data.script import SPLITS, Split, split_of

__all__ = [
    "ACTIVITIES",
    "SPLITS",
    "Composition",
    "DataRun",
    "Split",
    "TaughtMotion",
    "composition_of",
    "load_motion",
    "load_motions",
    "run_all",
    "save_motion",
    "split_of",
]
