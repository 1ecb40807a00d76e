"""What the file itself says of bodies and hands: masses, limits and sizes that cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import (
    bystander,
    clip_of,
    frames,
    path,
    pinch,
    pinched,
    rising,
    still,
)
from attacks.rows import BENT, FIGURES, LEAP, SLIDES, UNEXPLAINED, WEAK, Attack
from handwright.core.surface import EnvironmentBox
from handwright.core.tolerances import Tolerances
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose


def inertia_of_a_ship(count=31):
    """A pinch holds a bar far beside its middle, level; the file says it has a ship's inertia."""
    times = frames(count)
    block = make_shape("box", width=0.022, depth=0.20, height=0.04)
    heavy = replace(block, inertia=1e6 * block.inertia)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    aside = Pose(pose.position + np.array([0.0, 0.08, 0.0]), pose.wxyz)
    return clip_of(times, hands={"hand": pinch(aside)}, bodies={"block": (heavy, pose)})


def center_at_the_edge(count=20):
    """A box stands over the edge of a table by nine tenths; its centre of mass is said to be in."""
    box = make_shape("box", width=0.2)
    skewed = replace(box, center=np.array([-0.095, 0.0, 0.0]))
    desk = table(0.75, size=(0.4, 0.4), center=(-0.28, 0.0))
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (skewed, still((0.0, 0.0, 0.78), count))},
        environment=(desk,),
    )


def center_outside_the_mesh(count=20):
    """A box balances on the tip of its rim, because its mass is said to be 30 cm beside it."""
    box = make_shape("box")
    skewed = replace(box, center=np.array([-0.3, 0.0, 0.0]))
    rods = (
        EnvironmentBox(Pose(np.array([-0.03, 0.0, 0.735]), UPRIGHT), np.array([0.005, 0.1, 0.01])),
        EnvironmentBox(Pose(np.array([0.02, 0.0, 0.815]), UPRIGHT), np.array([0.005, 0.1, 0.01])),
    )
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (skewed, still((0.0, 0.0, 0.775), count))},
        environment=rods,
    )


def invisible_hand(count=31):
    """A ball is carried by a hand without skin whose capsules are a thousandth of a millimetre."""
    model, times = human(), frames(count)
    capsules = model.capsules
    where = np.array([0.0, 0.0, 0.0])
    tips = 0.035 * turned_corners()
    number = len(capsules)
    start = np.tile(where, (number, 1))
    start[: len(tips)] = tips
    start[len(tips) :] = [-0.5, 0.0, 0.0]
    tiny = replace(
        capsules,
        link=np.zeros(number, dtype=np.int64),
        start=start,
        end=start + 1e-9,
        radius=np.full(number, 1e-6),
    )
    ghost = replace(model, capsules=tiny, skin=None)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(
        times,
        hands={"hand": (ghost, pose, model.pose("rest"))},
        bodies={"ball": (make_shape("sphere"), pose)},
    )


def turned_corners():
    """Unit vectors to the corners of a cube that stands askew."""
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T / np.sqrt(3.0)
    return corners @ np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])


def dust_hovers(size=6e-5, count=20):
    """A box of 0.06 mm hovers fifteen times its own size above the table."""
    dust = make_shape("box", width=size, depth=size, height=size)
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"dust": (dust, still((0.0, 0.0, 0.5 * size + 15.0 * size), count))},
        environment=(floor(),),
    )


def dust_jumps_about(count=20):
    """A grain of 0.2 mm on the table is three times its size elsewhere in every frame."""
    grain = make_shape("box", width=2e-4, depth=2e-4, height=2e-4)
    places = 3e-4 * np.random.default_rng(3).uniform(-1.0, 1.0, (count, 3))
    places[:, 2] = 1e-4 + np.abs(places[:, 2])
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"grain": (grain, Pose(places, UPRIGHT))},
        environment=(floor(),),
    )


def fingers_bent_back(count=20):
    """All fingers are bent back by 80 degrees; the file has widened the limits of the joints."""
    model = human()
    wide = {
        name: (-2.0, 2.0)
        for name in model.joints.names
        if name.endswith("mcp_flexion") and not name.startswith("thumb")
    }
    loose, q = model.with_limits(wide), model.pose("open").copy()
    for name in wide:
        q[model.joints.index(name)] = np.radians(-80.0)
    return clip_of(
        frames(count),
        hands={"hand": (loose, still((0.0, 1.0, 1.2), count), q)},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def giant_hand(count=20):
    """A hand five times as large as a person's waits beside a box."""
    model = human()
    big = replace(
        model,
        joints=replace(model.joints, offset=5.0 * model.joints.offset),
        capsules=replace(
            model.capsules,
            start=5.0 * model.capsules.start,
            end=5.0 * model.capsules.end,
            radius=5.0 * model.capsules.radius,
        ),
        skin=None,
    )
    return clip_of(
        frames(count),
        hands={"hand": (big, still((0.0, 1.5, 1.5), count), model.pose("rest"))},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def glue(count=31):
    """Thumb and finger lift 3 kg and hardly press: friction is said to be a thousand."""
    times = frames(count)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    sticky = pinched()[0].with_friction(1e3).with_mass(3.0)
    return clip_of(times, hands={"hand": pinch(pose)}, bodies={"block": (sticky, pose)})


def feather_of_a_box(count=31):
    """A box of wood of 6 cm is said to weigh a billionth of a gram, and stays where it is put."""
    light = make_shape("box").with_mass(1e-12)
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (light, still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def denser_than_anything(count=20):
    """A ball of 1 cm weighs a ton and rests on a table of wood."""
    dense = make_shape("sphere", radius=0.005).with_mass(1000.0)
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"ball": (dense, still((0.0, 0.0, 0.005), count))},
        environment=(floor(),),
    )


def tolerances_of_a_metre(count=20):
    """A box hovers half a metre up; the judge was told that gaps of a metre are none."""
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.53), count))},
        environment=(floor(),),
    )


def smoothed_away(count=40):
    """A box is thrown about in the air by 10 cm; the judge was told to smooth that away."""
    x = 0.01 * np.where(np.arange(count) % 2, 1.0, -1.0)
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(x, 0.0, 0.03))},
        environment=(floor(),),
    )


ATTACKS = (
    Attack(inertia_of_a_ship, UNEXPLAINED | FIGURES, under=("inertia", "mass")),
    Attack(center_at_the_edge, UNEXPLAINED | FIGURES, under=("centre", "center", "mass")),
    Attack(center_outside_the_mesh, UNEXPLAINED | FIGURES, under=("centre", "center", "mass")),
    Attack(invisible_hand, FIGURES | WEAK, under=("hand",)),
    Attack(dust_hovers, UNEXPLAINED),
    Attack(dust_jumps_about, UNEXPLAINED | LEAP | SLIDES),
    Attack(fingers_bent_back, BENT | FIGURES, under=("limit", "hand")),
    Attack(giant_hand, FIGURES, under=("hand",)),
    Attack(glue, FIGURES, under=("friction",)),
    Attack(feather_of_a_box, FIGURES, under=("mass", "density")),
    Attack(denser_than_anything, FIGURES, under=("mass", "density")),
    Attack(
        tolerances_of_a_metre,
        UNEXPLAINED,
        under=("gap 1",),
        tolerances=Tolerances(gap=1.0, contact_distance=1.0),
    ),
    Attack(
        smoothed_away,
        UNEXPLAINED | LEAP,
        under=("smoothing_hz",),
        tolerances=Tolerances(smoothing_hz=1.0),
    ),
)
