"""Hands that are a human's by the names of their parts only: stretched, rewired, blown up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.clips import clip_of, frames, still
from attacks.rows import FIGURES, Attack
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human


def beside_a_box(model, count=10):
    """A hand that waits beside a box."""
    return clip_of(
        frames(count),
        hands={"hand": (model, still((0.0, 1.0, 1.2), count), human().pose("rest"))},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def with_joints(**given):
    """A human hand with other columns in its table of joints."""
    model = human()
    return replace(model, joints=replace(model.joints, **given))


def little_finger_of_a_skeleton():
    """The little finger has a first bone of 5 cm, as long as that of the middle finger."""
    offset = human().joints.offset.copy()
    offset[human().joints.index("little_pip_flexion")] *= 1.45
    return beside_a_box(with_joints(offset=offset))


def thumb_on_the_other_side():
    """The thumb grows out of the little finger's side of the palm."""
    joints = human().joints
    offset = joints.offset.copy()
    first = next(j for j, name in enumerate(joints.names) if name.startswith("thumb"))
    offset[first, 1] *= -1.0
    return beside_a_box(with_joints(offset=offset))


def finger_grows_out_of_a_finger():
    """The ring finger's last bones are mounted on the middle finger."""
    joints = human().joints
    parent = joints.parent.copy()
    parent[joints.index("ring_pip_flexion")] = parent[joints.index("middle_pip_flexion")]
    return beside_a_box(with_joints(parent=parent))


def flesh_of_another_finger():
    """What is called the flesh of the index finger moves with the thumb."""
    model = human()
    names = model.capsules.names
    link = model.capsules.link.copy()
    link[names.index("index_distal")] = link[names.index("thumb_distal")]
    return beside_a_box(replace(model, capsules=replace(model.capsules, link=link)))


def digits_that_are_not_theirs():
    """The pads of the thumb are counted among those of the index finger: each may press more."""
    model = human()
    digit = model.capsules.digit.copy()
    digit[digit == 0] = -1
    return beside_a_box(replace(model, capsules=replace(model.capsules, digit=digit)))


def fingertips_of_a_metre():
    """The tips of the fingers are said to be 5 cm beyond the fingers."""
    model = human()
    digits = tuple(
        replace(
            digit,
            tip=replace(digit.tip, position=digit.tip.position + np.array([0.05, 0.0, 0.0])),
        )
        for digit in model.digits
    )
    return beside_a_box(replace(model, digits=digits))


def glove_of_air():
    """The skin of the palm stands 13 mm out from the flesh on either side."""
    model = human()
    puffed = replace(model.skin, palm_half_thickness=model.skin.palm_half_thickness + 0.013)
    return beside_a_box(replace(model, skin=puffed))


def weightless_fingers():
    """The links of the hand weigh a thousandth of a gram."""
    model = human()
    light = replace(model.masses, mass=np.full_like(model.masses.mass, 1e-6))
    return beside_a_box(replace(model, masses=light))


def sliding_knuckle():
    """A knuckle of the index finger slides out like a drawer instead of bending."""
    joints = human().joints
    slide = joints.is_slide.copy()
    slide[joints.index("index_pip_flexion")] = True
    return beside_a_box(with_joints(is_slide=slide))


ATTACKS = tuple(
    Attack(make, FIGURES, under=("hand",))
    for make in (
        little_finger_of_a_skeleton,
        thumb_on_the_other_side,
        finger_grows_out_of_a_finger,
        flesh_of_another_finger,
        digits_that_are_not_theirs,
        fingertips_of_a_metre,
        glove_of_air,
        weightless_fingers,
        sliding_knuckle,
    )
)
