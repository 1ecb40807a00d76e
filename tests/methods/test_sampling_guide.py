"""Motions that stay near a guide, and what the search is told about one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

from handwright.core.clip import HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.result import Status
from handwright.errors import InvalidValueError
from handwright.evidence import certify
from handwright.io.clip.file import load_clip, save_clip
from handwright.kinematics import posed_tips
from handwright.methods import ContactSampling
from handwright.methods.provenance import method_of
from handwright.methods.sampling.constraints.guide import guide_postures
from handwright.methods.sampling.search.beginnings import Beginnings
from handwright.methods.sampling.search.workspace import make_path
from handwright.methods.sampling.setup.guidance import candidate_favour
from handwright.methods.sampling.setup.prepare import prepare
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

SCENE = "milk_box_turn"
ONE = ContactSampling(num_solutions=1, time_budget=600.0)


@pytest.fixture(scope="module")
def box():
    return load_scene(SCENE)


@pytest.fixture(scope="module")
def guide():
    return solved(SCENE, ONE, seed=11).clips[0]


@pytest.fixture(scope="module")
def guided(box, guide):
    result = synthesize(box, ONE.guided_by(guide), seed=0)
    assert result.status is Status.SOLVED, result.message
    return result.best


@pytest.fixture(scope="module")
def hold(box, guide):
    return prepare(box, ONE.guided_by(guide))[0]


def tips(clip):
    (model,), (motion,) = clip.problem.hands.values(), clip.hands.values()
    return posed_tips(model, motion.q, motion.root).position


def with_postures(clip, q):
    (name,) = clip.hands
    return replace(clip, hands={name: HandMotion(clip.hands[name].root, q)})


def at_times(clip, times):
    """The same motion at other times, without contacts."""
    (name,), (body,) = clip.hands, clip.bodies
    q = [np.interp(times, clip.times, column) for column in clip.hands[name].q.T]
    return replace(
        clip,
        times=times,
        hands={name: HandMotion(clip.problem.track(name).at(times), np.stack(q, axis=1))},
        bodies={body: clip.problem.track(body).at(times)},
        contacts=ContactTrack.empty(),
    )


def test_a_guided_motion_is_certified_and_far_nearer_to_its_guide(guide, guided):
    assert certify(guided).passed
    plain = solved(SCENE, ONE, seed=0).clips[0]
    away, unguided = (
        np.linalg.norm(tips(clip) - tips(guide), axis=-1).mean() for clip in (guided, plain)
    )
    assert away < 0.008
    assert away < 0.7 * unguided


def test_a_guided_motion_touches_with_the_digits_of_its_guide(box, guide):
    # The guide's little finger is sent off the body: so is that of the motion.
    away = guide.hands["right"].q.copy()
    (model,) = box.hands.values()
    little = next(digit for digit in model.digits if digit.name == "little")
    own = list(little.joints)
    away[:, own] = model.pose("open")[own]
    result = synthesize(box, ONE.guided_by(with_postures(guide, away)), seed=0)
    q = result.best.hands["right"].q
    assert np.abs(q[:, own] - away[:, own]).mean() < 0.1


def test_a_guide_that_touches_nothing_costs_time_only(box, guide):
    (model,) = box.hands.values()
    spread = np.tile(model.pose("open"), (guide.num_frames, 1))
    result = synthesize(box, ONE.guided_by(with_postures(guide, spread)), seed=0)
    assert result.status is Status.SOLVED, result.message
    assert certify(result.best).passed


def test_a_guided_clip_is_saved_loaded_and_made_again(box, guided, tmp_path):
    (part,) = guided.provenance.guide
    assert (part.hand, part.bodies, part.weight) == ("right", tuple(box.bodies), 1.0)
    save_clip(guided, tmp_path / "guided.npz")
    loaded = load_clip(tmp_path / "guided.npz")
    assert "guide" not in loaded.provenance.settings
    for name in ("times", "wrist", "q"):
        np.testing.assert_array_equal(
            getattr(part, name), getattr(loaded.provenance.guide[0], name)
        )
    again = synthesize(loaded.problem, method_of(loaded.provenance), seed=0).best
    np.testing.assert_array_equal(again.hands["right"].q, guided.hands["right"].q)


def test_a_guide_may_have_any_frame_rate(box, guide, hold):
    fine = at_times(guide, np.linspace(guide.times[0], guide.times[-1], 3 * guide.num_frames + 1))
    q = guide_postures(ONE.guided_by(fine).guide, hold.interval, hold.times)
    np.testing.assert_allclose(q, hold.data.comfortable, atol=0.02)


def test_guides_of_other_problems_are_refused(box, guide):
    def message(clip, problem=box):
        with pytest.raises(InvalidValueError) as caught:
            synthesize(problem, ONE.guided_by(clip), seed=0)
        return str(caught.value)

    other = solved("mug", ONE, seed=0).clips[0]
    assert "The guide has no 'milk_box'" in message(other)
    (part,) = ONE.guided_by(guide).guide
    for changed, words in (
        ({"q": part.q[:, :-1]}, "joints for hand 'right'; expected"),
        ({"times": part.times + 50.0}, "Give guided_by a motion of the whole problem"),
        ({"wrist": part.wrist + 0.2}, "Give guided_by a motion on the same tracks"),
        ({"hand": "left"}, "The guide has no 'right'"),
    ):
        with pytest.raises(InvalidValueError, match=words):
            synthesize(box, replace(ONE, guide=(replace(part, **changed),)), seed=0)
    for weight in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidValueError, match="weight"):
            ONE.guided_by(guide, weight=weight)


def test_contacts_of_a_guide_are_found_where_its_digits_touch(guide, hold):
    (body,) = guide.bodies
    contacts, (model,) = guide.contacts, guide.problem.hands.values()
    found, start = hold.policy.guide, hold.start
    local = guide.bodies[body].inverse()[contacts.frame].apply(contacts.point)
    loaded = np.linalg.norm(contacts.force, axis=1) > 0.2
    checked = 0
    for n in np.flatnonzero(loaded & (contacts.toucher == 0)):
        t, part = contacts.frame[n] - start, contacts.part[n]
        digit = model.capsules.digit[part]
        if not 0 <= t < len(found.touches) or model.capsules.link[part] != found.link[t, digit]:
            continue
        assert found.touches[t, digit]
        checked += np.linalg.norm(found.point[t, digit] - local[n]) < 5e-3
    assert checked > 50


def test_candidates_near_the_guides_contacts_are_favoured(hold):
    favour = candidate_favour(hold.policy.guide, hold.candidates)
    away = np.linalg.norm(hold.candidates.point - hold.policy.guide.point[0, 0], axis=1)
    assert favour[0, away < 2e-3, 0].min(initial=1.0) > 0.5
    assert favour[0, away > 0.04, 0].max() < 0.01
    # Soft: a place is never out of the question.
    assert favour.min() > 0.0


def test_a_search_goes_on_from_far_ahead_and_then_from_earlier(hold):
    path, known = make_path(hold.searched, 30), Beginnings()
    for frame in (6, 12, 24):
        path.q[: frame + 1] = frame
        known.add(path, frame)
    path.q[:] = 0.0
    frames = [known.restore(path) for _ in range(60)]
    assert frames[0] == 24
    assert path.q[0, 0] in (6.0, 12.0, 24.0)
    assert {12, 6, -1} <= set(frames)
    assert frames.count(24) > frames.count(12) > frames.count(6)
    known.forget(12)
    assert {known.restore(path) for _ in range(60)} <= {6, -1}
