"""Gradient and normal equations of whole motions, against central differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.goal import Feature, Goal
from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.model import ResidualWeights
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import make_normal_equations, make_workspace
from handwright.methods.trajopt.schedule.schedule import apply_schedule
from handwright.methods.trajopt.solver.block_solve import solve_blocks
from handwright.methods.trajopt.solver.system import motion_cost, motion_system
from handwright.methods.trajopt.terms.regularization import (
    RegularizationWeights,
    phase_matrices,
    regularization_cost,
)
from handwright.methods.trajopt.terms.slide import slide_residual
from handwright.scenes import load_scene

WEIGHTS = ResidualWeights(
    gap=200.0,
    slip=20.0,
    force=10.0,
    moment=50.0,
    cone=5.0,
    pad=20.0,
    facing=10.0,
    limit=10.0,
    penetration=500.0,
    goal=1.0,
    squeeze=0.5,
    attraction=1e-2,
    friction=0.95,
    push=3.0,
    is_frozen=False,
)


def problem_with(scene: str):
    """A scene with goals of every kind."""
    problem = load_scene(scene)
    (body,) = problem.bodies
    hand = next(iter(problem.hands))
    frame = problem.hands[hand].frames.names[-1]
    wxyz = problem.start[body].wxyz
    end = float(problem.times[-1])
    more = (
        Goal(Feature(body, point=np.array([0.01, 0.0, 0.02])), 0.5 * end, end, np.ones(3), wxyz),
        Goal(Feature(hand, frame), 0.3 * end, 0.3 * end, np.zeros(3), relative_to=body),
        Goal(Feature(hand), 0.0, end, np.zeros(3), wxyz),
    )
    return replace(problem, goals=(*problem.goals, *more))


def disturbed(transcription, rng):
    """Key states in which nothing is at rest, everything overlaps and all forces act."""
    m = transcription.model
    layout = m.layout
    nq, nc = layout.num_coordinates, layout.num_contacts
    keys = np.tile(transcription.start, (m.num_keys, 1))
    shape = len(keys)
    keys[:, layout.coordinates] += 0.1 * rng.normal(size=(shape, nq))
    keys[:, layout.rates] += 0.5 * rng.normal(size=(shape, nq))
    keys[:, layout.forces] = rng.normal(size=(shape, 3 * nc))
    keys[:, layout.origins] = 0.04 * rng.normal(size=(shape, 3 * nc))
    changes = keys[:, layout.changes]
    changes[:] = 0.5 * rng.normal(size=changes.shape)
    # Past the walls of the shortest and of the longest phase, where keys may move.
    shifts = m.phase_time * np.resize([0.0, 0.9, 0.42, 0.0], shape)
    keys[:, layout.shift] = np.where(m.is_pinned, 0.0, shifts)
    keys[:, layout.contacts] = rng.uniform(0.1, 0.9, size=(shape, nc))
    return keys


@pytest.mark.parametrize(
    ("scene", "slides", "is_frozen", "num_pushes", "is_timed"),
    [
        ("pick_pen_horizontal", False, False, 0, False),
        ("pick_pen_horizontal", False, True, 0, False),
        ("pick_pen_horizontal", False, True, 4, True),
        ("pick_pen_horizontal", True, False, 0, False),
        ("pick_pen_horizontal", True, True, 0, True),
        ("pick_box", False, False, 0, False),
        ("pick_box", False, True, 6, False),
        ("twirl_z", False, False, 0, False),
        ("twirl_z", False, True, 0, True),
        ("two_hands_lift", False, False, 0, False),
    ],
)
def test_gradient_of_the_whole_cost(scene, slides, is_frozen, num_pushes, is_timed):
    rng = np.random.default_rng(5)
    problem = problem_with(scene)
    transcription = transcribe(
        problem,
        TranscriptionSettings(
            num_phases=3, fractions=[0.1, 0.6], num_pushes=num_pushes, push_size=0.25
        ),
    )
    m = transcription.model
    # All but the first key may move, whatever goals say.
    m.is_pinned[1:] = not is_timed
    keys = disturbed(transcription, rng)
    if scene == "pick_box":
        # Within a cell of the grid the distance is smooth; these steps stay in one.
        keys[:, 2] -= 0.05
    m.schedule.clearance[:] = 2e-3
    m.contacts.slides[:] = slides
    if is_frozen:
        is_on = np.zeros((3, m.layout.num_contacts), dtype=bool)
        is_on[1], is_on[:, 0] = True, True
        keys = apply_schedule(transcription, keys, is_on)
        assert set(m.schedule.landing.ravel()) == {0, 1, 2}
        m.schedule.is_pushed[1:] = True
    nq = m.layout.num_coordinates
    regularization = RegularizationWeights(
        rng.uniform(size=nq), rng.uniform(size=nq), rng.normal(size=nq),
        rng.uniform(size=(m.num_phases, nq)), 0.1, 0.3, 0.5, rng.uniform(size=nq),
    )  # fmt: skip
    weights = WEIGHTS._replace(is_frozen=is_frozen)
    packed = [Packed(part) for part in (m, weights, make_workspace(m), regularization)]
    matrices, blocks = phase_matrices(m.phase_time), make_normal_equations(*keys.shape)

    def cost(at):
        regularization = regularization_cost(packed[0], packed[3], at, matrices, blocks, False)
        return regularization + motion_cost(packed[0], packed[1], at, packed[2])

    motion = motion_system(packed[0], packed[1], keys, packed[2], blocks)
    regularization = regularization_cost(packed[0], packed[3], keys, matrices, blocks, True)
    assert motion + regularization == pytest.approx(cost(keys), rel=1e-12)
    step = 1e-6
    times = np.flatnonzero(~m.is_pinned) * keys.shape[1] + m.layout.shift
    for flat in (*times, *rng.permutation(keys.size)[:150]):
        k, i = np.unravel_index(flat, keys.shape)
        if i == m.layout.shift and m.is_pinned[k]:
            continue
        if is_frozen and i >= m.layout.first_contact:
            continue
        up, down = keys.copy(), keys.copy()
        up[k, i] += step
        down[k, i] -= step
        gradient = (cost(up) - cost(down)) / (2.0 * step)
        assert blocks.gradient[k, i] == pytest.approx(gradient, rel=2e-4, abs=1e-6 * abs(motion))


def test_sliding_friction_opposes_the_motion_with_all_its_strength():
    n, slip, mu = (0.0, 0.0, 1.0), (0.06, 0.0, 0.0), 0.5
    right = np.array(slide_residual((-0.5, 0.0, 1.0), slip, n, mu))
    assert np.abs(right).max() < 5e-3
    for wrong in ((0.5, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.5, 1.0)):
        assert np.linalg.norm(slide_residual(wrong, slip, n, mu)) > 0.4
    assert np.linalg.norm(slide_residual((0.1, 0.2, 1.0), (0.0, 0.0, 0.0), n, mu)) < 1e-6


@pytest.mark.parametrize("is_ring", [False, True])
def test_blocks_are_solved_like_the_whole_matrix(is_ring):
    rng = np.random.default_rng(1)
    count, size = 5, 7
    factor = rng.normal(size=(count * size, count * size))
    whole = np.zeros_like(factor)
    # Products of derivatives by two neighbouring keys only give a matrix of the right shape.
    for k in range(count if is_ring else count - 1):
        rows = np.concatenate(
            [np.arange(size) + k * size, np.arange(size) + (k + 1) % count * size]
        )
        part = rng.normal(size=(3 * size, 2 * size))
        whole[np.ix_(rows, rows)] += part.T @ part
    blocks = whole.reshape(count, size, count, size)
    diagonal = np.array([blocks[k, :, k] for k in range(count)])
    below = np.array([blocks[(k + 1) % count, :, k] for k in range(count)])
    right = rng.normal(size=(count, size))
    solved = np.concatenate(solve_blocks(diagonal, below, right, is_ring=is_ring))
    np.testing.assert_allclose(whole @ solved, right.ravel(), atol=1e-9)


def test_the_normal_matrix_is_the_curvature_of_costs_without_forces():
    """Where residuals are linear, the matrix must reproduce the cost of every step."""
    problem = load_scene("pick_ball")
    transcription = transcribe(problem, TranscriptionSettings(num_phases=3, fractions=[0.3]))
    m = transcription.model
    layout = m.layout
    weights = WEIGHTS._replace(
        gap=0.0,
        slip=0.0,
        cone=0.0,
        pad=0.0,
        facing=0.0,
        limit=0.0,
        penetration=0.0,
        is_frozen=True,
    )
    rng = np.random.default_rng(2)
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[:, layout.contacts] = 1.0
    packed = [Packed(part) for part in (m, weights, make_workspace(m))]
    blocks = make_normal_equations(*keys.shape)
    start = motion_system(*packed[:2], keys, packed[2], blocks)
    step = np.zeros_like(keys)
    # Forces alone, and places of the body alone: Newton's law is linear in both.
    step[:, layout.forces] = rng.normal(size=(len(keys), 3 * layout.num_contacts))
    step[:, layout.body_position] = rng.normal(size=(len(keys), 3))
    step[:, layout.body_velocity] = rng.normal(size=(len(keys), 3))
    expected = start + np.sum(blocks.gradient * step)
    for k in range(len(keys)):
        full = np.tril(blocks.diagonal[k]) + np.tril(blocks.diagonal[k], -1).T
        expected += 0.5 * step[k] @ full @ step[k]
        if k + 1 < len(keys):
            expected += step[k + 1] @ blocks.below[k] @ step[k]
    moved = motion_cost(*packed[:2], keys + step, packed[2])
    assert moved == pytest.approx(expected, rel=1e-9)
