"""Pyramids by the simplex method, and non-negative least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

from benchmarks.kernels.force_problems import random_problem
from handwright.errors import InvalidValueError
from handwright.mechanics import (
    ForceProgram,
    ForceStatus,
    edge_wrenches,
    force_contacts,
    grasp_map,
    least_forces,
    least_pyramid_forces,
    make_pyramid_work,
    nearest_forces,
    nonnegative_least_squares,
    solve_pyramids,
)

LIFT = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])


def some_problem(rng):
    return random_problem(
        rng, int(rng.integers(1, 16)), is_varied=True, num_faces=int(rng.integers(1, 7))
    )


def by_linprog(problem, num_edges):
    """Least sum of residuals, then least price, in scaled units."""
    c = problem.contacts
    columns, owner = edge_wrenches(c, num_edges)
    scale = np.repeat([1.0, 1.0 / problem.length_scale], 3)
    capped = np.flatnonzero(np.isfinite(c.cap))
    free = np.zeros((len(capped), 12))
    options = {
        "A_ub": np.hstack([owner == capped[:, None], free]) if len(capped) else None,
        "b_ub": c.cap[capped] / problem.force_scale if len(capped) else None,
        "A_eq": np.hstack([columns * scale[:, None], np.eye(6), -np.eye(6)]),
        "b_eq": problem.wrench * scale / problem.force_scale,
    }
    blame = np.concatenate([np.zeros(len(owner)), np.ones(12)])
    price = np.concatenate([c.weight[owner], np.zeros(12)])
    least = linprog(blame, **options).fun
    return least, linprog(price + 1e6 * blame, **options).fun - 1e6 * least


@pytest.mark.parametrize("num_edges", [3, 8])
def test_verdict_and_objective_are_linprogs(num_edges):
    rng = np.random.default_rng(num_edges)
    verdicts = []
    for _ in range(150):
        problem = some_problem(rng)
        residual, price = by_linprog(problem, num_edges)
        scales = {"force_scale": problem.force_scale, "length_scale": problem.length_scale}
        found = least_pyramid_forces(
            problem.contacts, problem.wrench, num_edges=num_edges, **scales
        )
        assert found.is_feasible == (residual < 1e-7)
        scale = np.repeat([1.0, 1.0 / problem.length_scale], 3) / problem.force_scale
        assert np.abs(found.residual * scale).sum() == pytest.approx(residual, abs=1e-7)
        if found.is_feasible:
            assert found.objective / problem.force_scale == pytest.approx(price, rel=1e-6)
        left = problem.wrench - grasp_map(problem.contacts) @ found.forces.ravel()
        np.testing.assert_allclose(found.residual, left, atol=1e-9)
        verdicts.append(found.is_feasible)
    assert 20 < sum(verdicts) < 130


def test_feasible_pyramids_are_feasible_cones_that_cost_no_less():
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(300):
        problem = some_problem(rng)
        scales = {"force_scale": problem.force_scale, "length_scale": problem.length_scale}
        inner = least_pyramid_forces(problem.contacts, problem.wrench, **scales)
        if inner.is_feasible:
            exact = least_forces(problem.contacts, problem.wrench, **scales)
            assert exact.is_feasible
            ratios.append(inner.objective / exact.objective)
    assert len(ratios) > 50
    assert min(ratios) > 1.0 - 1e-7
    assert np.median(ratios) < 1.1


def test_many_edges_come_near_the_cone():
    problem = random_problem(np.random.default_rng(6), 10, is_varied=False)
    exact = least_forces(problem.contacts, problem.wrench).objective
    gaps = [
        least_pyramid_forces(problem.contacts, problem.wrench, num_edges=n).objective / exact - 1.0
        for n in (4, 16, 64)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > 0.0
    assert gaps[2] < 2e-3


def test_symmetric_grasps_do_not_make_the_simplex_cycle():
    """Every contact four times, on a regular ring: all pivots are ties."""
    angle = np.repeat(np.arange(8), 4) * np.pi / 4
    normals = -np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    contacts = force_contacts(-0.03 * normals, normals, friction=0.5)
    found = least_pyramid_forces(contacts, LIFT)
    assert found.is_feasible
    assert found.objective == pytest.approx(10.0, rel=1e-9)


def test_degenerate_pyramids():
    none = force_contacts(np.zeros((0, 3)), np.zeros((0, 3)), friction=0.5)
    assert least_pyramid_forces(none, LIFT).status == ForceStatus.INFEASIBLE
    assert least_pyramid_forces(none, np.zeros(6)).is_feasible
    with pytest.raises(InvalidValueError, match="at least 3"):
        least_pyramid_forces(none, LIFT, num_edges=2)
    with pytest.raises(InvalidValueError, match=r"tolerance is -1\.0; expected a positive"):
        least_pyramid_forces(none, LIFT, tolerance=-1.0)
    with pytest.raises(InvalidValueError, match="six finite numbers"):
        least_pyramid_forces(none, LIFT * np.nan)


def test_compiled_pyramids_never_accept_what_is_not_a_number():
    for field in ("arm", "normal", "friction", "weight", "cap"):
        problem = random_problem(np.random.default_rng(7), 5, is_varied=False)
        getattr(problem.contacts, field).flat[0] = np.nan
        work = make_pyramid_work(5, 8)
        program = ForceProgram(problem.contacts, 5, problem.wrench, 5.0, 0.05, 1e-6)
        status, _, _ = solve_pyramids(work, program, 1000)
        assert status == ForceStatus.INVALID
        np.testing.assert_array_equal(work.force, 0.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 30))
@settings(max_examples=150)
def test_least_squares_is_scipys(seed, rows, columns):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    if rng.random() < 0.3:
        A[:, : columns // 2] = A[:, columns - columns // 2 :]
    if rng.random() < 0.3:
        A = np.abs(A)
    x, size = nonnegative_least_squares(A, b)
    assert np.all(x >= 0.0)
    assert size == pytest.approx(np.linalg.norm(A @ x - b), abs=1e-12)
    assert size == pytest.approx(nnls(A, b)[1], abs=1e-9)
    # The conditions of Karush, Kuhn and Tucker: no column would help.
    slope = A.T @ (b - A @ x)
    assert np.all(slope <= 1e-9)
    np.testing.assert_allclose(slope * x, 0.0, atol=1e-8)


def test_least_squares_of_nothing_and_of_nonsense():
    x, size = nonnegative_least_squares(np.zeros((6, 0)), LIFT)
    assert (len(x), size) == (0, 5.0)
    x, size = nonnegative_least_squares(np.zeros((6, 3)), LIFT)
    np.testing.assert_array_equal(x, 0.0)
    with pytest.raises(InvalidValueError, match="NaN"):
        nonnegative_least_squares(np.full((6, 2), np.nan), LIFT)
    with pytest.raises(InvalidValueError, match="shape"):
        nonnegative_least_squares(np.zeros((5, 2)), LIFT)


def test_nearest_forces_use_one_edge_where_a_contact_slides():
    rng = np.random.default_rng(8)
    for _ in range(50):
        problem = some_problem(rng)
        c = problem.contacts
        forces, residual = nearest_forces(c, problem.wrench)
        columns, owner = edge_wrenches(c, 4)
        assert np.array_equal(np.bincount(owner), np.where(c.drag.any(axis=1), 1, 4))
        assert np.linalg.norm(residual) == pytest.approx(nnls(columns, problem.wrench)[1], abs=1e-9)
        left = problem.wrench - grasp_map(c) @ forces.ravel()
        np.testing.assert_allclose(residual, left, atol=1e-9)


def test_edges_lie_on_the_cone_evenly():
    normal = np.array([[0.6, 0.0, -0.8]])
    contacts = force_contacts(np.zeros((1, 3)), normal, friction=0.7)
    columns, _ = edge_wrenches(contacts, 8)
    force = columns[:3].T
    np.testing.assert_allclose(force @ normal[0], 1.0, atol=1e-12)
    side = force - normal
    np.testing.assert_allclose(np.linalg.norm(side, axis=1), 0.7, atol=1e-12)
    np.testing.assert_allclose(side.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(
        np.einsum("ij,ij->i", side, np.roll(side, 1, axis=0)), 0.49 * np.cos(np.pi / 4), atol=1e-12
    )
