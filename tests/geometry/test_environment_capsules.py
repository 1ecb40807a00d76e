"""Capsules against tables, walls and floors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.errors import InvalidValueError
from handwright.geometry import (
    EnvironmentBox,
    capsules_to_environment,
    environment_value_gradient,
    floor,
    pack_environment,
    table,
    wall,
)
from handwright.hands import human
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_no_sphere_of_a_capsule_is_deeper(seed):
    rng = np.random.default_rng(seed)
    pose = Pose(rng.normal(scale=0.2, size=3), rotation.random(rng))
    box = EnvironmentBox(pose, rng.uniform(0.02, 0.3, 3))
    env = pack_environment([box, floor(-0.3), wall(np.array([0.5, 0, 0]), rng.normal(size=3))])
    start, end = rng.normal(scale=0.3, size=(2, 4, 3))
    radii = rng.uniform(0.0, 0.1, (4, 2))
    gaps, at, normals, nearest = capsules_to_environment(env, start, end, radii)
    shares = np.linspace(0.0, 1.0, 400)
    for n in range(4):
        points = start[n] + shares[:, None] * (end[n] - start[n])
        radius = radii[n, 0] + shares * (radii[n, 1] - radii[n, 0])
        values = np.array([environment_value_gradient(env, *point)[0] for point in points])
        sampled = (values - radius).min()
        # Between two samples the gap changes by less than the way between them.
        slack = (np.linalg.norm(end[n] - start[n]) + abs(radii[n, 1] - radii[n, 0])) / 399
        assert sampled - slack <= gaps[n] <= sampled + 1e-12
        place = start[n] + at[n] * (end[n] - start[n])
        value, *gradient, index = environment_value_gradient(env, *place)
        here = radii[n, 0] + at[n] * (radii[n, 1] - radii[n, 0])
        assert gaps[n] == pytest.approx(value - here, abs=1e-9)
        if index == nearest[n]:
            np.testing.assert_allclose(normals[n], gradient, atol=1e-9)


def test_a_capsule_across_the_edge_of_a_table():
    """The nearest point is in the middle of the axis, and known in closed form."""
    env = pack_environment([table(0.7, size=(1.0, 1.0), thickness=0.1)])
    start, end = np.array([[0.4, 0.0, 0.9]]), np.array([[0.7, 0.0, 0.6]])
    gaps, at, normals, nearest = capsules_to_environment(env, start, end, np.array([0.02]))
    # The axis is the line x + z = 1.3 and the edge is at x = 0.5, z = 0.7.
    assert gaps[0] == pytest.approx(0.1 / np.sqrt(2.0) - 0.02, abs=1e-12)
    assert at[0] == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(normals[0], [np.sqrt(0.5), 0.0, np.sqrt(0.5)], atol=1e-6)
    assert nearest[0] == 0


def test_a_hand_flat_on_the_floor_touches_it_with_its_lowest_capsule():
    model = human()
    capsules = posed_capsules(model, model.pose("rest"))
    height = np.minimum(capsules.start[:, 2], capsules.end[:, 2])
    lowest = float((height - capsules.radius).min())
    gaps, _, normals, _ = capsules_to_environment(pack_environment([floor(lowest)]), *capsules)
    assert gaps.min() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(normals, np.tile([0.0, 0.0, 1.0], (len(gaps), 1)))


def test_nothing_is_infinitely_far_and_mistakes_are_named():
    nothing = pack_environment([])
    one = np.zeros((1, 3))
    gaps, _, normals, nearest = capsules_to_environment(nothing, one, one, np.ones(1))
    assert gaps.tolist() == [np.inf]
    assert normals.tolist() == [[0.0, 0.0, 0.0]]
    assert nearest.tolist() == [-1]
    with pytest.raises(InvalidValueError, match=r"ends \(2, 3\)"):
        capsules_to_environment(nothing, one, np.zeros((2, 3)), np.ones(1))
    with pytest.raises(InvalidValueError, match="NaN"):
        capsules_to_environment(nothing, one, one, np.full(1, np.nan))
