"""Learned fingers beside taught and certified ones.

``python -m tools.pictures.learned_sheets docs/images [MOTION.npz ...]``, with motions that
``handwright data make`` has made; those that the tests have by default.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.progress import track

from handwright.core.clip import Clip
from handwright.learning.data.motion import TaughtMotion, load_motion, motion_files
from handwright.methods.neural.method import NeuralFingers
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import SHIPPED, load_network
from handwright.render.camera import Camera
from handwright.render.motion_sheet import pictures
from handwright.render.scene import write_png
from handwright.render.sheet import contact_sheet
from handwright.synthesis import synthesize

TAUGHT = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "taught"
_COLUMNS, _SIZE = 7, (260, 240)
_CAMERA = Camera(azimuth=math.radians(100.0), elevation=math.radians(20.0), margin=0.03)
_PATIENCE = 120.0
"""Time for certified fingers, s."""


def main(folder: Path, files: Sequence[Path]) -> None:
    """Writes a sheet of three rows for each motion: taught, the network's, certified."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in track(files, "Motions"):
        motion = load_motion(file)
        rows = _rows(motion)
        frames = np.linspace(0, motion.clip.num_frames - 1, _COLUMNS).round().astype(int).tolist()
        images = [
            picture for clip in rows.values() for picture in pictures(clip, frames, _CAMERA, _SIZE)
        ]
        labels = [f"{name}, {motion.clip.times[frame]:.2f} s" for name in rows for frame in frames]
        write_png(contact_sheet(images, _COLUMNS, labels), folder / f"learned_{_title(motion)}.png")


def _title(motion: TaughtMotion) -> str:
    return "_".join([motion.shape.replace("+", "_"), *motion.acts])


def _rows(motion: TaughtMotion) -> dict[str, Clip]:
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


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[2:]]
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"), given or motion_files(TAUGHT))
