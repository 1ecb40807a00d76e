"""Grasps that take pushes: sets of forces for disturbances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import handwright as hw
from handwright.core.result import Status
from handwright.methods.trajopt.method import ContactInvariant
from handwright.methods.trajopt.model.shape import push_corners
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import make_normal_equations, make_workspace
from handwright.methods.trajopt.schedule.schedule import apply_schedule
from handwright.methods.trajopt.schedule.stage_weights import (
    EXACT,
    regularization_weights,
    stage_weights,
)
from handwright.methods.trajopt.solver.descent import Descent
from handwright.methods.trajopt.solver.measures import measure_errors
from handwright.scenes import load_scene


def directions(count):
    found = np.random.default_rng(0).normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [4, 6])
def test_all_pushes_up_to_the_size_are_mixtures_of_the_corners(count):
    corners = push_corners(count, 0.25)
    assert len(corners) == count
    # The ball touches the faces: opposite to a corner of a tetrahedron, between three of an
    # octahedron's.
    face = -corners[0] if count == 4 else np.ones(3)
    face = face / np.linalg.norm(face)

    def is_mixture(push):
        equal = np.vstack([corners.T, np.ones(count)])
        return linprog(np.zeros(count), A_eq=equal, b_eq=[*push, 1.0]).status == 0

    assert all(is_mixture(0.2499 * way) for way in (*directions(50), face))
    assert not is_mixture(0.2501 * face)


def lying_phone(share):
    """A phone at rest, and the forces that change when it is pushed by a share of its weight.

    Nothing else moves.
    """
    problem = load_scene("dial_phone")
    (body,) = problem.bodies.values()
    weight = 9.81 * body.mass
    transcription = transcribe(
        problem, TranscriptionSettings(num_phases=3, fractions=[0.2, 0.8], num_pushes=6,
        push_size=share * weight))  # fmt: skip
    m = transcription.model
    layout = m.layout
    nc = layout.num_contacts
    supports = np.flatnonzero(transcription.rests_on)
    is_on = np.zeros((3, nc), dtype=bool)
    is_on[:, supports] = True
    keys = np.tile(transcription.start, (m.num_keys, 1))
    for j in supports:
        keys[:, layout.force(j).stop - 1] = weight / len(supports)
        keys[:, layout.origin(j)] = m.contacts.pad[j]
    keys = apply_schedule(transcription, keys, is_on)
    assert not m.schedule.is_pushed.any()
    m.schedule.is_pushed[:] = True
    fixed = np.ones(keys.shape, dtype=bool)
    fixed[:, layout.changes] = False
    floor, scale = np.zeros((len(keys), nc)), np.ones(keys.shape[1])
    blocks = make_normal_equations(*keys.shape)
    descent = Descent(m, make_workspace(m), keys, fixed, floor, blocks, scale)
    descent.run(
        stage_weights(EXACT, is_frozen=True, friction=1.0),
        regularization_weights(transcription),
        100,
        gain=1e-9,
    )
    return transcription, descent, supports


def test_forces_change_so_that_a_push_is_taken():
    transcription, descent, supports = lying_phone(0.05)
    m = transcription.model
    assert measure_errors(transcription, descent.keys, descent.work).worst["push"] < 0.02
    layout, nc = m.layout, m.layout.num_contacts
    key = descent.keys[1]
    force = key[layout.forces].reshape(nc, 3)[supports]
    arms = key[layout.origins].reshape(nc, 3)[supports] @ m.body.rotation.T
    changes = key[layout.changes].reshape(6, nc, 3)[:, supports]
    for push, point, change in zip(m.pushes.force, m.pushes.point, changes, strict=True):
        size = np.linalg.norm(push)
        assert size == pytest.approx(np.sqrt(3.0) * 0.05 * m.weight)
        np.testing.assert_allclose(push + change.sum(axis=0), 0.0, atol=0.02 * size)
        turned = np.cross(m.body.rotation @ point, push) + np.cross(arms, change).sum(axis=0)
        np.testing.assert_allclose(turned, 0.0, atol=0.02 * size * m.body.arm)
        total = force + change
        across = np.linalg.norm(total[:, :2], axis=1)
        assert np.all(across <= m.contacts.friction[supports] * total[:, 2] + 0.02 * size)


def test_what_lies_cannot_take_a_push_that_lifts_it():
    transcription, descent, _ = lying_phone(1.0)
    assert measure_errors(transcription, descent.keys, descent.work).worst["push"] > 0.1


def test_pushes_come_while_hands_alone_hold_the_body_in_the_second_half():
    transcription = transcribe(
        load_scene("pick_ball"), TranscriptionSettings(num_phases=6, fractions=[0.5])
    )
    m = transcription.model
    is_on = np.zeros((6, m.layout.num_contacts), dtype=bool)
    is_on[:4, transcription.contact_hand < 0] = True
    is_on[2:5, :3] = True
    apply_schedule(transcription, np.tile(transcription.start, (m.num_keys, 1)), is_on)
    assert m.schedule.is_pushed.tolist() == [False, False, False, False, True, False]


def test_a_number_of_pushes_that_encloses_nothing_is_refused():
    with pytest.raises(hw.HandwrightError, match="pushes is 3, expected 0, 4 or 6"):
        ContactInvariant(pushes=3)


def largest_push(clip, frame, cap):
    """Largest push at the tip that contacts can take from any of some sides, N.

    Contacts press with ``cap`` N at most. Forces are searched anew, by linear programming.
    """
    ((name, body),) = clip.problem.bodies.items()
    pose = hw.Pose(clip.bodies[name].position[frame], clip.bodies[name].wxyz[frame])
    arms = body.vertices - body.center
    center = pose.apply(body.center)
    tip = pose.apply(body.vertices[np.argmax(np.linalg.norm(arms, axis=1))]) - center
    contacts = clip.contacts.at(frame)
    assert all(contact.toucher in clip.hands for contact in contacts)
    edges, owner = [], []
    for j, contact in enumerate(contacts):
        across = np.linalg.svd(contact.normal[None])[2][1:]
        for angle in np.arange(12) * np.pi / 6.0:
            way = np.array([np.cos(angle), np.sin(angle)]) @ across
            force = contact.normal + body.friction * way
            edges.append(np.concatenate([force, np.cross(contact.point - center, force)]))
            owner.append(j)
    load = np.array([0.0, 0.0, 9.81 * body.mass, 0.0, 0.0, 0.0])
    pressed = np.array([[o == j for o in owner] + [False] for j in range(len(contacts))])
    found = []
    for way in directions(24):
        push = np.concatenate([way, np.cross(tip, way)])
        answer = linprog(
            np.eye(len(edges) + 1)[-1] * -1.0,
            A_ub=pressed.astype(float),
            b_ub=np.full(len(contacts), cap),
            A_eq=np.column_stack([*edges, push]),
            b_eq=load,
        )
        found.append(-answer.fun if answer.status == 0 else 0.0)
    return min(found)


@pytest.mark.slow
@pytest.mark.scene
def test_a_pen_is_held_against_pushes_from_all_sides():
    method = ContactInvariant(pushes=6, time_budget=600.0)
    found = hw.synthesize(load_scene("pick_pen_vertical"), method, seed=0)
    assert found.status is Status.SOLVED
    frames = range(int(0.75 * found.best.num_frames), found.best.num_frames, 20)
    # Without pushes this seed comes to 0.01 N.
    assert min(largest_push(found.best, frame, 5.0) for frame in frames) > 0.5
