"""Starts, schedules and skin of contact-invariant optimisation, each for itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.events import TouchSpan
from handwright.hands.skin.build import skin_of
from handwright.math import rotation
from handwright.methods.trajopt.method import ContactInvariant
from handwright.methods.trajopt.model.hands import WRIST_HINGES
from handwright.methods.trajopt.model.model import with_radius
from handwright.methods.trajopt.model.skin_bulge import skin_bulge, skin_stubs
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, phases_of, transcribe
from handwright.methods.trajopt.schedule.schedule import (
    has_unstable_hold,
    other_schedules,
    round_contacts,
)
from handwright.methods.trajopt.schedule.wrist_paths import wrists_following_body
from handwright.methods.trajopt.skin_fit import fit_skin
from handwright.scenes import load_scene


@pytest.fixture
def transcription():
    return transcribe(load_scene("pick_ball"), TranscriptionSettings(num_phases=6, fractions=[0.5]))


def out_of(points, capsules):
    """How far points are out of the nearest of some capsules, m."""
    least = np.full(len(points), np.inf)
    for start, end, radius in capsules:
        steps = start + np.linspace(0.0, 1.0, 200)[:, None] * (end - start)
        off = np.linalg.norm(points[:, None] - steps, axis=2).min(axis=1) - radius
        least = np.minimum(least, off)
    return least


def test_skin_behind_the_wrist_is_covered():
    model = load_scene("pick_ball").hands["right"]
    assert model.wrist_link == 0
    c = model.capsules
    wrist = [
        (c.start[n], c.end[n], c.radius[n])
        for n in range(len(c))
        if c.link[n] == 0 and c.digit[n] < 0
    ]
    behind = skin_of(model).vertices
    behind = behind[behind[:, 0] < -0.01]
    assert out_of(behind, wrist).max() > 0.02
    stubs = [(stub.start, stub.end, stub.radius) for stub in skin_stubs(model)]
    assert out_of(behind, wrist + stubs).max() < 1e-3
    assert max(radius for *_, radius in stubs) < 0.03


def test_wrists_turn_as_goals_turn_the_body():
    problem = load_scene("pick_pen_vertical")
    hands = transcribe(problem, TranscriptionSettings(num_phases=5, fractions=[0.5])).hands
    times = np.array([0.0, 2.0, 3.0, 4.0])
    (wrist,) = wrists_following_body(problem, hands, "pen", times, 2.5)
    assert not wrist[:2].any()
    base, start, goal = hands[0].root, problem.start["pen"], problem.goals[0]
    turn = rotation.multiply(goal.wxyz, rotation.conjugate(start.wxyz))
    own = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(WRIST_HINGES, wrist[3, 3:], strict=True):
        own = rotation.multiply(own, rotation.from_axis_angle(axis, angle))
    found = rotation.multiply(base.wxyz, own)
    assert rotation.angle(found, rotation.multiply(turn, base.wxyz)) < 1e-9
    # Seen from the pen, the wrist is where it was.
    place = base.position + rotation.rotate(base.wxyz, wrist[3, :3])
    seen = rotation.rotate(rotation.conjugate(turn), place - start.position)
    np.testing.assert_allclose(seen, base.position - start.position, atol=1e-12)


def test_a_digit_that_errs_is_left_out_where_three_others_hold(transcription):
    is_on = np.zeros((6, transcription.model.layout.num_contacts), dtype=bool)
    is_on[3:, :4] = True
    errors = np.zeros(is_on.shape)
    errors[4, 2] = 5.0
    (other,) = other_schedules(transcription, is_on, errors)
    assert not other[:, 2].any()
    np.testing.assert_array_equal(np.delete(other, 2, axis=1), np.delete(is_on, 2, axis=1))
    is_on[:, 3] = False
    assert other_schedules(transcription, is_on, errors) == []


def test_digits_help_all_the_time_or_not_at_all(transcription):
    m = transcription.model
    nc = m.layout.num_contacts
    is_on = np.zeros((6, nc), dtype=bool)
    is_on[2:, :3] = True
    is_on[2:, 3] = True
    is_on[4:, 4] = True
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[:6, m.layout.contacts] = 0.6 * is_on
    keys[:, m.layout.forces] = 1.0
    leads = np.arange(nc) < 3
    _, found = round_contacts(transcription, keys, leads)
    assert found[2:, :4].all()
    assert not found[:, 4].any()
    # Until then the ball lies on the table.
    assert found[:2, transcription.contact_hand < 0].all()


def test_keys_are_where_spans_of_touching_end():
    problem = load_scene("pick_ball")
    duration = float(problem.times[-1])
    plain = phases_of(problem, 0.5)
    assert plain == round(duration / 0.5)
    for ends, wanted in (((1.0, 2.0), plain), ((1.0, 1.25), 2 * plain), ((0.9, 1.77), plain)):
        # Where no key can be had there, phases are as long as asked for.
        spans = (TouchSpan("right", *ends),)
        assert phases_of(replace(problem, touches=spans), 0.5) == wanted


def test_hands_hold_what_flies_throughout_their_spans():
    problem = load_scene("two_hands_juggle")
    coarse, fine = ContactInvariant().ready(problem)
    for transcription in (coarse, fine):
        hands = [transcription.allowed[:, transcription.contact_hand == h] for h in range(2)]
        assert transcription.in_spans.all()
        assert all((one == one[:, :1]).all() for one in hands)
        # In the air it is nobody's, and at no time both have it.
        had = hands[0][:, 0].astype(int) + hands[1][:, 0]
        assert set(had.tolist()) == {0, 1}
    m = coarse.model
    nc = m.layout.num_contacts
    keys = np.tile(coarse.start, (m.num_keys, 1))
    leads = np.isin(np.arange(nc), [0, 1, 2, 6, 7, 8])
    _, is_on = round_contacts(coarse, keys, leads)
    np.testing.assert_array_equal(is_on, coarse.allowed & leads)
    errors = np.zeros(is_on.shape)
    errors[np.argwhere(is_on[:, 0])[0, 0], 0] = 5.0
    assert other_schedules(coarse, is_on, errors) == []
    assert not has_unstable_hold(coarse, is_on)
    # Where there is a table, nobody need hold the body all the time.
    ball = replace(load_scene("pick_ball"), touches=(TouchSpan("right", 1.0, 2.0),))
    assert not ContactInvariant().ready(ball)[0].in_spans.any()


def test_skin_bulges_alike_with_and_without_an_arm():
    free, whole = hw.human(), hw.human(arm=True)
    bulge = dict(zip(free.capsules.names, skin_bulge(free), strict=True))
    with_arm = dict(zip(whole.capsules.names, skin_bulge(whole), strict=True))
    digits = [name for name in bulge if name.endswith(("_distal", "_intermediate", "_proximal"))]
    assert len(digits) > 10
    for name in digits:
        assert with_arm[name] == pytest.approx(bulge[name], abs=2e-4)


def test_the_gap_of_skin_over_a_capsule_is_seen(transcription):
    m = transcription.model
    keys = np.tile(transcription.start, (m.num_keys, 1))
    assert not fit_skin(transcription, keys).excess.any()
    keys[2, m.layout.first_contact + 1] = 1.0
    # The ball is far below the hand: no skin is near, so there is nothing to fit.
    assert not fit_skin(transcription, keys).excess.any()
    tip = int(m.contacts.capsules[m.contacts.first[1]])
    place = _tip_place(transcription, transcription.hands[0])
    own, seen = [], []
    for height in (-0.001, 0.001):
        near = keys.copy()
        near[:, m.layout.body_position] = place - [0.0, 0.0, 0.035 + height]
        found = fit_skin(transcription, near)
        own.append(found.excess[tip])
        seen.append((found.gap, found.depth))
    # How far the ball is changes how near all is, and not how well skin and capsule agree.
    assert own[0] == pytest.approx(own[1], abs=3e-4)
    assert seen[0] == pytest.approx((0.0, 0.001), abs=4e-4)
    assert seen[1] == pytest.approx((0.001, 0.0), abs=4e-4)


def test_a_capsule_that_stands_out_of_the_skin_is_fitted_to_it(transcription):
    m = transcription.model
    tip = int(m.contacts.capsules[m.contacts.first[1]])
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[2, m.layout.first_contact + 1] = 1.0
    keys[:, m.layout.body_position] = _tip_place(transcription, transcription.hands[0]) - [
        0.0,
        0.0,
        0.035,
    ]
    plain = fit_skin(transcription, keys).excess[tip]
    radius = m.skeleton.radius + np.where(np.arange(len(m.skeleton.radius)) == tip, 0.001, 0.0)
    thick = transcription._replace(model=with_radius(m, radius))
    assert fit_skin(thick, keys).excess[tip] == pytest.approx(plain + 0.001, abs=1e-9)
    fitted = transcription._replace(
        model=with_radius(m, m.skeleton.radius - fit_skin(transcription, keys).excess)
    )
    assert fit_skin(fitted, keys).excess[tip] == pytest.approx(0.0, abs=1e-9)


def _tip_place(transcription, hand):
    """Lowest vertex of the skin over the index finger's last capsule, at the start."""
    from handwright.kinematics.skin.samples import vertex_capsules
    from handwright.kinematics.skin.skinning import posed_skin

    skin = skin_of(hand.model)
    number = hand.model.capsules.names.index("index_distal")
    places = posed_skin(hand.model, skin, hand.q, hand.root)
    mine = places[vertex_capsules(hand.model, skin) == number]
    return mine[mine[:, 2].argmin()]
