"""Bodies that push on each other: stacks, leaning, overlap, and what a hand carries below."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import UPRIGHT, lift_clip

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.evidence import certify
from handwright.evidence.contacts.body_contacts import body_contacts, surface_samples
from handwright.evidence.contacts.table import ContactRule
from handwright.geometry import floor
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose

WEIGHT = 9.81
GROUND = (floor(),)


def still_clip(bodies, places, *, turns=None, count=5, environment=GROUND):
    """Bodies at rest; the hand far away."""
    times = np.arange(count) / 30.0
    turns = {} if turns is None else turns
    poses = {
        name: Pose(np.tile(places[name], (count, 1)), np.tile(turns.get(name, UPRIGHT), (count, 1)))
        for name in bodies
    }
    root = Pose(np.tile([0.0, 2.0, 1.0], (count, 1)), UPRIGHT)
    motion = HandMotion(root, np.tile(human().pose("rest"), (count, 1)))
    problem = Problem("stack", times, {"hand": human()}, bodies, environment=environment)
    return Clip(
        problem, times, {"hand": motion}, poses, ContactTrack.empty(), Provenance("stack", "test")
    )


def stack(offset=0.0, *, gap=0.0, turn=0.0):
    """A block on a block, moved sideways by ``offset`` and turned about the vertical."""
    low, top = make_shape("box", mass=0.5), make_shape("box", mass=0.2)
    places = {"low": [0.0, 0.0, 0.03], "top": [offset, 0.0, 0.09 + gap]}
    turns = {"top": rotation.exp(np.array([0.0, 0.0, turn]))}
    return still_clip({"low": low, "top": top}, places, turns=turns)


@pytest.mark.parametrize(("offset", "turn"), [(0.0, 0.0), (0.02, 0.0), (0.028, 0.0), (0.01, 0.6)])
def test_a_stack_stands_and_the_note_says_what_carries_it(offset, turn):
    certificate = certify(stack(offset, turn=turn))
    assert certificate.reasons == (), str(certificate)
    assert "low and top push on each other in 5 frames" in certificate.notes[0]
    assert "note: low and top" in str(certificate)
    bodies = certificate.frames[2].bodies
    up = sum(c.force[2] for c in bodies["top"].contacts)
    assert up == pytest.approx(0.2 * WEIGHT, rel=1e-5)
    assert {c.toucher for c in bodies["top"].contacts} == {"low"}
    by = {c.toucher for c in bodies["low"].contacts}
    assert by == {"top", "environment"}
    ground = sum(c.force[2] for c in bodies["low"].contacts if c.toucher == "environment")
    assert ground == pytest.approx(0.7 * WEIGHT, rel=1e-5)
    # What the one gets the other gives.
    pressed = sum(c.force for c in bodies["low"].contacts if c.toucher == "top")
    np.testing.assert_allclose(pressed, [0.0, 0.0, -0.2 * WEIGHT], atol=1e-5)


def test_a_block_that_overhangs_too_far_tips():
    certificate = certify(stack(0.033))
    assert not certificate.passed
    assert set(certificate.reasons) <= {"moment_residual", "force_residual"}
    assert certificate.frames[2].bodies["low"].force_residual < 0.01


def test_a_block_in_the_air_above_another_does_not_pass():
    assert certify(stack(gap=0.005)).reasons == ("gap",)
    assert certify(stack(gap=0.05)).reasons == ("force_residual",)


def test_overlapping_blocks_are_named():
    certificate = certify(stack(gap=-0.004))
    assert certificate.reasons == ("penetration", "crossing")
    assert certificate.check("penetration").worst == pytest.approx(0.004, abs=1e-6)


@pytest.mark.parametrize(("place", "reasons"), [(0.045, ()), (-0.045, ("force_residual",))])
def test_a_bead_rests_on_a_ball_but_does_not_hang_from_it(place, reasons):
    """On the very top of a lying ball a bead keeps its balance; below a hanging one it falls."""
    ball, bead = make_shape("sphere"), make_shape("sphere", radius=0.01, mass=0.01)
    places = {"ball": [0.0, 0.0, 0.035], "bead": [0.0, 0.0, 0.035 + place]}
    ground = GROUND if place > 0.0 else ()
    clip = still_clip({"ball": ball, "bead": bead}, places, environment=ground)
    certificate = certify(clip)
    assert certificate.reasons == reasons, str(certificate)
    assert certificate.frames[2].bodies["bead"].force_residual == pytest.approx(
        0.0 if place > 0.0 else 1.0, abs=1e-4
    )


def test_what_a_hand_holds_carries_what_lies_on_it():
    """A held ball with a bead on it: the hand must press harder by the weight of the bead."""
    clip = lift_clip(frames=9, duration=0.8)
    root = clip.hands["hand"].root
    # Palm up: the hand below, the ball in it.
    over = Pose(np.zeros(3), rotation.exp(np.array([np.pi, 0.0, 0.0])))
    pose, held = over @ clip.bodies["ball"], over @ root
    calm = Pose(np.tile(pose.position[0], (9, 1)), np.tile(pose.wxyz[0], (9, 1)))
    hand = Pose(np.tile(held.position[0], (9, 1)), np.tile(held.wxyz[0], (9, 1)))
    still = replace(
        clip, hands={"hand": HandMotion(hand, clip.hands["hand"].q)}, bodies={"ball": calm}
    )
    alone = certify(still)
    assert alone.reasons == ()
    bead = make_shape("sphere", radius=0.01, mass=0.1)
    top = Pose(calm.position + np.array([0.0, 0.0, 0.045]), np.tile(UPRIGHT, (9, 1)))
    problem = replace(still.problem, bodies={**still.problem.bodies, "bead": bead})
    both = certify(replace(still, problem=problem, bodies={"ball": calm, "bead": top}))
    assert both.reasons == (), str(both)
    lifted = [
        sum(c.force[2] for c in found.frames[4].bodies["ball"].contacts if c.toucher == "hand")
        for found in (alone, both)
    ]
    assert lifted[1] - lifted[0] == pytest.approx(0.1 * WEIGHT, rel=1e-3)


def test_a_pushed_row_passes_the_push_on():
    """A wall of three blocks slides on ice, the first pushed by nothing: it cannot speed up."""
    blocks = {name: make_shape("box", mass=0.3) for name in ("a", "b")}
    clip = still_clip(
        blocks, {"a": [0.0, 0.0, 0.03], "b": [0.06, 0.0, 0.03]}, count=21,
        environment=(floor(friction=0.0),),
    )  # fmt: skip
    times = clip.times
    speeding = {
        name: Pose(pose.position + np.outer(0.5 * 2.0 * times**2, [1.0, 0.0, 0.0]), pose.wxyz)
        for name, pose in clip.bodies.items()
    }
    certificate = certify(replace(clip, bodies=speeding))
    assert "force_residual" in certificate.reasons
    # Pulled apart by a force between them they may, one each way.
    away = {
        name: Pose(
            clip.bodies[name].position + np.outer(sign * 0.2 * times, [1.0, 0.0, 0.0]),
            clip.bodies[name].wxyz,
        )
        for name, sign in (("a", -1.0), ("b", 1.0))
    }
    assert certify(replace(clip, bodies=away)).reasons == ()


def test_samples_cover_the_surface_evenly():
    body = make_shape("box", width=0.1, depth=0.06, height=0.02)
    samples, normals = surface_samples(body)
    assert np.allclose(np.abs(normals).max(axis=1), 1.0)
    distance = np.abs(ExactDistance.from_body(body).signed_distance(samples)[0])
    assert distance.max() < 1e-9
    rng = np.random.default_rng(0)
    corners = body.vertices[body.faces[rng.integers(len(body.faces), size=300)]]
    points = np.einsum("nk,nki->ni", rng.dirichlet([1.0, 1.0, 1.0], 300), corners)
    away = np.linalg.norm(points[:, None] - samples, axis=-1).min(axis=1)
    assert away.max() < 0.006


def test_contacts_lie_on_the_first_body_and_push_into_it():
    clip = stack(0.01)
    exact = {name: ExactDistance.from_body(body) for name, body in clip.problem.bodies.items()}
    table, depth = body_contacts(clip, "low", "top", exact, ContactRule(0.01, 1e-3, 5e-3))
    assert np.all(depth < 1e-9)
    assert 4 <= np.bincount(table.frame).max() <= 16
    np.testing.assert_allclose(table.point[:, 2], 0.06, atol=1e-9)
    np.testing.assert_allclose(table.normal, np.tile([0.0, 0.0, -1.0], (len(table.gap), 1)))
    assert table.point[:, 0].min() == pytest.approx(-0.02, abs=1e-6)
    assert table.point[:, 0].max() == pytest.approx(0.03, abs=1e-6)
