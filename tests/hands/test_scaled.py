"""Hands grown and shrunk as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.hands import human
from handwright.hands.registry import straight_length
from handwright.hands.scaled import scaled
from handwright.kinematics import posed_capsules, posed_sites


@pytest.mark.parametrize("scale", [0.7, 1.3])
def test_all_places_grow_alike_and_directions_stay(scale):
    model = human("left")
    q = model.joints.random(np.random.default_rng(1), (4,))
    grown = scaled(model, scale)
    np.testing.assert_allclose(
        posed_sites(grown, q).position, scale * posed_sites(model, q).position, atol=1e-12
    )
    np.testing.assert_allclose(posed_sites(grown, q).normal, posed_sites(model, q).normal)
    for here, there in zip(posed_capsules(model, q), posed_capsules(grown, q), strict=True):
        np.testing.assert_allclose(there, scale * here, atol=1e-12)
    assert straight_length(grown) == pytest.approx(scale * straight_length(model))
    assert grown.masses.mass.sum() == pytest.approx(scale**3 * model.masses.mass.sum())
    assert grown.skin.palm_half_thickness == pytest.approx(scale * model.skin.palm_half_thickness)


def test_nonsense_is_refused():
    model = human()
    with pytest.raises(InvalidValueError, match="positive"):
        scaled(model, 0.0)
    sliding = np.zeros(model.num_joints, dtype=bool)
    sliding[3] = True
    with pytest.raises(InvalidValueError, match="slide"):
        scaled(replace(model, joints=replace(model.joints, is_slide=sliding)), 2.0)
