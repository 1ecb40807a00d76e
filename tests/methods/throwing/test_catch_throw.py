"""Catching and throwing as a method: problems, certificates, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.events import Toss
from handwright.core.result import Status
from handwright.errors import FileFormatError, InvalidValueError
from handwright.io.clip.file import load_clip, save_clip
from handwright.math.pose import Pose
from handwright.methods import default_method
from handwright.methods.throwing.method import CatchThrow
from handwright.scenes import load_scene, read_problem
from handwright.scenes.catalogue import TOSSES, toss_scenes

HEIGHTS = load_scene("toss_heights")


@pytest.mark.parametrize("name", sorted(toss_scenes()))
def test_scenes_are_solved_and_certified(name):
    problem = load_scene(name)
    assert default_method(problem) == "throwing"
    result = hw.synthesize(problem, CatchThrow(), seed=0)
    assert result.status is Status.SOLVED, result.message
    certificate = result.certificates[0]
    assert certificate.passed
    assert "soft_tissue 3 mm" in certificate.verdict


def test_heights_are_reached():
    problem = load_scene("toss_heights")
    clip = hw.synthesize(problem, CatchThrow(), seed=0).best
    z = clip.bodies["ball"].position[:, 2]
    peaks = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:]) & (z[1:-1] > z[0] + 0.3)]
    home = problem.start["right"].position[2] - 0.39
    wanted = [toss.height for toss in problem.tosses]
    np.testing.assert_allclose(peaks - home, wanted, atol=0.004)


def test_same_seed_same_motion():
    problem = replace(
        HEIGHTS, times=np.arange(121) / 60.0, tosses=(Toss("right", "ball", height=0.5),)
    )
    one, two = (hw.synthesize(problem, CatchThrow(), seed=1).best for _ in range(2))
    np.testing.assert_array_equal(one.hands["right"].q, two.hands["right"].q)


def test_too_little_time_is_said():
    problem = replace(HEIGHTS, times=HEIGHTS.times[:180])
    result = hw.synthesize(problem, CatchThrow(practice=0), seed=0)
    assert not result.status.is_success
    assert "make it at least" in result.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tosses": (Toss("right", "ball", height=3.0),)}, "asks for 3 m"),
        ({"bodies": {"ball": {"mass": 5.0}}}, "'ball' has 5"),
        ({"bodies": {"ball": {"friction": 0.0}}}, "slips out"),
        ({"bodies": {"ball": {"radius": 0.09}}}, "closes around"),
        ({"start": {}}, "needs a start of 'right'"),
        ({"start": {"right": Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}}, "looks ahead"),
        ({"gravity": np.array([0.0, 0.0, -1.62])}, "gravity of 9.81"),
    ],
)
def test_what_cannot_be_thrown_is_refused_with_a_reason(change, said):
    given = dict(change)
    if "bodies" in given:
        parts = given["bodies"]["ball"]
        made = hw.make_shape(
            "sphere", radius=parts.get("radius", 0.03), mass=parts.get("mass", 0.1)
        )
        given["bodies"] = {"ball": replace(made, friction=parts.get("friction", 0.8))}
    result = hw.synthesize(replace(HEIGHTS, **given), CatchThrow(), seed=0)
    assert result.status is Status.BAD_INPUT
    assert said in result.message


def test_robots_and_bare_hands_do_not_throw():
    problem = replace(HEIGHTS, hands={"right": hw.human("right")}, postures={})
    assert "human hand with its arm" in CatchThrow().lacks(problem)


def test_a_toss_has_a_height_or_a_surface():
    with pytest.raises(InvalidValueError, match="expected one of them"):
        Toss("right", "ball")
    with pytest.raises(InvalidValueError, match="above 0"):
        Toss("right", "ball", height=float("nan"))


def test_problem_files_name_the_line_of_a_wrong_toss(tmp_path):
    text = (TOSSES / "toss_at_box.yaml").read_text()
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace("box: 0}", "box: 3}", 1))
    with pytest.raises(FileFormatError, match=r"line \d+, tosses\[0\].*surroundings have 1"):
        read_problem(path)


def test_clips_keep_their_tosses(tmp_path):
    problem = replace(
        HEIGHTS, times=np.arange(121) / 60.0, tosses=(Toss("right", "ball", height=0.5),)
    )
    result = hw.synthesize(problem, CatchThrow(), seed=0)
    save_clip(result.best, tmp_path / "a.npz")
    assert load_clip(tmp_path / "a.npz").problem.tosses == problem.tosses


def test_boxes_are_of_one_size():
    problem = load_scene("toss_at_box")
    box = problem.environment[0]
    other = replace(box, half_extents=2.0 * box.half_extents)
    tosses = (problem.tosses[0], replace(problem.tosses[0], surface=1))
    problem = replace(problem, environment=(box, other), tosses=tosses)
    assert "that of toss 1 differs" in CatchThrow().lacks(problem)
