"""Every scene's tracks: as they are made, at rest where they should be, and human."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import handwright as hw
from handwright.errors import UnknownNameError
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.math import rotation
from handwright.scenes import catalogue, load_scene
from tools.scenes import make
from tools.scenes.files import load_holds, load_person
from tools.scenes.problem_text import problem_text
from tools.scenes.registry import SCENES

FRAMES = {
    "milk_box_turn": 71,
    "milk_box_pickup": 101,
    "spatula": 226,
    "wine_pot": 120,
    "small_box_two_hands": 141,
}
EVERY = pytest.mark.parametrize("name", list(SCENES))


def poses_of(name: str):
    problem = load_scene(name)
    return problem, {key: problem.track(key).pose for key in (*problem.hands, *problem.bodies)}


def gap_at(problem, name: str, frame: int) -> float:
    """Gap of the lowest corner of a body to the surroundings, m."""
    vertices = problem.track(name).pose[frame].apply(problem.bodies[name].vertices)
    return min(surface_distance(s, vertices)[0].min() for s in problem.environment)


def test_the_wanted_scenes_are_there():
    named = {"bottle_turn_on_table", "paper_cup_twirl", "big_box_two_hands", "bunny_like", "mug"}
    named |= {"mug_by_handle", "beaker_by_rim"}
    assert set(SCENES) == {*FRAMES, *named, "cooking"}
    assert list(hw.SCENES) == list(SCENES)
    assert {name: hw.SCENES[name].num_frames for name in FRAMES} == FRAMES
    assert hw.SCENES is catalogue.track_scenes()
    # A file that is not in the table would be loaded, but never listed.
    assert {path.stem for path in catalogue.TRACKS.glob("*.yaml")} == set(SCENES)
    assert sum(file.stat().st_size for file in catalogue.TRACKS.iterdir()) < 1_000_000


def test_an_unknown_scene_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'milk_box_turn'.*spatula"):
        hw.load_scene("milk_box_trun")
    with pytest.raises(UnknownNameError, match="nowhere"):
        make.main(["nowhere"])


@EVERY
def test_the_problem_is_what_the_table_says(name):
    scene, problem = hw.SCENES[name], hw.load_scene(name)
    assert scene.summary == SCENES[name].summary
    assert problem.name == name
    assert len(problem.times) == scene.num_frames
    assert np.allclose(np.diff(problem.times), 1.0 / 30.0)
    assert tuple(problem.hands) == scene.hands
    assert all(problem.hands[side].side == side for side in scene.hands)
    assert tuple(problem.bodies) == scene.bodies
    assert set(problem.tracks) == {*scene.hands, *scene.bodies}
    assert problem.environment


@EVERY
def test_the_data_is_what_the_code_makes(name):
    made = SCENES[name].make_tracks(load_holds())
    stored = load_scene(name).tracks
    assert set(made) == set(stored)
    # Angles and lengths of a BVH file are rounded; numbers of machines differ in the last bits.
    slack = 1e-7 if SCENES[name].make_person else 1e-12
    for key, track in made.items():
        assert np.abs(track.pose.position - stored[key].pose.position).max() < slack
        apart = rotation.angle(track.pose.wxyz, stored[key].pose.wxyz)
        assert apart.max() < max(slack, 1e-7)


def leaves(value, place=()):
    """Numbers and words of a file by where they stand in it."""
    if not isinstance(value, dict | list):
        return {place: value}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return {at: leaf for key, item in pairs for at, leaf in leaves(item, (*place, key)).items()}


@EVERY
def test_the_problem_file_is_what_the_code_makes(name):
    stored = leaves(yaml.safe_load(hw.SCENES[name].path.read_text(encoding="utf-8")))
    made = leaves(yaml.safe_load(problem_text(SCENES[name])))
    # Numbers of machines differ in the last bits.
    assert made == {
        place: pytest.approx(leaf, rel=1e-9, abs=1e-15) if isinstance(leaf, float) else leaf
        for place, leaf in stored.items()
    }


def test_made_files_are_read_again(tmp_path):
    make.main(["milk_box_turn", "cooking"], tmp_path)
    for name in ("milk_box_turn", "cooking"):
        made, stored = hw.read_problem(tmp_path / f"{name}.yaml"), hw.load_scene(name)
        assert np.array_equal(made.times, stored.times)
        assert list(made.tracks) == list(stored.tracks)
        for key, track in made.tracks.items():
            # A BVH file has six digits.
            assert np.abs(track.pose.position - stored.tracks[key].pose.position).max() < 1e-6


@EVERY
def test_bodies_stand_on_something_until_they_are_held(name):
    problem = load_scene(name)
    count = len(problem.times)
    for body in problem.bodies:
        assert min(gap_at(problem, body, t) for t in range(0, count, 5)) > -1e-9
        spans = [span for span in SCENES[name].spans if span.body == body]
        first = min(span.first for span in spans)
        last = max(span.last for span in spans)
        pose = problem.track(body).pose
        # At rest, to the last bit, until the wrist has been there for four frames.
        assert np.ptp(pose.position[: first + 4], axis=0).max() == 0.0
        assert np.ptp(pose.wxyz[: first + 4], axis=0).max() == 0.0
        assert np.ptp(pose.position[last - 1 :], axis=0).max() < 1e-12
        assert gap_at(problem, body, 0) < 1e-4
        assert gap_at(problem, body, count - 1) < 1e-4


@EVERY
def test_bodies_move_smoothly_and_moderately(name):
    problem = load_scene(name)
    for body in problem.bodies:
        acceleration = np.diff(problem.track(body).pose.position, 2, axis=0) * 900.0
        assert np.linalg.norm(acceleration, axis=1).max() < 4.0
        # Acceleration is continuous: no step of it is larger than a fast human movement's.
        assert np.linalg.norm(np.diff(acceleration, axis=0), axis=1).max() < 1.6


@EVERY
def test_wrists_do_not_jump(name):
    problem = load_scene(name)
    for hand in problem.hands:
        pose = problem.track(hand).pose
        acceleration = np.diff(pose.position, 2, axis=0) * 900.0
        assert np.linalg.norm(acceleration, axis=1).max() < 9.0
        assert rotation.angle(pose.wxyz[1:], pose.wxyz[:-1]).max() * 30.0 < 9.0


@EVERY
def test_wrist_and_body_turn_against_each_other(name):
    _, poses = poses_of(name)
    for span in SCENES[name].spans:
        frames = slice(span.first, span.last + 1)
        relative = (poses[span.body].inverse() @ poses[span.hand])[frames]
        turned = np.degrees(rotation.angle(relative.wxyz, relative.wxyz[:1]))
        if span.twirls:
            assert turned.max() > 120.0
        else:
            assert 4.0 < turned.max() < 40.0
        # Not at a constant rate, for that gives unnatural gaits.
        speed = np.degrees(rotation.angle(relative.wxyz[1:], relative.wxyz[:-1])) * 30.0
        moving = speed[speed > 0.2 * speed.max()]
        assert moving.std() > 0.15 * moving.mean()


@EVERY
def test_hands_come_and_go(name):
    _, poses = poses_of(name)
    for span in SCENES[name].spans:
        away = np.linalg.norm(
            (poses[span.body].inverse() @ poses[span.hand]).position
            - (poses[span.body].inverse() @ poses[span.hand]).position[span.first],
            axis=1,
        )
        assert away[max(span.first - 13, 0)] > 0.04
        assert away[min(span.last + 9, len(away) - 1)] > 0.03


def test_the_cook_is_a_body_with_bones():
    person = load_person("cooking")
    for side in ("Left", "Right"):
        for upper, lower, length in (
            ("Arm", "ForeArm", 0.31),
            ("ForeArm", "Hand", 0.27),
            ("UpLeg", "Leg", 0.425),
            ("Leg", "Foot", 0.405),
        ):
            apart = (
                person.joint_pose(side + upper).position - person.joint_pose(side + lower).position
            )
            assert np.abs(np.linalg.norm(apart, axis=1) - length).max() < 1e-6
        assert np.ptp(person.joint_pose(side + "Foot").position, axis=0).max() < 1e-6
    assert person.joint_pose("Head").position[:, 2].min() > 1.4
