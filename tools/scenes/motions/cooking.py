"""A cook at a counter who pours milk, pours wine and shakes spice, one after the other.

The right wrist is that of a whole body, which comes as a BVH file. Its motion is planned by the
holds of the three things; the body follows, and the wrist is read back from the body.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handwright.core.surface import Surface
from handwright.core.track import Track
from handwright.geometry.distance.environment import floor, table
from handwright.io.bvh.motion import BvhMotion
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.curves import (
    Phase,
    aimed,
    columns,
    phases,
    ramp,
    turns,
    variation,
    window,
)
from tools.scenes.motions.milk_boxes import milk_box
from tools.scenes.motions.pots import wine_pot
from tools.scenes.motions.turning import BOTTLE, bottle
from tools.scenes.person import Posture, skeleton
from tools.scenes.stage import TABLE_HEIGHT, Reach, heading, held, reached, standing, tracks_of
from tools.scenes.task import Hold

FRAMES = 310
COUNTER = 0.92
"""Height of the counter, m."""
_RISE = COUNTER - TABLE_HEIGHT


SPICE = BOTTLE.model_copy(update={"color": (0.66, 0.40, 0.30)})


def surroundings() -> tuple[Surface, ...]:
    """The counter and the floor."""
    return (table(COUNTER, size=(1.6, 0.7), center=(0.0, 0.10)), floor())


def _milk(hold: Hold, rng: np.random.Generator) -> tuple[Pose, Pose]:
    """The milk box is lifted, tilted to the left and set down; and the wrist."""
    count = FRAMES
    free, high = window(count, 21, 92, 12), window(count, 31, 84, 14)
    lead = 6.0
    yaw = phases(
        count, Phase(24, 48, 20.0, 0.1), Phase(66, 90, -14.0), start=98.0 - heading(hold.wrist.wxyz)
    ) + free * variation(rng, count, 2.0)  # fmt: skip
    over = phases(count, Phase(36, 60, -34.0, 0.1), Phase(64, 84, 34.0)) + high * variation(
        rng, count, 2.0
    )
    wxyz = rotation.multiply(
        turns(columns(np.zeros(count), np.zeros(count), yaw)),
        turns(columns(high * variation(rng, count, 2.0), over, np.zeros(count))),
    )
    place = columns(
        phases(count, Phase(22, 52, -0.13, 0.1), Phase(64, 90, 0.12), start=0.29)
        + free * variation(rng, count, 0.006),
        phases(count, Phase(22, 50, 0.03), Phase(66, 92, -0.02), start=0.06)
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(20, 42, 0.14, 0.1), Phase(40, 62, 0.03), Phase(68, 95, -0.17, 0.1),
            start=standing(milk_box()) + _RISE,
        ) + high * variation(rng, count, 0.005),
    )  # fmt: skip
    body = Pose.normalized(place, wxyz)
    loose = window(count, 21, 95, 12)
    relative = columns(
        loose * variation(rng, count, 2.0),
        phases(count, Phase(36, 60, 7.0), Phase(64, 86, -7.0)) + loose * variation(rng, count, 1.5),
        phases(count, Phase(22, 34, 2.0), Phase(28, 58, -15.0), Phase(66, 92, 8.0), start=lead)
        + loose * variation(rng, count, 1.0),
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(-3, 15, back=0.16, out=0.05, up=0.06, turn=(0.0, 8.0, 4.0)),
        Reach(100, 118, back=0.16, out=0.03, up=0.10),
    )
    return body, wrist


def _wine(hold: Hold, rng: np.random.Generator) -> tuple[Pose, Pose]:
    """The pot is lifted by its handle, tilted and set down where it stood; and the wrist."""
    count = FRAMES
    free, high = window(count, 136, 203, 12), window(count, 146, 195, 14)
    start = 104.0 - heading(hold.wrist.wxyz)
    yaw = phases(count, Phase(138, 160, 10.0), Phase(180, 202, -10.0), start=start)
    yaw = yaw + free * variation(rng, count, 2.0)
    pitch = phases(count, Phase(150, 172, 42.0, 0.1), Phase(178, 197, -42.0, 0.1))
    wxyz = aimed(yaw, pitch + high * variation(rng, count, 2.0), high * variation(rng, count, 3.0))
    first = aimed(*(np.array([angle]) for angle in (start, 0.0, 0.0)))[0]
    foot = np.array([-0.06, 0.17, standing(wine_pot()) + _RISE])
    place = foot + rotation.rotate(first, hold.pivot) + columns(
        phases(count, Phase(136, 164, -0.03), Phase(178, 202, 0.03))
        + free * variation(rng, count, 0.006),
        phases(count, Phase(138, 160, -0.02), Phase(176, 203, 0.02))
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(134, 155, 0.11, 0.1), Phase(152, 172, 0.04), Phase(182, 206, -0.15, 0.1)
        ) + high * variation(rng, count, 0.004),
    )  # fmt: skip
    body = Pose.normalized(place - rotation.rotate(wxyz, hold.pivot), wxyz)
    loose = window(count, 135, 205, 12)
    lag = phases(count, Phase(138, 168, -11.0), Phase(178, 204, 10.0), start=4.0)
    relative = np.outer(lag + loose * variation(rng, count, 1.0), (0.0, 0.35, 0.94))
    wrist = reached(
        held(body, hold, relative),
        Reach(112, 129, back=0.14, out=0.04, up=0.04, side=0.02),
        Reach(211, 228, back=0.13, out=0.03, up=0.05, side=0.02),
    )
    return body, wrist


def _spice(hold: Hold, rng: np.random.Generator) -> tuple[Pose, Pose]:
    """The spice is taken from above, turned a little, shaken and set down; and the wrist."""
    count = FRAMES
    free = window(count, 246, 287, 10)
    yaw = phases(
        count, Phase(246, 266, 24.0), Phase(268, 286, -12.0),
        start=100.0 - heading(hold.wrist.wxyz),
    ) + free * variation(rng, count, 2.0)  # fmt: skip
    over = phases(count, Phase(250, 264, 26.0), Phase(272, 284, -26.0))
    wxyz = rotation.multiply(
        turns(columns(np.zeros(count), np.zeros(count), yaw)),
        turns(columns(np.zeros(count), -over, np.zeros(count))),
    )
    beat = np.sin(2.0 * np.pi * 2.1 * np.arange(count) / 30.0) * window(count, 258, 277, 8)
    place = columns(
        phases(count, Phase(246, 266, 0.04), Phase(266, 286, -0.02), start=-0.19)
        + free * variation(rng, count, 0.004) + 0.004 * beat,
        phases(count, Phase(246, 264, 0.05), Phase(268, 286, -0.03), start=0.03)
        + free * variation(rng, count, 0.004),
        phases(
            count, Phase(244, 260, 0.09, 0.1), Phase(270, 290, -0.09, 0.1),
            start=standing(bottle()) + _RISE,
        ) + 0.0055 * beat,
    )  # fmt: skip
    body = Pose.normalized(place, wxyz)
    loose = window(count, 245, 289, 10)
    relative = columns(
        loose * variation(rng, count, 2.0),
        loose * variation(rng, count, 2.0),
        phases(count, Phase(246, 266, -16.0), Phase(268, 286, 10.0), start=8.0)
        + loose * variation(rng, count, 1.0),
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(220, 239, back=0.06, out=0.06, up=0.06),
        Reach(295, 312, back=0.10, out=0.06, up=0.05),
    )
    return body, wrist


def make_cooking(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """All three in turn; the wrist goes from one to the next above the counter."""
    rng = np.random.default_rng(83)
    milk, one = _milk(holds["milk_box_turn"], rng)
    pot, two = _wine(holds["wine_pot"], rng)
    spice, three = _spice(holds["bottle_turn_on_table"], rng)
    over = ramp(FRAMES, 102, 117) - ramp(FRAMES, 115, 130)
    arc = columns(np.zeros(FRAMES), np.zeros(FRAMES), 0.09 * over)
    right = one.interpolate(two, ramp(FRAMES, 106, 128)).interpolate(three, ramp(FRAMES, 214, 236))
    right = Pose(right.position + arc, right.wxyz)
    return tracks_of({"right": right, "milk_box": milk, "wine_pot": pot, "spice": spice})


def make_person(tracks: Mapping[str, Track]) -> BvhMotion:
    """The whole body: it shifts its weight to where the hand works, and looks there."""
    rng = np.random.default_rng(89)
    count, right = FRAMES, tracks["right"].pose
    shift = phases(count, Phase(96, 132, -0.11), Phase(205, 240, -0.12), start=0.10)
    hips = Pose(
        columns(
            shift + variation(rng, count, 0.012),
            np.full(count, -0.41) + variation(rng, count, 0.01),
            np.full(count, 0.93) + variation(rng, count, 0.004),
        ),
        turns(
            columns(np.full(count, -4.0), variation(rng, count, 1.5), variation(rng, count, 3.0))
        ),
    )
    spine = columns(
        np.full(count, -13.0) + variation(rng, count, 2.0),
        variation(rng, count, 2.0),
        phases(count, Phase(96, 130, 6.0), Phase(205, 238, 6.0), start=-4.0)
        + variation(rng, count, 3.0),
    )
    seen = right.position[:, 0] - shift
    head = columns(
        np.full(count, -26.0) + variation(rng, count, 3.0), np.zeros(count), -40.0 * seen
    )
    feet = {"right": np.array([0.14, -0.44, 0.09]), "left": np.array([-0.14, -0.42, 0.09])}
    resting = Pose(
        columns(
            np.full(count, -0.36) + variation(rng, count, 0.006),
            np.full(count, -0.14) + variation(rng, count, 0.006),
            np.full(count, COUNTER + 0.05),
        ),
        turns(columns(np.zeros(count), np.full(count, 10.0), np.full(count, 80.0))),
    )
    return skeleton(Posture(hips, spine, head, feet), {"right": right, "left": resting})
