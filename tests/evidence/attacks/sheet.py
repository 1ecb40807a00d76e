"""Draws a motion for each check that refuses it.

Run:  python -m tests.evidence.attacks.sheet FILE.png
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "fixtures"), str(HERE.parents[2])]


from attacks.rows import judge  # noqa: E402
from attacks.tables import ATTACKS  # noqa: E402
from handwright.core.clip import Clip  # noqa: E402
from handwright.core.contact import ContactTrack  # noqa: E402
from handwright.geometry.shapes import make_shape  # noqa: E402
from handwright.math.pose import Pose  # noqa: E402
from handwright.render.camera import Camera  # noqa: E402
from handwright.render.motion_sheet import pictures, spread  # noqa: E402
from handwright.render.scene import write_png  # noqa: E402
from handwright.render.sheet import contact_sheet  # noqa: E402


class Shown(NamedTuple):
    """An attack that fails a check, and how it is drawn."""

    attack: str
    drawn: str = "all"
    """What of it is drawn; the rest only stands by."""
    frames: tuple[int, ...] = ()
    """Which moments; spread over the motion if none are given."""
    words: tuple[str, ...] = ()
    """Below the moments, in place of the numbers of the frames."""


SHOWN = {
    "resolution": Shown("beamed_to_a_shelf-3_frames", "bodies"),
    "mass": Shown(
        "center_outside_the_mesh", "center",
        words=("the box as it is drawn", "its mass is said", "to be in the ball"),
    ),
    "force_residual": Shown("hangs_over_a_beating_hand-20_mm"),
    "penetration": Shown("hand_through_a_plate"),
    "slip": Shown(
        "pinch_slides_to_and_fro-16_mm", frames=(14, 15, 16),
        words=("high on the block", "low, 33 ms later", "high again"),
    ),
    "impact": Shown("bounces_higher_than_it_fell", "bodies"),
    "crossing": Shown("hands_through_each_other", "hands"),
    "finger_finger": Shown("finger_through_its_palm-all", "hands"),
    "strength": Shown("heavy_plate_on_the_palm-1000_kg"),
    "jump": Shown("beamed_into_another_fist-8_frames"),
    "speed": Shown("hand_at_random_places", "hands"),
    "seam": Shown(
        "cycle_that_ends_elsewhere-20_cm",
        words=("the first frame", "in the middle", "the last: then the first"),
    ),
}  # fmt: skip
"""By check."""
_CAMERA = Camera(azimuth=math.radians(125.0), elevation=math.radians(18.0), margin=0.03)
_PICTURES, _MOTIONS_A_ROW, _SIZE = 3, 2, (230, 210)


def main(file: Path) -> None:
    """Writes the sheet: for each check three moments of a motion that it refuses."""
    rows = {row.name: row for _, row in ATTACKS}
    images, labels = [], []
    for check, shown in SHOWN.items():
        name = shown.attack
        if check not in judge(rows[name]).reasons:
            raise SystemExit(f"{name} is not refused by '{check}' any more; choose another.")
        clip = _drawn(rows[name].make(), shown.drawn)
        frames = shown.frames or spread(0, clip.num_frames - 1, _PICTURES)
        images += pictures(clip, frames, _CAMERA, _SIZE, is_still=True)
        words = shown.words or [f"frame {frame}" for frame in frames]
        labels += [f"{check}: {words[0]}", *words[1:]]
    write_png(contact_sheet(images, _PICTURES * _MOTIONS_A_ROW, labels), file)


def _drawn(clip: Clip, what: str) -> Clip:
    """Hands or bodies of a clip alone, so that they fill the picture."""
    if what == "all":
        return clip
    if what == "center":
        return _with_center(_drawn(clip, "bodies"))
    left_out = {"bodies": {}} if what == "hands" else {"hands": {}}
    around = () if what == "hands" else clip.problem.environment
    problem = replace(clip.problem, environment=around, **left_out)
    return replace(clip, problem=problem, contacts=ContactTrack.empty(), **left_out)


def _with_center(clip: Clip) -> Clip:
    """The bodies of a clip, and a ball where the centre of mass of the first is said to be."""
    name, body = next(iter(clip.problem.bodies.items()))
    ball, pose = make_shape("sphere", radius=0.015), clip.bodies[name]
    center = Pose(pose.apply(body.center), pose.wxyz)
    return replace(
        clip,
        problem=replace(clip.problem, bodies={**clip.problem.bodies, "center": ball}),
        bodies={**clip.bodies, "center": center},
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
