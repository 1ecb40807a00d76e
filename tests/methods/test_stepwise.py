"""Hands that react: the parts of a frame against independent oracles, and whole motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.contact import ContactTrack
from handwright.core.events import Push
from handwright.core.goal import Feature, Goal
from handwright.core.problem import Problem
from handwright.evidence.certificate.dynamics import required_wrench
from handwright.geometry.distance.environment import floor
from handwright.geometry.shapes import box
from handwright.kinematics.fk import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.stepwise.objectives.body_rotation import advance_rotation
from handwright.methods.stepwise.objectives.cost_to_go import Errors, common_modes, cost_to_go
from handwright.methods.stepwise.qp.point_rows import hand_point_rows
from handwright.methods.stepwise.session import Session
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.world import advance_hand, hand_state, make_world
from handwright.physics.hand_dynamics import HandDynamics
from handwright.physics.mjcf.joint_drives import joint_drives

STEP = 1.0 / 30.0


def test_cost_to_go_is_that_of_a_long_horizon():
    """Against a plain backward recursion over 4000 frames, in all coordinates at once."""
    rng = np.random.default_rng(0)
    n = 3
    one, two = rng.normal(size=(2, n, n))
    stiffness, effort = 50.0 * (one @ one.T + np.eye(n)), 1e-3 * (two @ two.T + 0.1 * np.eye(n))
    eye, zero = np.eye(n), np.zeros((n, n))
    transition = np.block(
        [[eye, STEP * eye, STEP**2 * eye], [zero, eye, STEP * eye], [zero, zero, eye]]
    )
    jump = np.concatenate([STEP**2 * eye, STEP * eye, eye])
    stage = np.kron(np.diag([1.0, 1e-4, 1e-6]), stiffness)
    value = stage
    for _ in range(4000):
        gain = np.linalg.solve(effort + jump.T @ value @ jump, jump.T @ value @ transition)
        value = stage + transition.T @ value @ (transition - jump @ gain)
    off, wish, before, velocity = rng.normal(size=(4, n))
    modes = common_modes(stiffness, effort, STEP)
    found = cost_to_go(modes, Errors(stiffness @ off, stiffness @ wish), before, STEP)

    def cost(v):
        state = np.concatenate([off + STEP * (v - wish), v - wish, (v - before) / STEP])
        return 0.5 * state @ value @ state

    def ours(v):
        return 0.5 * v @ found.hessian @ v + found.gradient @ v

    # The table is read between its rows.
    assert ours(velocity) - ours(0.0 * velocity) == pytest.approx(
        cost(velocity) - cost(0.0 * velocity), rel=2e-3
    )


@pytest.mark.parametrize("arm", [True, False])
def test_mass_matrix_gives_the_kinetic_energy_of_the_links(arm):
    model = hw.human("right", arm=arm)
    rng = np.random.default_rng(1)
    dynamics = HandDynamics(model, is_free=not arm)
    q, rates = model.joints.clamp(model.pose("rest")), rng.normal(size=model.num_joints)
    root = Pose(np.array([0.1, 0.2, 0.3]), rotation.exp(rng.normal(size=3)))
    place, spin = (np.zeros(3), np.zeros(3)) if arm else rng.normal(size=(2, 3))
    base = root if not arm else Pose.identity()
    velocity = rates if arm else np.concatenate([place, spin, rates])
    mass, _ = dynamics.at(q, velocity, base.position, base.wxyz)
    tiny = 1e-6

    def links(sign):
        moved = Pose(
            base.position + sign * tiny * place,
            rotation.multiply(base.wxyz, rotation.exp(sign * tiny * spin)),
        )
        turns, places = link_poses(model, q + sign * tiny * rates, moved)
        return turns, places + np.einsum("lij,lj->li", turns, model.masses.center)

    (turn_a, center_a), (turn_b, center_b) = links(-1.0), links(1.0)
    turn, _ = links(0.0)
    speed = (center_b - center_a) / (2.0 * tiny)
    twist = np.einsum("lij,lkj->lik", turn_b - turn_a, turn) / (2.0 * tiny)
    rate = np.stack([twist[:, 2, 1], twist[:, 0, 2], twist[:, 1, 0]], axis=1)
    inertia = np.einsum("lij,ljk,lmk->lim", turn, model.masses.inertia, turn)
    energy = 0.5 * (model.masses.mass * (speed**2).sum(axis=1)).sum()
    energy += 0.5 * np.einsum("li,lij,lj->", rate, inertia, rate)
    armature = np.array([drive.armature for drive in joint_drives(model)])
    energy += 0.5 * (armature * rates**2).sum()
    # MuJoCo asks for a least mass of bodies whose own is next to nothing.
    assert 0.5 * velocity @ mass @ velocity == pytest.approx(energy, rel=1e-4)


def test_rows_of_a_point_are_its_velocity():
    problem = _sliding_box()
    problem = replace(
        problem,
        hands={"right": hw.human("right")},
        start={
            **problem.start,
            "right": Pose(np.array([0.0, 0.0, 1.0]), rotation.exp([0.3, 1, 2])),
        },
    )
    world = make_world(problem)
    hand = world.hands[0]
    rng = np.random.default_rng(2)
    velocity = rng.normal(size=hand.count)
    link, local = int(hand.model.digit("index").pad.link), hand.model.digit("index").pad.position
    q = hand.model.joints.clamp(hand.model.pose("rest"))

    def place(step):
        state = hand_state(hand, q, problem.start["right"])
        advance_hand(hand, state, velocity, step)
        return state.links.position[link] + state.links.rotation[link] @ local

    state = hand_state(hand, q, problem.start["right"])
    rows = np.zeros((3, world.num_velocities))
    hand_point_rows(hand.chain(state.links), link, *place(0.0), 1.0, rows)
    expected = (place(1e-6) - place(-1e-6)) / 2e-6
    np.testing.assert_allclose(rows[:, hand.slice] @ velocity, expected, atol=1e-8)


def test_a_spinning_body_needs_no_moment_by_the_scheme_of_the_certificate():
    body = box(width=0.02, depth=0.1, height=0.2, mass=0.5)
    inverse = np.linalg.inv(body.inertia)
    wxyz, rate = rotation.exp(np.array([0.1, 0.2, 0.3])), np.array([3.0, 4.0, 0.5])
    spin = rotation.to_matrix(wxyz) @ body.inertia @ rotation.to_matrix(wxyz).T @ rate
    turns = [wxyz]
    for _ in range(30):
        rate, wxyz = advance_rotation(inverse, wxyz, rate, spin, STEP)
        turns.append(wxyz)
    times = STEP * np.arange(31)
    pose = Pose(np.zeros((31, 3)), np.array(turns))
    moment = required_wrench(body, pose, times, np.zeros(3)).moment
    assert np.abs(moment[1:-1]).max() < 1e-9
    # It tumbles: this is no turn about a fixed axis.
    assert np.ptp([rotation.log(turn)[2] for turn in turns]) > 0.3


def _sliding_box(pushes=()):
    body = box(width=0.08, depth=0.08, height=0.05, mass=0.2)
    return Problem(
        "slide",
        STEP * np.arange(60),
        {},
        {"box": replace(body, name="box")},
        start={"box": Pose(np.array([0.0, 0.0, 0.025]), np.array([1.0, 0.0, 0.0, 0.0]))},
        environment=(floor(0.0, friction=0.4),),
        pushes=tuple(pushes),
    )


def test_a_pushed_box_slides_as_coulomb_says_and_then_lies_still():
    # At the height of its foot, so that it does not tilt.
    push = Push("box", 0.0, 0.2, np.array([0.0, 0.0, -0.025]), np.array([2.0, 0.0, 0.0]))
    session = Session(_sliding_box([push]))
    places = [session.step().bodies["box"].position for _ in range(45)]
    drag = 0.4 * 9.81
    speed = (2.0 / 0.2 - drag) * 0.2
    expected = 0.5 * speed * 0.2 + 0.5 * speed**2 / drag
    assert places[-1][0] == pytest.approx(expected, rel=0.04)
    assert np.linalg.norm(places[-1] - places[-10]) < 1e-6
    assert np.abs(np.array(places)[:, 2] - 0.025).max() < 1e-4
    assert session.tally.infeasible == 0


@pytest.fixture(scope="module")
def lifted():
    """A session at the end of a lift; see test_stepwise_scenes.py for what it is like."""
    problem = hw.load_scene("lift_expected")
    session = Session(problem)
    for step in np.diff(problem.times):
        session.step(float(step))
    return session


@pytest.fixture(scope="module")
def held(lifted):
    """The end of a lift as a clip that stays, to start others from."""
    clip = lifted.clip("stepwise")
    last = clip.num_frames - 1
    times = STEP * np.arange(3)

    def still(pose):
        return Pose(np.repeat(pose.position[last:], 3, 0), np.repeat(pose.wxyz[last:], 3, 0))

    problem = replace(clip.problem, times=times, goals=(), grips=(), pushes=())
    return replace(
        clip,
        problem=problem,
        times=times,
        hands={
            name: replace(motion, root=still(motion.root), q=np.repeat(motion.q[last:], 3, 0))
            for name, motion in clip.hands.items()
        },
        bodies={name: still(pose) for name, pose in clip.bodies.items()},
        contacts=ContactTrack.empty(),
    )


@pytest.mark.parametrize("torque", [1e-5, 1e-3, 1e-1, 1e1])
def test_a_hold_is_steady_for_any_price_of_torque(held, torque):
    """Six decades; and a push of the weight is borne at all of them."""
    body = next(iter(held.problem.bodies))
    weight = 9.81 * held.problem.bodies[body].mass
    push = Push(body, 1.0, 1.2, held.problem.bodies[body].center, np.array([weight, 0.0, 0.0]))
    session = Session(held.problem, Settings(torque_change_weight=torque), follow=held)
    places = np.array([session.step(pushes=[push]).bodies[body].position for _ in range(240)])
    assert session.tally.infeasible == 0
    assert np.linalg.norm(places - places[0], axis=1).max() < 0.02
    late = places[180:]
    assert np.ptp(late, axis=0).max() < 2e-4


def test_a_hold_does_not_drift(held):
    body = next(iter(held.problem.bodies))
    session = Session(held.problem, follow=held)
    for _ in range(60):
        session.step()
    start = session.moments[-1].bodies[body].position
    for _ in range(300):
        session.step()
    # 10 um/s for 10 s.
    assert np.linalg.norm(session.moments[-1].bodies[body].position - start) < 1e-4


def test_a_push_beyond_all_strength_drops_the_body_and_nothing_breaks(held):
    body = next(iter(held.problem.bodies))
    session = Session(held.problem, follow=held)
    push = Push(body, 0.2, 0.3, np.zeros(3), np.array([0.0, 1e6, 0.0]))
    for _ in range(60):
        moment = session.step(pushes=[push])
        assert np.isfinite(moment.bodies[body].position).all()
        assert all(np.isfinite(q).all() for _, q in moment.hands.values())
    assert not any(contact.toucher == "right" for contact in moment.contacts)


def test_the_same_seed_gives_the_same_bytes(lifted):
    problem = lifted.problem
    again = Session(problem)
    for step in np.diff(problem.times)[:20]:
        again.step(float(step))
    for one, two in zip(lifted.moments, again.moments, strict=False):
        assert (one.hands["right"][1] == two.hands["right"][1]).all()


def test_an_interrupt_leaves_the_frames_so_far_as_a_certified_clip(lifted):
    def interrupt(progress):
        if progress.statistics.get("frames") == 46.0:
            raise KeyboardInterrupt

    result = hw.synthesize(lifted.problem, hw.Stepwise(), on_progress=interrupt)
    assert result.status is hw.Status.CANCELLED
    (clip,), (certificate,) = result.clips, result.certificates
    assert certificate.passed
    assert clip.num_frames == 47
    whole = lifted.clip("stepwise")
    assert (clip.hands["right"].q == whole.hands["right"].q[:47]).all()
    assert len(clip.contacts) == np.count_nonzero(whole.contacts.frame < 46)
    assert result.message == (
        f"It was interrupted after 47 of {whole.num_frames} frames, which are kept as a clip."
    )


def test_bad_input_is_named(lifted):
    session = lifted
    with pytest.raises(hw.HandwrightError, match=r"step is 0\.5"):
        session.step(0.5)
    with pytest.raises(hw.HandwrightError, match="force"):
        Push("box", 0.0, 1.0, np.zeros(3), np.array([np.nan, 0.0, 0.0]))
    with pytest.raises(hw.HandwrightError, match="nowhere"):
        session.step(pushes=[Push("nowhere", 0.0, 1.0, np.zeros(3), np.ones(3))])
    with pytest.raises(hw.HandwrightError, match="nothing_there"):
        session.step(goals=[Goal(Feature("nothing_there"), 0.0, 1.0, position=np.zeros(3))])


def test_a_body_out_of_reach_is_infeasible_with_a_reason():
    problem = hw.load_scene("lift_expected")
    body = next(iter(problem.bodies))
    far = Pose(problem.start[body].position + np.array([0.0, 3.0, 0.0]), problem.start[body].wxyz)
    problem = replace(problem, start={**problem.start, body: far}, goals=())
    result = hw.synthesize(problem, hw.Stepwise())
    assert result.status is hw.Status.INFEASIBLE
    assert body in result.message
    assert not result.clips
