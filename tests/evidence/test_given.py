"""What a clip says of its bodies and hands: sizes, parts, and whether a hand is like a human's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from attacks.wrong.meshes import joined, moved
from scipy.spatial.transform import Rotation

from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.findings import size_limit
from handwright.evidence.certificate.given.body_parts import parts_of, size_of
from handwright.evidence.certificate.given.hand_likeness import odd_hand
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.hands.registry import HANDS, make_hand


def turned(body, seed):
    matrix = Rotation.random(random_state=seed).as_matrix()
    return replace(
        body,
        vertices=body.vertices @ matrix.T,
        center=matrix @ body.center,
        inertia=matrix @ body.inertia @ matrix.T,
    )


@pytest.mark.parametrize("shape", ["playing_card", "box", "mug", "sphere"])
def test_sizes_do_not_depend_on_the_choice_of_axes(shape):
    body = make_shape(shape)
    sizes = np.array([size_of(turned(body, seed)) for seed in range(4)])
    np.testing.assert_allclose(sizes, np.tile(size_of(body), (4, 1)), rtol=1e-6)
    limits = [size_limit(turned(body, seed), 1.0, Tolerances()) for seed in range(4)]
    np.testing.assert_allclose(limits, size_limit(body, 1.0, Tolerances()), rtol=1e-6)


def test_length_and_thickness_of_a_box():
    size = size_of(make_shape("box", width=0.3, depth=0.4, height=0.002))
    assert size.length == pytest.approx(np.sqrt(0.3**2 + 0.4**2 + 0.002**2))
    assert size.thickness == pytest.approx(0.002)


def bar(x, y, z):
    return make_shape("box", width=x, depth=y, height=z)


@pytest.mark.parametrize(
    ("shift", "count"),
    [
        ((0.0, 0.0, 0.0), 1),  # Crossing in the middle: no corner of either is near the other.
        ((0.0, 0.0, 0.0108), 1),  # Edges lie across each other, 0.8 mm apart.
        ((0.0, 0.0, 0.0115), 2),
        ((0.0, 0.0, 0.05), 2),
    ],
)
def test_parts_are_joined_where_faces_and_edges_meet(shift, count):
    # Turned about their lengths so that edges, not faces, look at each other.
    edge = np.sqrt(0.5) * 0.01
    one = moved(turned_about(bar(0.2, edge, edge), "x"), (0.0, 0.0, 0.0))
    two = moved(turned_about(bar(edge, 0.2, edge), "y"), shift)
    assert parts_of(joined(one, two)).num_apart == count


def turned_about(body, axis):
    matrix = Rotation.from_euler(axis, 45.0, degrees=True).as_matrix()
    return replace(
        body, vertices=body.vertices @ matrix.T, inertia=matrix @ body.inertia @ matrix.T
    )


def test_a_cavity_belongs_to_the_part_around_it():
    inner = make_shape("sphere", radius=0.01)
    inner = replace(inner, faces=inner.faces[:, ::-1])
    assert parts_of(joined(make_shape("sphere", radius=0.03), inner)).num_apart == 1


@pytest.mark.parametrize(
    "model",
    [
        *(pytest.param(make_hand(name), id=name) for name in HANDS),
        *(
            pytest.param(human(side, sex=sex, percentile=rank), id=f"{side}-{sex}-{rank:g}")
            for side, sex, rank in (
                ("right", "male", 2.0),
                ("left", "male", 98.0),
                ("right", "female", 2.0),
                ("left", "female", 60.0),
            )
        ),
        pytest.param(human("left", percentile=90.0, arm=True), id="arm"),
        pytest.param(human(length=0.17, breadth=0.09), id="broad"),
    ],
)
def test_hands_of_people_need_no_words(model):
    assert odd_hand("hand", model) is None
