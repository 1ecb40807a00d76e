"""Handles, insides and outsides are found from shapes alone."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.regions.parts import BODY_PARTS, faces_of_part
from handwright.geometry.shapes import make_shape
from tools.scenes.motions.mugs import beaker

pytestmark = pytest.mark.usefixtures("private_cache")


def middles(body, part):
    """Middles of the faces of a part, m, with its lowest point at height zero."""
    points = body.vertices[body.faces[faces_of_part(body, part)]].mean(axis=1)
    return points - [0.0, 0.0, body.vertices[:, 2].min()]


def area(body, part):
    corners = body.vertices[body.faces[faces_of_part(body, part)]]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * float(np.linalg.norm(cross, axis=1).sum())


def test_parts_of_a_mug_are_where_it_was_built():
    radius, height, wall, reach = 0.041, 0.095, 0.004, 0.034
    body = make_shape("mug", radius=radius, height=height, wall=wall, handle_reach=reach)
    axis = body.vertices[:, 0].max() - radius - reach
    off = {
        part: np.hypot(middles(body, part)[:, 0] - axis, middles(body, part)[:, 1])
        for part in BODY_PARTS
    }
    # The ear stands off the wall; the hollow is all that is within the inner radius.
    assert off["handle"].min() > radius - 1e-3
    assert off["handle"].max() > radius + reach - 2e-3
    assert off["inside"].max() < radius - 0.5 * wall
    assert middles(body, "inside")[:, 2].min() > 0.5 * wall
    assert off["outside"].max() < radius + 0.4 * reach
    inner = radius - wall
    wanted = 2.0 * np.pi * inner * (height - wall) + np.pi * inner**2
    assert area(body, "inside") == pytest.approx(wanted, rel=0.08)
    # Both sides of the bar of the ear, not just the one that looks into the eye.
    handle = middles(body, "handle")
    bar = handle[(np.abs(handle[:, 2] - 0.55 * height) < 0.01)]
    assert np.ptp(bar[:, 0]) > 0.008
    assert np.ptp(bar[:, 1]) > 0.010
    assert sum(faces_of_part(body, part).astype(int) for part in BODY_PARTS).tolist() == [1] * len(
        body.faces
    )


def test_a_spout_is_no_handle():
    body = make_shape("teapot")
    handle = middles(body, "handle")
    # The handle is towards -x, the spout towards +x.
    assert handle[:, 0].max() < 0.0
    assert handle[:, 0].min() < body.vertices[:, 0].min() + 2e-3


@pytest.mark.parametrize("tube", [0.003, 0.007])
def test_a_thin_ring_is_all_handle(tube):
    body = make_shape("torus", ring_radius=0.035, tube_radius=tube)
    assert faces_of_part(body, "handle").all()
    with pytest.raises(InvalidValueError, match="'torus' is all handle or hollow"):
        faces_of_part(body, "outside")


@pytest.mark.parametrize(
    ("body", "part", "text"),
    [
        (beaker(), "handle", "Body 'beaker' has no handle: .* Hold it at a ball around"),
        (make_shape("box"), "handle", "Body 'box' has no handle"),
        (make_shape("box"), "inside", "Body 'box' has no inside: .* Hold it from outside"),
    ],
)
def test_a_body_without_a_part_says_what_to_do(body, part, text):
    with pytest.raises(InvalidValueError, match=text):
        faces_of_part(body, part)
