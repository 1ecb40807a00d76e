"""A taught motion three times: its own fingers, a network's, and certified ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from handwright.core.clip import Clip
from handwright.learning.data.motion import TaughtMotion, motion_files
from handwright.methods.neural.method import NeuralFingers
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import SHIPPED, load_network
from handwright.synthesis import synthesize

TAUGHT = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "taught"
_PATIENCE = 120.0
"""Time for certified fingers, s."""


def given_files(words: Sequence[str]) -> list[Path]:
    """Motions of the command line; those that the tests have if there are none."""
    return [Path(word) for word in words] or motion_files(TAUGHT)


def title(motion: TaughtMotion) -> str:
    """For the name of a file, as in ``teapot_mug_pour``."""
    return "_".join([motion.shape.replace("+", "_"), *motion.acts])


def learned_rows(motion: TaughtMotion) -> dict[str, Clip]:
    """Motions by what is written below them; says so if no certified one was found."""
    rows = {
        "taught": motion.clip,
        "network": learned_motion(motion.clip.problem, load_network(SHIPPED)),
    }
    result = synthesize(motion.clip.problem, NeuralFingers(time_budget=_PATIENCE), seed=0)
    if result.status.is_success:
        rows["certified"] = result.best
    else:
        sys.stdout.write(f"{motion.name}: {result.status.name}. {result.message}\n")
    return rows
