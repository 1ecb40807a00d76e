"""Honest things at rest, or together: thin, small, heavy, stacked, one within the other."""

from __future__ import annotations

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import G, alone, bystander, clip_of, frames, path, still, turning
from attacks.rows import Neighbour
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.math.pose import Pose


def stands_on_a_thin_shelf(count=20):
    """A box stands on a shelf of 1 cm."""
    shelf = table(1.0, size=(0.4, 0.4), thickness=0.01)
    return alone(
        make_shape("box"), still((0.0, 0.0, 1.03), count), frames(count), environment=(shelf,)
    )


def stacked(count=20):
    """A box stands on another one, which stands on the floor."""
    box = make_shape("box")
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "low": (box, still((0, 0, 0.03), count)),
            "high": (box, still((0, 0, 0.09), count)),
        },
        environment=(floor(),),
    )


def small_box(count=20):
    """A cube of 1 cm stands on the floor."""
    cube = make_shape("box", width=0.01, depth=0.01, height=0.01)
    return alone(cube, still((0, 0, 0.005), count), frames(count), environment=(floor(),))


def three_stacked(count=12):
    """Three boxes stand on each other."""
    box = make_shape("box")
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={f"box{k}": (box, still((0, 0, 0.03 + 0.06 * k), count)) for k in range(3)},
        environment=(floor(),),
    )


def rests_on_a_slope(count=20, slope=20.0):
    """A box rests on a slope of 20 degrees; friction holds it."""
    tilt = np.radians(slope)
    up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    pose = still(0.03 * up, count, turning([0.0, tilt, 0.0]))
    return alone(make_shape("box"), pose, frames(count), environment=(HalfSpace(up, 0.0, 0.6),))


def overhangs_a_table(count=20):
    """A box stands over the edge of a table by two fifths."""
    desk = table(0.75, size=(0.4, 0.4), center=(-0.18, 0.0))
    box = make_shape("box", width=0.2)
    return alone(box, still((0, 0, 0.78), count), frames(count), environment=(desk,))


def anvil(count=20):
    """Fifty kilograms stand on the floor."""
    heavy = make_shape("box", width=0.2, depth=0.2, height=0.2).with_mass(50.0)
    return alone(heavy, still((0, 0, 0.1), count), frames(count), environment=(floor(),))


def card_on_a_table(count=20):
    """A playing card of 0.3 mm lies on a table."""
    card = make_shape("playing_card")
    high = 0.75 - float(card.vertices[:, 2].min())
    return alone(card, still((0, 0, high), count), frames(count), environment=(table(),))


def wardrobe(count=12):
    """A box of 2 m stands on the floor."""
    large = make_shape("box", width=1.0, depth=0.6, height=2.0)
    return alone(large, still((2, 0, 1.0), count), frames(count), environment=(floor(),))


def bead_on_a_table(count=20):
    """A bead of 4 mm lies on a table."""
    bead = make_shape("sphere", radius=0.002)
    return alone(bead, still((0, 0, 0.002), count), frames(count), environment=(floor(),))


def plates_side_by_side(count=12):
    """Two plates of 5 mm stand 3 mm apart."""
    plate = make_shape("box", width=0.005, depth=0.1, height=0.1)
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "one": (plate, still((0.0, 0, 0.05), count)),
            "two": (plate, still((0.008, 0, 0.05), count)),
        },
        environment=(floor(),),
    )


def ring_around_a_post(count=20):
    """A ring lies on the floor around a post that it does not touch."""
    ring = make_shape("torus")
    post = EnvironmentBox(Pose(np.array([0.0, 0.0, 0.1]), UPRIGHT), np.array([0.01, 0.01, 0.1]))
    high = -float(ring.vertices[:, 2].min())
    return alone(ring, still((0, 0, high), count), frames(count), environment=(floor(), post))


def linked_rings_fall(count=20, fps=60.0):
    """Two rings go through each other's holes, touch nowhere, and fall together."""
    times, ring = frames(count, fps), make_shape("torus", ring_radius=0.05, tube_radius=0.006)
    z = 2.0 - 0.5 * G * times**2
    return clip_of(
        times,
        hands=bystander(count),
        bodies={
            "one": (ring, path(0.0, 0.0, z)),
            "two": (ring, path(0.05, 0.0, z, turning([0.5 * np.pi, 0.0, 0.0]))),
        },
    )


def box_in_a_beaker(count=12):
    """A small box stands in an open beaker, which stands on the floor."""
    beaker = make_shape("beaker")
    cube = make_shape("box", width=0.02, depth=0.02, height=0.02)
    low = -float(beaker.vertices[:, 2].min())
    inner = np.linalg.norm(beaker.vertices[:, :2], axis=1) < 0.02
    levels = np.unique(np.round(beaker.vertices[inner, 2], 6))
    bottom = float(levels[levels < 0.0].max())
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "beaker": (beaker, still((0, 0, low), count)),
            "cube": (cube, still((0.003, 0, low + bottom + 0.01), count)),
        },
        environment=(floor(),),
    )


def long_rest(count=300):
    """A box stands on a table for five seconds at 60 frames a second."""
    pose = still((0.0, 0.0, 0.78), count)
    return alone(make_shape("box"), pose, frames(count, 60.0), environment=(table(),))


def late_start(count=20):
    """A box stands on the floor; the clock starts at an hour."""
    times = 3600.0 + frames(count)
    return alone(make_shape("box"), still((0, 0, 0.03), count), times, environment=(floor(),))


NEIGHBOURS = (
    Neighbour(stands_on_a_thin_shelf),
    Neighbour(stacked),
    Neighbour(small_box),
    Neighbour(three_stacked),
    Neighbour(rests_on_a_slope),
    Neighbour(overhangs_a_table),
    Neighbour(anvil),
    Neighbour(card_on_a_table),
    Neighbour(wardrobe),
    Neighbour(bead_on_a_table),
    Neighbour(plates_side_by_side),
    Neighbour(ring_around_a_post),
    Neighbour(linked_rings_fall),
    Neighbour(box_in_a_beaker),
    Neighbour(long_rest),
    Neighbour(late_start),
)
