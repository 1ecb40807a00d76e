"""Draws a motion for each check that refuses it.

Run:  python -m tests.evidence.attacks.sheet FILE.png
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "fixtures"), str(HERE.parents[2])]


from attacks.rows import judge  # noqa: E402
from attacks.tables import ATTACKS  # noqa: E402
from handwright.core.clip import Clip  # noqa: E402
from handwright.core.contact import ContactTrack  # noqa: E402
from handwright.render.camera import Camera  # noqa: E402
from handwright.render.motion_sheet import pictures, spread  # noqa: E402
from handwright.render.scene import write_png  # noqa: E402
from handwright.render.sheet import contact_sheet  # noqa: E402

SHOWN = {
    "resolution": ("beamed_to_a_shelf-3_frames", "bodies"),
    "mass": ("center_outside_the_mesh", "bodies"),
    "force_residual": ("hangs_over_a_beating_hand-20_mm", "all"),
    "penetration": ("hand_through_a_plate", "all"),
    "slip": ("pinch_slides_to_and_fro-16_mm", "all"),
    "impact": ("bounces_higher_than_it_fell", "bodies"),
    "crossing": ("hands_through_each_other", "hands"),
    "finger_finger": ("finger_through_its_palm-all", "hands"),
    "strength": ("heavy_plate_on_the_palm-1000_kg", "all"),
    "jump": ("beamed_into_another_fist-8_frames", "all"),
    "speed": ("hand_at_random_places", "hands"),
    "seam": ("cycle_that_ends_elsewhere", "all"),
}
"""A check, an attack that fails it, and what of it is drawn; the rest only stands by."""
_CAMERA = Camera(azimuth=math.radians(125.0), elevation=math.radians(18.0), margin=0.03)
_PICTURES, _MOTIONS_A_ROW, _SIZE = 3, 2, (230, 210)


def main(file: Path) -> None:
    """Writes the sheet: for each check three moments of a motion that it refuses."""
    rows = {row.name: row for _, row in ATTACKS}
    images, labels = [], []
    for check, (name, drawn) in SHOWN.items():
        if check not in judge(rows[name]).reasons:
            raise SystemExit(f"{name} is not refused by '{check}' any more; choose another.")
        clip = _drawn(rows[name].make(), drawn)
        frames = spread(0, clip.num_frames - 1, _PICTURES)
        images += pictures(clip, frames, _CAMERA, _SIZE, is_still=True)
        labels += [f"{check}: frame {frames[0]}", *(f"frame {frame}" for frame in frames[1:])]
    write_png(contact_sheet(images, _PICTURES * _MOTIONS_A_ROW, labels), file)


def _drawn(clip: Clip, what: str) -> Clip:
    """Hands or bodies of a clip alone, so that they fill the picture."""
    if what == "all":
        return clip
    left_out = {"bodies": {}} if what == "hands" else {"hands": {}}
    around = () if what == "hands" else clip.problem.environment
    problem = replace(clip.problem, environment=around, **left_out)
    return replace(clip, problem=problem, contacts=ContactTrack.empty(), **left_out)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
