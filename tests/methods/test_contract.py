"""What every method must do, whatever it does."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from corpus import new_process, problem_of, solved

from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Status
from handwright.core.track import still
from handwright.errors import InvalidValueError
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.math.pose import Pose
from handwright.methods import METHODS, Method
from handwright.synthesis import synthesize

TIMES = np.linspace(0.0, 0.5, 16)
TINY_FINGERS = Path(__file__).parents[1] / "fixtures" / "tiny_fingers"


PROBLEMS = {
    "scripted": "hold_a_ball",
    "sampling": "milk_box_turn",
    "trajopt": "pick_ball",
    "stepwise": "lift_expected",
    "neural": "milk_box_turn",
    "throwing": "toss_heights",
}
"""Problems that a method can solve; others take ``hold_a_ball``."""
SETTINGS = {
    "sampling": {"num_solutions": 3, "time_budget": 600.0},
    "trajopt": {"num_solutions": 1, "time_budget": 600.0},
    "neural": {"model": str(TINY_FINGERS), "time_budget": 600.0},
}
UNCERTIFIED = {"scripted"}
"""Methods that carry nothing, so that the verb refuses their motions."""
SEED = 0


def method_of(name):
    if name == "neural" and find_spec("onnxruntime") is None:
        pytest.skip("the extra neural is not installed")
    return METHODS[name](**SETTINGS.get(name, {}))


@cache
def fresh(name):
    """What a method gives in this process, and the clips that a watcher was told of."""
    told = []
    problem = problem_of(PROBLEMS.get(name, "hold_a_ball"))
    result = synthesize(
        problem,
        method_of(name),
        seed=SEED,
        on_progress=lambda progress: told.extend(progress.clips),
        certify=name not in UNCERTIFIED,
    )
    return problem, result, told


@pytest.fixture
def hold_a_ball():
    return problem_of("hold_a_ball")


@pytest.mark.parametrize("name", METHODS)
class TestEveryMethod:
    def test_it_is_listed_under_its_own_name(self, name):
        method = METHODS[name]()
        assert isinstance(method, Method)
        assert method.name == name
        assert METHODS[name].__doc__

    def test_it_gives_a_valid_clip_that_says_how_it_was_made(self, name):
        problem, result, told = fresh(name)
        certify = name not in UNCERTIFIED
        assert result.status is Status.SOLVED
        judged = result.clips if certify else ()
        assert [one.passed for one in result.certificates] == [True] * len(judged)
        assert result.best.provenance.is_certified == certify
        # Those who watch are told of every clip once, stamped as in the result.
        assert sorted(map(id, told)) == sorted(map(id, result.clips))
        made = result.best.provenance
        assert (made.scene, made.method, made.seed) == (problem.name, name, SEED)
        assert made.version
        assert result.timings["total"] >= 0.0
        np.testing.assert_array_equal(result.best.times, problem.times)

    def test_the_same_seed_gives_the_same_bytes(self, name):
        """Also in another process, which nobody watches, and in which sets have another order."""
        problem, result, _ = fresh(name)
        again = solved(problem.name, method_of(name), SEED, by=new_process)
        for one, two in zip(result.clips, again.clips, strict=True):
            for hand in problem.hands:
                assert one.hands[hand].q.tobytes() == two.hands[hand].q.tobytes()
            assert one.contacts.force.tobytes() == two.contacts.force.tobytes()

    def test_what_it_cannot_do_is_a_status_not_a_crash(self, name):
        floating = Problem("no_tracks", TIMES, {"hand": trident()}, {"ball": make_shape("sphere")})
        result = synthesize(floating, METHODS[name]())
        assert not result.status.is_success
        assert result.clips == ()
        assert len(result.message) > 20
        with pytest.raises(NoSolutionError) as caught:
            synthesize(floating, METHODS[name](), throw=True)
        assert caught.value.result.status is result.status


def test_scripted_fingers_go_from_pose_to_pose(hold_a_ball):
    clip = synthesize(
        hold_a_ball, METHODS["scripted"](pose="open", end_pose="closed"), certify=False
    ).best
    model, q = hold_a_ball.hands["hand"], clip.hands["hand"].q
    np.testing.assert_allclose(q[0], model.pose("open"))
    np.testing.assert_allclose(q[-1], model.pose("closed"))
    np.testing.assert_allclose(np.diff(q, axis=0), np.diff(q, axis=0)[:1].repeat(15, 0), atol=1e-12)


def test_tracks_at_other_times_are_followed(hold_a_ball):
    coarse = still(
        Pose(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0])), np.array([0.0, 0.5])
    )
    from dataclasses import replace

    problem = replace(hold_a_ball, tracks={**hold_a_ball.tracks, "ball": coarse})
    clip = synthesize(problem, METHODS["scripted"](), certify=False).best
    np.testing.assert_allclose(clip.bodies["ball"].position, [[0.0, 0.0, 1.0]] * len(TIMES))


def test_wrong_arguments_are_refused(hold_a_ball):
    with pytest.raises(InvalidValueError, match="expected an object such as"):
        synthesize(hold_a_ball, "scripted")
    with pytest.raises(InvalidValueError, match="Seed is -1"):
        synthesize(hold_a_ball, METHODS["scripted"](), seed=-1, certify=False)
