"""Motions played again by a simulated hand: what is held stays, what is not falls."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from pinch_lift import pinch_lift

import handwright as hw
from handwright.cli import main as cli
from handwright.core.clip import HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.errors import HandwrightError
from handwright.geometry import table
from handwright.io.clip.file import load_clip, save_clip
from handwright.math import rotation
from handwright.physics.replay.plan import firm_forces, skin_over_capsules
from handwright.physics.replay.play import ReplaySettings, replay
from handwright.physics.replay.pushes import Push, random_pushes
from handwright.physics.shapes import body_shape

TABLE = 0.75


@pytest.fixture(scope="module")
def lift():
    return pinch_lift(fps=30.0)


def alone(body, height, *, seconds=0.4, wxyz=(1.0, 0.0, 0.0, 0.0)):
    """A body that stays where it is in the plan, far from an idle hand."""
    times = np.linspace(0.0, seconds, round(60 * seconds) + 1)
    count = len(times)
    hand = hw.trident()
    still = np.tile(wxyz, (count, 1))
    problem = hw.Problem(
        "alone", times, {"hand": hand}, {"body": body}, environment=(table(TABLE),)
    )
    return hw.Clip(
        problem,
        times,
        {
            "hand": HandMotion(
                hw.Pose(np.tile([1.0, 0.0, 2.0], (count, 1)), np.tile([1.0, 0, 0, 0], (count, 1))),
                np.tile(problem.posture("hand"), (count, 1)),
            )
        },
        {"body": hw.Pose(np.tile([0.0, 0.0, height], (count, 1)), still)},
        ContactTrack.empty(),
        Provenance("alone", "scripted"),
    )


@pytest.mark.parametrize("fps", [80, 160])
def test_the_last_frame_is_reached_between_two_steps(fps):
    ball = hw.make_shape("sphere", radius=0.03)
    clip = alone(ball, TABLE + 0.03)
    times = np.arange(0.1 * fps + 2) / fps
    short = replace(clip.problem, times=times)
    count = len(times)
    clip = replace(
        clip,
        problem=short,
        times=times,
        hands={
            name: HandMotion(motion.root[:count], motion.q[:count])
            for name, motion in clip.hands.items()
        },
        bodies={name: pose[:count] for name, pose in clip.bodies.items()},
    )
    found = replay(clip, hold=0.0)
    assert found.motion.num_frames == count
    assert len(found.motion.bodies["body"].position) == count


def test_a_pinched_block_is_lifted_and_held(lift):
    found = replay(lift, hold=1.0)
    outcome = found.bodies["block"]
    assert not found.dropped
    assert outcome.position_error < 1e-3
    assert outcome.turn_error < np.radians(2.0)
    # A grip that creeps sinks by millimetres in a second.
    assert outcome.drift < 1e-4
    assert found.motion.times[-1] == pytest.approx(lift.times[-1] + 1.0)
    np.testing.assert_allclose(
        found.motion.hands["hand"].root.position[: lift.num_frames],
        lift.hands["hand"].root.position,
        atol=1e-3,
    )


def test_fingers_that_do_not_press_lose_the_block(lift):
    found = replay(replace(lift, contacts=ContactTrack.empty()), hold=0.5)
    outcome = found.bodies["block"]
    assert found.dropped
    # It stays on the table while the plan lifts it by 18 cm.
    assert outcome.position_error > 0.15
    assert any("no contact forces" in note for note in found.notes)


def test_pushes_are_withstood_up_to_a_size(lift):
    small = replay(lift, hold=0.5, pushes=random_pushes(lift, size=0.25, seed=3))
    calm = replay(lift, hold=0.5)
    assert not small.dropped
    assert small.bodies["block"].position_error > calm.bodies["block"].position_error
    assert replay(lift, hold=0.5, pushes=random_pushes(lift, size=20.0, seed=3)).dropped


def test_more_squeeze_strays_less(lift):
    def error(squeeze):
        found = replay(lift, hold=0.0, settings=ReplaySettings(squeeze=squeeze))
        return found.bodies["block"].position_error

    assert error(2.0) < 0.5 * error(0.0)


def test_a_squeeze_is_firmer_inside_narrower_cones_and_has_the_planned_wrench(lift):
    held = lift.contacts.frame == lift.num_frames - 1
    point, normal = lift.contacts.point[held], lift.contacts.normal[held]
    planned, firm = lift.contacts.force[held], firm_forces(lift, squeeze=3.0, share=0.7)[held]
    scale = 9.81 * lift.problem.bodies["block"].mass
    np.testing.assert_allclose(firm.sum(axis=0), planned.sum(axis=0), atol=0.02 * scale)
    moment = np.cross(point, firm - planned).sum(axis=0)
    np.testing.assert_allclose(moment, 0.0, atol=0.02 * scale * 0.02)
    pressing = np.einsum("ni,ni->n", firm, normal)
    assert np.all(pressing > np.einsum("ni,ni->n", planned, normal) + 1.0)
    along = np.linalg.norm(firm - pressing[:, None] * normal, axis=1)
    assert np.all(along <= 0.7 * lift.problem.bodies["block"].friction * pressing + 1e-9)


def test_a_squeeze_begins_and_ends_gently(lift):
    contacts = lift.contacts
    by_hand = contacts.toucher == contacts.touchers.index("hand")
    first = contacts.frame == contacts.frame[by_hand].min()
    firm = firm_forces(lift, squeeze=3.0, share=1.0)
    np.testing.assert_allclose(firm[first & by_hand], contacts.force[first & by_hand], atol=0.02)


def test_a_body_in_the_air_falls_as_bodies_do():
    clip = alone(hw.make_shape("sphere"), 3.0)
    found = replay(clip, hold=0.0)
    fallen = 0.5 * 9.81 * clip.times[-1] ** 2
    assert found.dropped
    assert found.bodies["body"].position_error == pytest.approx(fallen, rel=0.01)
    assert found.bodies["body"].turn_error == 0.0


@pytest.mark.parametrize("shape", ["sphere", "box", "capsule", "cylinder"])
def test_a_body_on_the_table_stays_there(shape):
    body = hw.make_shape(shape)
    lowest = float(body.vertices[:, 2].min())
    found = replay(alone(body, TABLE - lowest), hold=0.5)
    assert not found.dropped
    assert found.bodies["body"].drift < 2e-4
    assert found.bodies["body"].position_error < 5e-4


def test_a_push_moves_a_free_body_as_newton_says():
    body = hw.make_shape("sphere")
    clip = replace_gravity(alone(body, 1.5))
    force = np.array([0.3, 0.0, 0.0])
    push = Push("body", 0.0, 10.0, np.zeros(3), force)
    found = replay(clip, hold=0.0, pushes=(push,))
    way = found.motion.bodies["body"].position[-1] - clip.bodies["body"].position[-1]
    wanted = 0.5 * force / body.mass * clip.times[-1] ** 2
    np.testing.assert_allclose(way, wanted, rtol=0.02, atol=1e-6)


def replace_gravity(clip):
    return replace(clip, problem=replace(clip.problem, gravity=np.zeros(3)))


def test_shapes_are_told():
    assert body_shape(hw.make_shape("sphere")).geom["type"] == "sphere"
    pen = body_shape(hw.make_shape("capsule", radius=0.009, length=0.138))
    assert pen.geom["type"] == "capsule"
    assert len(pen.axes) == 1
    cube = body_shape(hw.make_shape("box", width=0.06, depth=0.06, height=0.06))
    assert cube.geom["type"] == "box"
    assert cube.geom["size"].split() == ["0.03", "0.03", "0.03"]
    assert body_shape(hw.make_shape("cylinder")).is_exact
    assert not body_shape(hw.make_shape("mug")).is_exact


def test_capsules_grow_to_where_the_skin_touches(lift):
    bulge = skin_over_capsules(lift, "hand")
    names = lift.problem.hands["hand"].capsules.names
    hand = lift.contacts.touchers.index("hand")
    touching = {names[part] for part in lift.contacts.part[lift.contacts.toucher == hand]}
    assert {name for name, value in zip(names, bulge, strict=True) if value != 0.0} == touching


def test_random_pushes_are_in_the_second_half_at_the_tip_and_repeat(lift):
    pushes = random_pushes(lift, size=0.25, seed=1)
    again = random_pushes(lift, size=0.25, seed=1)
    middle, last = 0.5 * (lift.times[0] + lift.times[-1]), lift.times[-1]
    assert len(pushes) >= 2
    reach = np.linalg.norm(lift.problem.bodies["block"].vertices, axis=1).max()
    for push, other in zip(pushes, again, strict=True):
        assert middle - 1e-9 <= push.start < push.end <= last + 1e-9
        assert push.end - push.start == pytest.approx(0.2)
        assert np.linalg.norm(push.force) == pytest.approx(0.25)
        assert np.linalg.norm(push.point) == pytest.approx(reach)
        np.testing.assert_array_equal(push.force, other.force)
    assert not np.allclose(pushes[0].force, random_pushes(lift, size=0.25, seed=2)[0].force)


def test_mistakes_are_told(lift):
    with pytest.raises(HandwrightError, match="hold is -1"):
        replay(lift, hold=-1.0)
    with pytest.raises(HandwrightError, match="size of pushes is -2"):
        random_pushes(lift, size=-2.0)
    with pytest.raises(HandwrightError, match="spoon"):
        replay(lift, pushes=(Push("spoon", 0.0, 1.0, np.zeros(3), np.ones(3)),))


def test_the_command_prints_a_table_and_ends_with_1_if_dropped(lift, tmp_path, capsys):
    save_clip(lift, tmp_path / "lift.npz")
    out = tmp_path / "new" / "replayed.npz"
    arguments = ["replay", str(tmp_path / "lift.npz"), "--hold", "0.5"]
    assert cli.main([*arguments, "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "off plan mm" in printed
    assert "held" in printed
    written = load_clip(out)
    turned = rotation.angle(written.bodies["block"].wxyz[-1], lift.bodies["block"].wxyz[-1])
    assert turned < np.radians(2.0)
    with pytest.raises(SystemExit) as stop:
        cli.main([*arguments, "--push", "20"])
    assert stop.value.code == 1
    assert "dropped" in capsys.readouterr().out
    assert cli.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dropped"], told["pushes"], told["hold"]) == (False, 0, 0.5)
    assert told["bodies"]["block"]["position_error"] < 0.02
