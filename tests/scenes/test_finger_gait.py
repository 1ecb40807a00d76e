"""The cup that is turned in the hand asks for a walk of the fingers that a hand can do."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.distance.sdf import sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.math import rotation
from handwright.mechanics import force_contacts, least_forces
from handwright.scenes import load_scene
from tools.scenes.files import load_holds

NAME, BODY = "paper_cup_twirl", "paper_cup"


def carries(without: int | None) -> bool:
    """Whether the pads of the hold carry the cup, one of them left out."""
    hold, body = load_holds()[NAME], load_scene(NAME).bodies[BODY]
    kept = [d for d in np.flatnonzero(hold.touching) if d != without]
    points = hold.points[kept]
    outward = sample_field(signed_distance_field(body), points)[1]
    outward = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    contacts = force_contacts(points, -outward, center=body.center, friction=0.8 * body.friction)
    weight = 9.81 * body.mass
    solved = least_forces(
        contacts, np.array([0.0, 0.0, weight, 0.0, 0.0, 0.0]), force_scale=weight,
        length_scale=body.radius_of_gyration,
    )  # fmt: skip
    return solved.is_feasible and solved.objective < 12.0 * weight


@pytest.mark.parametrize("digit", range(1, 5))
def test_whichever_finger_leaves_the_others_carry_the_cup(digit):
    assert load_holds()[NAME].touching.all()
    assert carries(digit)


def test_it_turns_by_more_than_half_a_turn_with_pauses():
    problem = load_scene(NAME)
    relative = problem.track(BODY).pose.inverse() @ problem.track("right").pose
    step = rotation.multiply(rotation.conjugate(relative.wxyz[:-1]), relative.wxyz[1:])
    spin = np.degrees(rotation.rotate(relative.wxyz[:-1], rotation.log(step))[13:218, 2])
    assert abs(spin.sum()) > 180.0
    speed = np.abs(spin) * 30.0
    # Slow for more than a quarter of the strokes' time, in more than one place: there fingers walk.
    slow = speed[30:172] < 0.25 * speed.max()
    assert slow.mean() > 0.25
    assert np.count_nonzero(np.diff(slow.astype(int)) == 1) >= 3
