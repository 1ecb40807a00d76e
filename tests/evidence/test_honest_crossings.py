"""Motions that methods find, and the ball in a fist, are let pass by all checks of crossings."""

from __future__ import annotations

from itertools import combinations

import pytest
from corpus import solved
from moving_things import probed

import handwright as hw
from benchmarks.verify import carried_ball
from handwright.evidence.contacts.crossings import bodies_cross
from handwright.evidence.contacts.overlaps import hand_hand_depth, palm_depth
from handwright.evidence.contacts.probes import exact_distance
from handwright.evidence.contacts.sweeps import swept_through
from handwright.evidence.contacts.thin_things import body_between_knuckles, surroundings_in_flesh

ALLOWED = 1e-3
SAMPLED = hw.ContactSampling(num_solutions=1, time_budget=600.0)


def crossings(clip) -> dict[str, float]:
    """The worst value of each check."""
    hands = probed(clip)
    exact = {name: exact_distance(body) for name, body in clip.problem.bodies.items()}
    found = {
        "swept": float(swept_through(clip, hands)[0].any()),
        "hands": hand_hand_depth(hands)[0].max(),
    }
    for name, hand in hands.items():
        found[f"{name} palm"] = palm_depth(hand)[0].max()
        around = clip.problem.environment
        found[f"{name} surroundings"] = surroundings_in_flesh(hand, around)[0].max()
        for body, pose in clip.bodies.items():
            found[f"{name} {body}"] = body_between_knuckles(hand, pose, exact[body]).max()
    for one, two in combinations(clip.bodies, 2):
        found[f"{one} {two}"] = bodies_cross(clip, one, two, exact).max()
    return found


@pytest.mark.parametrize(
    ("name", "method"),
    [("small_box_two_hands", SAMPLED), ("milk_box_turn", SAMPLED), ("lift_cup", hw.Stepwise())],
)
def test_motions_that_methods_find_cross_nothing(name, method):
    found = crossings(solved(name, method).best)
    assert max(found.values()) <= ALLOWED, found


def test_a_ball_in_a_fist_crosses_nothing():
    found = crossings(carried_ball(60))
    assert max(found.values()) <= ALLOWED, found
