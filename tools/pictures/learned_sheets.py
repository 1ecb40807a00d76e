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

from handwright.learning.data.motion import load_motion
from handwright.render.camera import Camera
from handwright.render.motion_sheet import pictures
from handwright.render.scene import write_png
from handwright.render.sheet import contact_sheet
from tools.pictures.learned_rows import given_files, learned_rows, title

CAMERA = Camera(azimuth=math.radians(100.0), elevation=math.radians(20.0), margin=0.03)
"""Looks at the front of what a person holds."""
_COLUMNS, _SIZE = 6, (200, 190)


def main(folder: Path, files: Sequence[Path]) -> None:
    """Writes a sheet of three rows for each motion: taught, the network's, certified."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in track(files, "Motions"):
        motion = load_motion(file)
        rows = learned_rows(motion)
        # Before the hand comes and after it leaves there is little to see.
        frames = np.linspace(0, motion.clip.num_frames - 1, _COLUMNS + 2).round().astype(int)[1:-1]
        images = [
            picture
            for clip in rows.values()
            for picture in pictures(clip, frames.tolist(), CAMERA, _SIZE)
        ]
        labels = [f"{name}, {motion.clip.times[frame]:.2f} s" for name in rows for frame in frames]
        write_png(contact_sheet(images, _COLUMNS, labels), folder / f"learned_{title(motion)}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"), given_files(sys.argv[2:]))
