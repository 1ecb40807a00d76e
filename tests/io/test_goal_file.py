"""Files of goals: what they make, and what they say when they cannot."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.errors import FileFormatError, HandwrightError
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.io.goals.file import read_problem, turned
from handwright.io.goals.schema import (
    BodyEntry,
    GoalPart,
    GripPart,
    HandEntry,
    ProblemFile,
    PushPart,
    TouchPart,
    _number,
)
from handwright.math import rotation

WHOLE = """
name: everything
duration: 4.0
fps: 50
hands:
  right:
    model: human
    side: right
    pose: rest
    joints_deg: {index_mcp_flexion: 40}
    start: {position: [0.0, -0.1, 0.95], turn_deg: [10, 20, 30]}
  claw: {model: trident, start: {position: [1, 2, 3]}}
bodies:
  ball:
    shape: sphere
    size: {radius: 0.02}
    mass: 0.15
    friction: 0.9
    start: {position: [0, 0, 0.77], wxyz: [0.707, 0, 0, 0.707]}
  lump: {mesh: lump.obj, scale: 0.001, mass: 0.2, start: {position: [0.3, 0, 0.8]}}
environment:
  - plane: {normal: [0, 0, 2], offset: 0.75, friction: 0.5}
  - box: {position: [0.1, 0, 0.8], half_extents: [0.01, 0.02, 5e-2], turn_deg: [0, 0, 90]}
goals:
  - {of: ball, from: 2.5, to: 4.0, position: [0, 0, 1], turn_deg: [0, 90, 0], weight: 0.5}
  - {of: ball, from: 0, to: 4, wxyz: [1, 0, 0, 0], spin_deg_s: [0, 0, 90]}
  - {of: right.thumb_tip, at: 2.5, position: [0, 0, 0.02], relative_to: ball}
  - {of: lump, point: [0.06, 0, 0], path: [[1, 0, 0, 1], [2.5, 0.1, 0, 1]]}
touches:
  - {hand: right, from: 0.5, to: 2.0}
grips:
  - hand: right
    body: ball
    style: precision
    start: 0.2
    held: 1.5
    believed_mass: 0.5
    believed_friction: 2
    response: 0.3
    at: [0.01, 0, 0]
  - {hand: claw, body: lump, style: power}
pushes:
  - {on: ball, from: 2, to: 2.5, force: [0, 0, -3], at: [0, 0.02, 0]}
  - {on: lump, from: 0, to: 4, force: [1, 0, 0]}
cyclic: true
"""


@pytest.fixture
def folder(tmp_path):
    cube = np.array([(x, y, z) for x in (0, 40) for y in (0, 40) for z in (0, 40)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = [f"v {x} {y} {z}" for x, y, z in cube]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c, _ in faces]
    lines += [f"f {a + 1} {c + 1} {d + 1}" for a, _, c, d in faces]
    (tmp_path / "lump.obj").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def read(folder):
    def reader(text: str):
        (folder / "goals.yaml").write_text(textwrap.dedent(text))
        return read_problem(folder / "goals.yaml")

    return reader


@pytest.fixture
def complaints(read):
    def reader(text: str) -> list[str]:
        with pytest.raises(FileFormatError) as caught:
            read(text)
        first, *rest = str(caught.value).splitlines()
        assert first.endswith("goals.yaml: this problem file cannot be used:")
        return [line.removeprefix("  - ") for line in rest]

    return reader


def test_everything_that_can_be_said_comes_through(read):
    problem = read(WHOLE)
    assert problem.name == "everything"
    np.testing.assert_allclose(problem.times, np.arange(201) / 50.0, atol=1e-12)
    assert {name: model.name for name, model in problem.hands.items()} == {
        "right": "human_right",
        "claw": "trident",
    }
    wanted = human().pose("rest").copy()
    wanted[human().joints.index("index_mcp_flexion")] = np.radians(40.0)
    np.testing.assert_allclose(problem.posture("right"), wanted)
    np.testing.assert_array_equal(problem.posture("claw"), trident().pose("open"))
    np.testing.assert_array_equal(problem.start["right"].position, [0.0, -0.1, 0.95])
    np.testing.assert_array_equal(problem.start["claw"].wxyz, [1.0, 0.0, 0.0, 0.0])
    # Rounded by hand, made a unit quaternion.
    np.testing.assert_allclose(rotation.log(problem.start["ball"].wxyz), [0, 0, np.pi / 2])
    ball, lump = problem.bodies["ball"], problem.bodies["lump"]
    assert (ball.name, ball.mass, ball.friction) == ("ball", 0.15, 0.9)
    np.testing.assert_allclose(ball.bounds[1] - ball.bounds[0], 0.04, rtol=0.01)
    assert (lump.name, lump.mass) == ("lump", 0.2)
    np.testing.assert_allclose(lump.bounds[1] - lump.bounds[0], 0.04)
    assert problem.is_cyclic
    (touch,) = problem.touches
    assert (touch.hand, touch.start, touch.end) == ("right", 0.5, 2.0)
    assert dict(problem.tracks) == {}
    taken, usual = problem.grips
    assert (taken.hand, taken.body, taken.style) == ("right", "ball", "precision")
    assert (taken.start, taken.held, taken.response) == (0.2, 1.5, 0.3)
    assert (taken.believed_mass, taken.believed_friction) == (0.5, 2.0)
    np.testing.assert_array_equal(taken.at, [0.01, 0.0, 0.0])
    assert (usual.start, usual.held, usual.response) == (0.0, 0.0, 0.75)
    assert (usual.believed_mass, usual.believed_friction, usual.at) == (1.0, 1.0, None)
    first, second = problem.pushes
    assert (first.body, first.start, first.end) == ("ball", 2.0, 2.5)
    np.testing.assert_array_equal(first.force, [0.0, 0.0, -3.0])
    np.testing.assert_array_equal(first.point, [0.0, 0.02, 0.0])
    np.testing.assert_array_equal(second.point, np.zeros(3))


def test_surroundings_come_through(read):
    plane, box = read(WHOLE).environment
    assert isinstance(plane, HalfSpace)
    assert isinstance(box, EnvironmentBox)
    np.testing.assert_array_equal(plane.normal, [0.0, 0.0, 1.0])
    assert (plane.offset, plane.friction, box.friction) == (0.75, 0.5, 0.6)
    np.testing.assert_array_equal(box.half_extents, [0.01, 0.02, 0.05])
    np.testing.assert_allclose(rotation.log(box.pose.wxyz), [0, 0, np.pi / 2], atol=1e-12)


def test_goals_for_single_axes_and_velocities_come_through(read):
    rise, upright = read(
        TOP
        + """goals:
  - {of: ball, from: 0.2, to: 1, velocity: [0, 0, 0.1], axes: z}
  - {of: ball, from: 0.5, to: 1, turn_deg: [0, 90, 0], axis: [0, 0, 1]}
"""
    ).goals
    np.testing.assert_array_equal(rise.velocity, [0.0, 0.0, 0.1])
    assert (rise.axes, rise.position, upright.axes) == ("z", None, "xyz")
    np.testing.assert_array_equal(upright.axis, [0.0, 0.0, 1.0])


def test_goals_come_through_and_a_path_is_one_goal_a_moment(read):
    held, spun, press, first, second = read(WHOLE).goals
    assert (held.feature.owner, held.start, held.end, held.weight) == ("ball", 2.5, 4.0, 0.5)
    np.testing.assert_allclose(rotation.log(held.wxyz), [0, np.pi / 2, 0], atol=1e-12)
    np.testing.assert_allclose(spun.spin, [0, 0, np.pi / 2])
    assert spun.position is None
    assert (press.feature.owner, press.feature.frame) == ("right", "thumb_tip")
    assert (press.start, press.end, press.relative_to) == (2.5, 2.5, "ball")
    for goal, time, place in ((first, 1.0, [0, 0, 1]), (second, 2.5, [0.1, 0, 1])):
        assert (goal.start, goal.end, goal.wxyz) == (time, time, None)
        np.testing.assert_array_equal(goal.position, place)
        np.testing.assert_array_equal(goal.feature.point, [0.06, 0, 0])


@pytest.mark.parametrize("degrees", [(30, 0, 0), (10, 20, 30), (-170, 80, 45)])
def test_turns_are_about_fixed_axes_in_the_order_x_y_z(degrees):
    ours = rotation.to_matrix(turned(degrees))
    # Lower-case letters are fixed axes in scipy.
    np.testing.assert_allclose(ours, Rotation.from_euler("xyz", degrees, True).as_matrix())


HANDS = "hands:\n  right: {model: human, side: right, start: {position: [0, 0, 1]}}\n"
BODIES = "bodies:\n  ball: {shape: sphere, start: {position: [0, 0, 1]}}\n"
TOP = f"name: a\nduration: 1\n{HANDS}{BODIES}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ["line 1: is 'None'; expected keys with values: name, duration, fps, hands,"]),
        ("name: a\nhands: {}\n", ["line 1: expected tracks, or duration and goals"]),
        ("name: 3\nduration: x\nhands: 7\ngoals: 5\n",
         ["line 1, name: is '3'; expected text", "line 2, duration: is 'x'; expected a number",
          "line 3, hands: is '7'; expected names with values",
          "line 4, goals: is '5'; expected a list"]),
        (TOP + "goals: []\ncyclc: true\n",
         ["line 1: Unknown key 'cyclc'. Did you mean 'cyclic'?"]),
        (TOP + "goals: []\ncyclic: maybe\n",
         ["line 8, cyclic: is 'maybe'; expected true or false"]),
        (TOP + "goals: []\nfps: 0.7\n", ["line 1: duration is 1.0 s, which is 0.7 steps"]),
        (TOP + "goals: []\nfps: 1e9\n", ["expected both above zero and at most 100000 frames"]),
        (TOP.replace("[0, 0, 1]", "[0, .inf, 1]", 1) + "goals: []\n",
         ["line 4, hands.right.start.position: is \"[0, '.inf', 1]\"; expected 3 numbers, m"]),
        (TOP.replace("1]}", "1], wxyz: [1, 1, 0, 0]}", 1) + "goals: []\n",
         ["line 4, hands.right.start.wxyz: ", "expected a unit quaternion", "norm is 1.414"]),
        (TOP.replace("1]}", "1], wxyz: [1, 0, 0, 0], turn_deg: [0, 0, 0]}", 1) + "goals: []\n",
         ["line 4, hands.right.start: expected wxyz or turn_deg, not both"]),
        (TOP.replace("side: right", "side: middle") + "goals: []\n",
         ["line 4, hands.right.side: is 'middle'; expected right, left or none"]),
        (TOP.replace("side: right", "mapping: shadow") + "goals: []\n",
         ["line 4, hands.right: mapping is given with model 'human'"]),
        (TOP.replace("side: right, ", "") + "goals: []\n",
         ["line 4, hands.right: Unknown hand 'human'.", "human (with side: right or left)"]),
        (TOP.replace("human", "human_left") + "goals: []\n",
         ["line 4, hands.right: side is 'right', but the hand 'human_left' has 'left'"]),
        (TOP.replace("human", "robot.xml") + "goals: []\n",
         ["line 4, hands.right: model is the robot file 'robot.xml', which cannot be read here"]),
        (TOP.replace("side: right", "side: right, pose: opn") + "goals: []\n",
         ["line 4, hands.right: Unknown pose of hand 'human_right' 'opn'. Did you mean 'open'?"]),
        (TOP.replace("side: right", "side: right, joints_deg: {index_mcp_flexion: 120}")
         + "goals: []\n",
         ["line 4, hands.right: joints_deg gives 'index_mcp_flexion' 120 degrees; expected -30.0"]),
        (TOP.replace("shape: sphere", "shape: spere") + "goals: []\n",
         ["line 6, bodies.ball: Unknown shape 'spere'. Did you mean 'sphere'?"]),
        (TOP.replace("shape: sphere", "shape: sphere, size: {radus: 1}") + "goals: []\n",
         ["line 6, bodies.ball: Shape 'sphere' has no dimension 'radus'"]),
        (TOP.replace("shape: sphere", "shape: sphere, size: {name: 1}") + "goals: []\n",
         ["line 6, bodies.ball: Shape 'sphere' has no dimension 'name'"]),
        (TOP.replace("shape: sphere", "shape: sphere, mass: 2, size: {mass: 1}") + "goals: []\n",
         ["line 6, bodies.ball: mass is 2 and again 1 in size"]),
        (TOP.replace("shape: sphere", "mesh: a.obj, shape: box") + "goals: []\n",
         ["line 6, bodies.ball: expected one of shape and mesh"]),
        (TOP.replace("shape: sphere", "mesh: lump.obj, size: {radius: 1}") + "goals: []\n",
         ["line 6, bodies.ball: expected a size with a shape only; give scale to a mesh"]),
        (TOP.replace("shape: sphere", "mesh: none.obj") + "goals: []\n",
         ["line 6, bodies.ball: There is no file", "none.obj"]),
        (TOP.replace("shape: sphere", "shape: sphere, mass: -1") + "goals: []\n",
         ["line 6, bodies.ball: ", "mass"]),
        (TOP + "environment:\n  - {}\ngoals: []\n",
         ["line 8, environment[0]: expected one of plane and box"]),
        (TOP + "environment:\n  - plane: {normal: [0, 0, 0], offset: 1}\ngoals: []\n",
         ["line 8, environment[0]: HalfSpace normal is [0.0, 0.0, 0.0]"]),
        (TOP + "goals: []\npushes:\n  - {on: ball, from: 0, to: 1, force: [1, 2]}\n",
         ["line 9, pushes[0].force: is '[1, 2]'; expected 3 numbers, N"]),
        (TOP + "goals: []\ngrips:\n  - {hand: right, body: ball}\n",
         ["line 9, grips[0].style: is missing"]),
        (TOP + "goals: []\ngrips:\n  - {hand: right, body: ball, style: power, mass: 1}\n",
         ["line 9, grips[0]: ", "'mass'", "believed_mass"]),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_and_what_was_expected(complaints, text, wanted):
    told = "\n".join(complaints(text))
    for part in wanted:
        assert part in told


def test_all_mistakes_in_goals_are_told_at_once(complaints):
    told = complaints(
        TOP
        + """\
goals:
  - {of: ball, at: 5, position: [0, 0, 0]}
  - {of: right.thum, at: 0.5, position: [0, 0, 0], relative_to: right}
  - {of: cup, from: 1, to: 0.5, wxyz: [1, 0, 0, 0]}
  - {of: ball.tip, at: 0.5, position: [0, 0, 0]}
  - of: ball
    from: 0
    to: 1
    axis: [0, 0, 1]
    position: [0, 0, 0]
  - {of: ball, path: [[0.5, 0, 0, 1], [2, 0, 0, 1], [3, 0, 0, 1]]}
touches:
  - {hand: ball, from: 0, to: 9}
grips:
  - {hand: left, body: cup, style: power, held: 3}
  - {hand: right, body: ball, style: power, start: 0.5, held: 0.2, response: 2}
pushes:
  - {on: cup, from: 0.5, to: 2, force: [0, 0, 1]}
"""
    )
    wanted = [
        "line 8, goals[0]: runs from 5 to 5 s, outside the frames (0 to 1 s)",
        "line 9, goals[1]: is for 'right', which has no frame 'thum' (palm, wrist,",
        "line 9, goals[1]: is relative to 'right', which is no body",
        "line 10, goals[2]: Goal for 'cup': it runs from 1.0 to 0.5 s, expected start <= end.",
        "line 11, goals[3]: is for 'ball', which has no frame 'tip' (it is a body)",
        "line 12, goals[4]: Goal for 'ball': axis needs wxyz",
        "line 17, goals[5]: runs from 2 to 2 s, outside the frames (0 to 1 s)",
        "line 17, goals[5]: runs from 3 to 3 s, outside the frames (0 to 1 s)",
        "line 19, touches[0]: runs from 0 to 9 s, outside the frames (0 to 1 s)",
        "line 19, touches[0]: is for 'ball', which is no hand (hands: right)",
        "line 21, grips[0]: runs from 0 to 3 s, outside the frames (0 to 1 s)",
        "line 21, grips[0]: is for 'left', which is no hand (hands: right)",
        "line 21, grips[0]: is on 'cup', which is no body (bodies: ball)",
        "line 22, grips[1]: Grip of 'right' on 'ball': it starts at 0.5 and holds from 0.2 s, "
        "expected start <= held; response is 2.0, expected 0 to 1.",
        "line 24, pushes[0]: runs from 0.5 to 2 s, outside the frames (0 to 1 s)",
        "line 24, pushes[0]: is on 'cup', which is no body (bodies: ball)",
    ]
    assert len(told) == len(wanted)
    for line, start in zip(told, wanted, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ("position: [0, 0, 1]", "expected one of: at; from and to; path"),
        ("from: 0, position: [0, 0, 1]", "expected one of: at; from and to; path"),
        ("at: 0, from: 0, to: 1, position: [0, 0, 1]", "expected one of: at; from and to; path"),
        ("at: 0, path: [[0, 0, 0, 1]]", "expected one of: at; from and to; path"),
        ("position: [0, 0, 1], path: [[0, 0, 0, 1]]", "expected position or path, not both"),
        ("path: []", "expected at least one entry"),
        ("path: [[0, 0, 1]]", "goals[0].path[0]: is '[0, 0, 1]'; expected 4 numbers, s and m"),
        ("at: 0", "it asks for nothing: give a position, an orientation, a velocity or a spin"),
        ("at: 0, position: [0, 0, 1], axes: up", "axes is 'up', expected some of the letters"),
        ("at: 0, position: [0, 0, 1], axes: 3", "goals[0].axes: is '3'; expected text"),
        ("at: 0, velocity: [0, 1]", "goals[0].velocity: is '[0, 1]'; expected 3 numbers, m/s"),
        ("at: true, position: [0, 0, 1]", "goals[0].at: is 'True'; expected a number"),
        ("at: 0, weight: 0, position: [0, 0, 1]", "weight is 0.0, expected above zero"),
    ],
)
def test_a_goal_has_one_time_and_one_place(complaints, keys, wanted):
    (told,) = complaints(TOP + f"goals:\n  - {{of: ball, {keys}}}\n")
    assert told.startswith("line 8, goals[0]")
    assert wanted in told


def test_a_name_may_have_a_dot_of_its_own(read):
    problem = read(
        TOP.replace("ball:", "a.b:") + "goals:\n  - {of: a.b, at: 0, position: [0,0,1]}\n"
    )
    assert problem.goals[0].feature.owner == "a.b"
    assert problem.goals[0].feature.frame is None


def test_a_name_twice_is_told(complaints):
    (told,) = complaints(TOP.replace("ball:", "right:") + "goals: []\n")
    assert "'right' is both a hand and a body" in told


class TestTheGuide:
    TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "write-goals.md").read_text("utf-8")

    def test_its_example_is_a_problem(self, read):
        example = self.TEXT.split("```yaml\n")[1].split("```")[0]
        problem = read(example)
        assert problem.name == "stand_the_pen_up"
        assert [goal.end for goal in problem.goals] == [2.5, 5.0]

    @pytest.mark.parametrize(
        "part", [ProblemFile, HandEntry, BodyEntry, GoalPart, TouchPart, GripPart, PushPart]
    )
    def test_it_names_every_key(self, part):
        for name, field in part.model_fields.items():
            key = field.alias or name
            assert re.search(rf"`[^`]*\b{key}\b[^`]*`", self.TEXT), key


def test_whole_numbers_beyond_all_floats_are_named():
    with pytest.raises(ValueError, match="expected a number"):
        _number(int("3" * 400))
    assert _number(10**15) == 10**15


def test_an_empty_duration_is_none(tmp_path):
    path = tmp_path / "empty.yaml"
    path.write_text("name: a\nduration:\nhands: {h: {model: trident}}\ngoals: []\n")
    with pytest.raises(FileFormatError, match="expected tracks, or duration"):
        read_problem(path)


def test_a_shape_of_absurd_size_is_named():
    with pytest.raises(HandwrightError, match="expected positive finite numbers"):
        make_shape("box", height=1e300)
