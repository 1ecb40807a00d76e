"""A body that is passed from hand to hand, and what keeps such motions honest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from handwright.evidence import certify
from handwright.methods import ContactSampling
from handwright.methods.sampling.attempt import find_leaping_frame
from handwright.methods.sampling.finish.exact_contacts import find_creeping_contact
from handwright.methods.sampling.setup.grasps import draw_grasps, first_digits
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

# The right wrist leaves the box of the scene at frame 55, the left one is there from frame 45 on.
FIRST, LAST = 24, 68


def test_a_body_is_passed_from_one_hand_to_the_other():
    problem = load_scene("small_box_two_hands")
    problem = replace(problem, times=problem.times[FIRST:LAST])
    result = synthesize(problem, ContactSampling(num_solutions=1, time_budget=600.0), seed=0)
    assert len(result.clips) == 1, result.message
    clip = result.clips[0]
    certificate = certify(clip)
    assert certificate.passed, str(certificate)
    contacts = clip.contacts
    push = np.linalg.norm(contacts.force, axis=1)
    weight = 9.81 * problem.bodies["small_box"].mass
    load = {
        name: np.bincount(
            contacts.frame,
            push * (contacts.toucher == contacts.touchers.index(name)),
            minlength=clip.num_frames,
        )
        / weight
        for name in problem.hands
    }
    assert (load["left"][:5] < 0.01).all()
    assert (load["right"][:5] > 0.3).all()
    assert (load["right"][-5:] < 0.01).all()
    assert (load["left"][-5:] > 0.3).all()


def test_a_joint_that_leaps_is_found_and_a_quick_one_is_not():
    times = np.arange(40) / 30.0
    q = np.stack([np.sin(6.0 * times), np.zeros(40)], axis=1)
    hold = SimpleNamespace(times=times, first=100)
    assert find_leaping_frame(hold, q) is None
    q[25:, 1] += 0.5
    assert find_leaping_frame(hold, q) == 125


@pytest.mark.parametrize(("last", "creeps"), [(13, True), (9, False)])
def test_a_contact_creeps_while_it_holds_and_begins_anew_after_a_break(last, creeps):
    # Two faces in every frame, and a break before frame 20.
    frame = np.repeat(np.concatenate([np.arange(last), np.arange(20, 29)]), 2)
    slip = np.tile([[1e-4, 0.0, 0.0], [6e-5, 0.0, 0.0]], (len(frame) // 2, 1))
    found = find_creeping_contact(
        frame, np.zeros_like(frame), slip, np.ones(len(frame), dtype=bool)
    )
    # In the mean 0.08 mm a step: 0.9 mm is passed with the twelfth.
    assert (found and found.frame) == (12 if creeps else None)
    if found is not None:
        assert found.frames.tolist() == list(range(last))


def test_grasps_have_all_thumbs_and_only_places_that_appeal():
    rng = np.random.default_rng(0)
    hand = np.array([0, 0, 0, 1, 1])
    assert first_digits(hand).tolist() == [True, False, False, True, False]
    appeal = rng.random((5, 30)) * (rng.random((5, 30)) < 0.4)
    appeal[2] = 0.0
    takes_part = np.array([True, True, True, True, False])
    half = np.full(len(hand), 0.5)
    grasps = draw_grasps(np.cumsum(appeal, axis=1), takes_part, first_digits(hand), 400, half, rng)
    assert grasps.shape == (400, 5)
    assert (grasps[:, [0, 3]] >= 0).all()
    assert (grasps[:, [2, 4]] == -1).all()
    for d in (0, 1, 3):
        drawn = grasps[:, d][grasps[:, d] >= 0]
        assert (appeal[d, drawn] > 0.0).all()
    assert 0.4 < (grasps[:, 1] >= 0).mean() < 0.6
