"""The command 'push': a motion of any method against a force that nobody planned."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.cli import main as cli
from handwright.core.clip import HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.events import Push
from handwright.io.clip.file import load_clip, save_clip
from handwright.math.pose import Pose
from handwright.methods.stepwise.reaction import follow_clip, reaction


def lying(duration: float = 1.0, fps: float = 60.0) -> hw.Clip:
    """A box that lies on a table, and a hand that stays above it."""
    times = np.linspace(0.0, duration, round(duration * fps) + 1)
    one = np.array([1.0, 0.0, 0.0, 0.0])
    start = {
        "right": Pose(np.array([0.0, -0.1, 1.2]), one),
        "box": Pose(np.array([0.0, 0.0, 0.78]), one),
    }
    surroundings = (hw.load_scene("pick_box").environment[0],)
    hand, box = hw.human("right"), hw.make_shape("box")
    problem = hw.Problem(
        "lying", times, {"right": hand}, {"box": box}, start=start, environment=surroundings
    )
    still = {name: _still(pose, len(times)) for name, pose in start.items()}
    q = np.tile(problem.posture("right"), (len(times), 1))
    return hw.Clip(
        problem,
        times,
        {"right": HandMotion(still["right"], q)},
        {"box": still["box"]},
        ContactTrack.of([]),
        Provenance("lying", "test"),
    )


def _still(pose: Pose, count: int) -> Pose:
    return Pose(np.tile(pose.position, (count, 1)), np.tile(pose.wxyz, (count, 1)))


@pytest.fixture
def file(tmp_path):
    save_clip(lying(), tmp_path / "lying.npz")
    return tmp_path / "lying.npz"


def test_a_thrust_slides_a_box_as_far_as_friction_lets_it(file, tmp_path, capsys):
    out = tmp_path / "pushed.npz"
    arguments = ["push", str(file), "--force", "2 0 0", "--at", "0.2", "--for", "0.2"]
    with pytest.raises(SystemExit) as caught:
        cli.main([*arguments, "-o", str(out)])
    assert caught.value.code == 1
    told = capsys.readouterr().out
    assert "dropped" in told
    assert "Without the push it is within 0.0 mm of the clip." in told
    pushed = load_clip(out)
    # Frames are as long as the clip's own.
    assert pushed.fps == pytest.approx(60.0)
    (push,) = pushed.problem.pushes
    np.testing.assert_array_equal(push.force, [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(push.point, pushed.problem.bodies["box"].center)
    assert (push.start, push.end) == pytest.approx((0.2, 0.4))
    # Coulomb: it speeds up by F/m - mu g for 0.2 s, then slows down by mu g.
    body, drag = pushed.problem.bodies["box"], 9.81 * pushed.problem.environment[0].friction
    gain = 2.0 / body.mass - drag
    way = 0.5 * gain * 0.2**2 * (1.0 + gain / drag)
    shift = pushed.bodies["box"].position[-1] - pushed.bodies["box"].position[0]
    np.testing.assert_allclose(shift, [way, 0.0, 0.0], atol=0.1 * way)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--force", "nan 0 0", "--at", "0.2"], "expected three finite numbers in newtons"),
        (["--force", "1 2", "--at", "0.2"], '--force is "1 2"; expected three numbers in N'),
        (["--force", "a b c", "--at", "0.2"], '--force is "a b c"; expected three numbers in N'),
        (["--force", "1 0 0", "--at", "9"], "runs from 9 to 9.1 s, outside the frames (0 to 1 s)"),
        (["--force", "1 0 0", "--at", "nan"], "expected start <= end"),
        (["--force", "1 0 0", "--at", "0.2", "--for", "0"], "--for is 0.0; expected seconds"),
        (["--force", "1 0 0", "--at", "0.2", "--body", "cup"], "'cup'. Known: box."),
        (["--force", "1 0 0", "--at", "0.2", "--point", "1"], '--point is "1"; expected three'),
    ],
)
def test_what_cannot_be_pushed_is_told(file, options, wanted, capsys):
    assert cli.main(["push", str(file), *options]) == 1
    assert wanted in capsys.readouterr().err


def test_a_million_newtons_take_the_box_away_and_nothing_breaks(file):
    clip = load_clip(file)
    push = Push("box", 0.2, 0.3, np.zeros(3), np.array([1e6, 0.0, 0.0]))
    session = follow_clip(clip, (push,))
    pushed = session.clip("stepwise")
    assert np.isfinite(pushed.bodies["box"].position).all()
    assert np.isfinite(pushed.hands["right"].q).all()
    found = reaction(pushed, follow_clip(clip).clip("stepwise"), "box", push.end)
    assert found.is_dropped
    assert found.back_after is None
    assert found.displacement > 1e3


def test_a_body_that_falls_without_the_push_is_not_called_held(tmp_path, capsys):
    clip = lying()
    raised = clip.bodies["box"].position + np.array([0.0, 0.0, 0.1])
    floating = replace(clip, bodies={"box": Pose(raised, clip.bodies["box"].wxyz)})
    save_clip(floating, tmp_path / "floating.npz")
    with pytest.raises(SystemExit) as caught:
        cli.main(["push", str(tmp_path / "floating.npz"), "--force", "0 0 -1", "--at", "0.5"])
    assert caught.value.code == 1
    told = capsys.readouterr().out
    assert "lost without the push" in told
    assert "The hand does not follow this clip" in told


def test_reactions_are_what_poses_say():
    calm = lying(fps=30.0)
    shift = np.zeros(31)
    shift[10:15] = [0.5e-3, 3e-3, 2e-3, 1.5e-3, 0.9e-3]
    position = calm.bodies["box"].position + shift[:, None] * np.array([0.0, 1.0, 0.0])
    pushed = replace(calm, bodies={"box": Pose(position, calm.bodies["box"].wxyz)})
    found = reaction(pushed, calm, "box", 11 / 30.0)
    assert found.displacement == pytest.approx(3e-3)
    assert found.tilt == pytest.approx(0.0, abs=1e-7)
    # Frame 14 is the first that is near and stays so.
    assert found.back_after == pytest.approx(3 / 30.0)
    assert not found.is_dropped


def test_a_push_is_told_as_json(file, capsys):
    arguments = ["push", str(file), "--force", "2 0 0", "--at", "0.2", "--for", "0.2", "--json"]
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["body"], told["verdict"]) == ("box", "dropped")
    assert told["displacement"] > 0.02
    assert told["off_plan_without_push"] < 1e-4
    assert told["written"] is None
