"""Exact contacts: forces that hang on a facet of the mesh are refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.methods.sampling.finish.exact_contacts import (
    Refusal,
    check_neighbouring_facets,
    solve_forces,
)
from handwright.methods.sampling.finish.mesh_contacts import MeshContacts

HALF = 0.02
STAND_OFF = 5e-4
FIRST = 5


def pinched(height, friction):
    """A cube between two fingers that touch opposite faces, at a height above its middle."""
    cube = make_shape("box", width=2 * HALF, depth=2 * HALF, height=2 * HALF, mass=0.1)
    body = replace(cube, friction=friction)
    side = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    point = HALF * side + [0.0, height, 0.0]
    nothing = np.zeros((2, 3))
    found = MeshContacts(
        frame=np.zeros(2, dtype=np.int64),
        capsule=np.arange(2),
        point=point,
        normal=-side,
        gap=np.zeros(2),
        slip=nothing,
        drag=nothing,
        toucher=point + STAND_OFF * side,
        axis=np.tile([0.0, 1.0, 0.0], (2, 1)),
        bears=np.ones(2, dtype=bool),
        moves=np.zeros(2, dtype=bool),
    )
    weight = 9.81 * body.mass
    # It is held upright, without a moment: gravity goes through the line between the fingers.
    needed = np.array([[0.0, 0.0, weight, *np.cross([0.0, height, 0.0], [0.0, 0.0, weight])]])
    hold = SimpleNamespace(
        body=body,
        distance=ExactDistance.from_body(body),
        strict=SimpleNamespace(
            wrench=needed,
            weight=weight,
            gyration=body.radius_of_gyration,
            limits=SimpleNamespace(force=50.0, friction_margin=1.0),
        ),
        data=SimpleNamespace(
            hands=SimpleNamespace(digit_of_capsule=np.arange(2)),
            ground=SimpleNamespace(surface=np.zeros(0), friction=np.zeros(0)),
            may_touch=np.ones((1, 2), dtype=bool),
        ),
        force_weight=np.ones(2),
        first=FIRST,
    )
    return hold, found


@pytest.mark.parametrize(
    ("height", "friction", "is_refused"),
    [(0.0, 0.3, False), (HALF - 1e-4, 0.3, True), (HALF - 1e-4, 1.2, False)],
)
def test_forces_must_suffice_a_little_beside_as_well(height, friction, is_refused):
    hold, found = pinched(height, friction)
    assert not isinstance(solve_forces(hold, found), Refusal)
    seen = check_neighbouring_facets(hold, found)
    assert (seen is not None) == is_refused
    if seen is not None:
        assert seen.frame == FIRST
