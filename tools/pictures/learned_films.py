"""Films of learned fingers beside taught and certified ones.

``python -m tools.pictures.learned_films OUT [--gif] [MOTION.npz ...]``, with motions that
``handwright data make`` has made; those that the tests have by default. With ``--gif`` films are
small ones for a page, else .mp4.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.progress import track

from handwright.learning.data.motion import load_motion
from handwright.render.clip_scene import Overlay
from handwright.render.film import FilmSettings
from handwright.render.side_by_side import render_side_by_side
from tools.pictures.learned_rows import given_files, learned_rows, title
from tools.pictures.learned_sheets import CAMERA

_PLAIN = Overlay(contacts=False, forces=False)
_LARGE = FilmSettings(width=480, height=440, fps=60.0, camera=CAMERA, overlay=_PLAIN)
_SMALL = FilmSettings(width=220, height=200, fps=12.5, camera=CAMERA, overlay=_PLAIN)


def main(folder: Path, files: Sequence[Path], *, is_gif: bool = False) -> None:
    """Writes a film for each motion: taught, the network's and certified fingers side by side."""
    settings, suffix = (_SMALL, ".gif") if is_gif else (_LARGE, ".mp4")
    for file in track(files, "Films"):
        motion = load_motion(file)
        render_side_by_side(
            learned_rows(motion), folder / f"learned_{title(motion)}{suffix}", settings
        )


if __name__ == "__main__":
    words = [word for word in sys.argv[2:] if word != "--gif"]
    main(Path(sys.argv[1]), given_files(words), is_gif="--gif" in sys.argv)
