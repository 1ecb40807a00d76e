"""Derivatives of every single term of contact-invariant optimisation, against differences.

The registers below list the terms; a term in ``terms/`` that no register lists fails a test here.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from handwright.core.goal import Feature, Goal
from handwright.kernels.packed import Packed
from handwright.methods.trajopt import terms
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import (
    SampleWorkspace,
    make_normal_equations,
    make_workspace,
)
from handwright.methods.trajopt.schedule.schedule import apply_schedule
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.body import body_terms
from handwright.methods.trajopt.terms.collision import collision_terms, limit_terms
from handwright.methods.trajopt.terms.contact import contact_terms, normal_derivative
from handwright.methods.trajopt.terms.contact_state import Toucher
from handwright.methods.trajopt.terms.goal import goal_terms
from handwright.methods.trajopt.terms.push import push_balance, push_terms
from handwright.methods.trajopt.terms.regularization import (
    RegularizationWeights,
    phase_matrices,
    regularization_cost,
)
from handwright.methods.trajopt.terms.slide import slide_derivative, slide_residual
from handwright.methods.trajopt.terms.time import timing_cost
from handwright.scenes import load_scene

STEP = 1e-6
SCALE, PHASE = 1.3, 1


def contacts(m, *args):
    """All contacts together, so that hands and environment are among them."""
    *front, with_gradient = args
    return sum(
        contact_terms(*front, j, SCALE, 0.7, False, with_gradient)
        for j in range(m.layout.num_contacts)
    )


SAMPLE_TERMS = {
    "body.body_terms": lambda _, *args: body_terms(*args[:-1], SCALE, args[-1]),
    "collision.collision_terms": lambda _, *args: collision_terms(
        *args[:-1], PHASE, SCALE, args[-1]
    ),
    "collision.limit_terms": lambda _, *args: limit_terms(*args[:-1], SCALE, args[-1]),
    "contact.contact_terms": contacts,
    "goal.goal_terms": lambda _, *args: goal_terms(*args[:-1], 0, SCALE, args[-1]),
    "push.push_balance": lambda _, *args: push_balance(*args[:-1], 2, SCALE, args[-1]),
    "push.push_terms": lambda _, *args: push_terms(*args[:-1], PHASE, SCALE, args[-1]),
}
"""Terms of one sample: cost of (model, packed model, packed weights, workspace, with_gradient)."""

OTHER_TERMS = {
    "contact.normal_derivative": "test_the_normal_of_a_capsule",
    "regularization.regularization_cost": "test_regularization",
    "slide.slide_derivative": "test_the_law_of_sliding",
    "time.timing_cost": "test_the_cost_of_times",
}
"""Terms of another form, with the tests of their derivatives in this file."""


def test_every_term_has_a_derivative_check():
    found = set()
    for path in Path(terms.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                has_gradient = any(one.arg == "with_gradient" for one in node.args.args)
                if has_gradient or node.name.endswith("_derivative"):
                    found.add(f"{path.stem}.{node.name}")
    assert found == {*SAMPLE_TERMS, *OTHER_TERMS}
    assert all(name in globals() for name in OTHER_TERMS.values())


class Sample(NamedTuple):
    """A state in which nothing is at rest, hands overlap things and all forces act."""

    model: Model
    weights: ResidualWeights
    work: SampleWorkspace
    state: np.ndarray


@pytest.fixture(scope="module")
def sample():
    problem = load_scene("pick_pen_horizontal")
    (name,) = problem.bodies
    end = float(problem.times[-1])
    target = Goal(Feature(name, point=np.full(3, 0.01)), 0.0, end, np.ones(3))
    problem = replace(problem, goals=(target,))
    settings = TranscriptionSettings(3, [0.1, 0.6], num_pushes=4, push_size=0.25)
    transcription = transcribe(problem, settings)
    m, layout = transcription.model, transcription.model.layout
    rng = np.random.default_rng(3)
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[:, layout.coordinates] += 0.15 * rng.normal(size=(len(keys), layout.num_coordinates))
    keys[:, layout.rates] += 0.5 * rng.normal(size=(len(keys), layout.num_coordinates))
    for block, size in ((layout.forces, 1.0), (layout.origins, 0.04), (layout.changes, 0.5)):
        keys[:, block] = size * rng.normal(size=keys[:, block].shape)
    is_on = np.ones((m.num_phases, layout.num_contacts), dtype=bool)
    keys = apply_schedule(transcription, keys, is_on)
    m.schedule.clearance[:], m.schedule.is_pushed[:] = 2e-3, True
    work = make_workspace(m)
    fill_sample(Packed(m), keys[PHASE], keys[PHASE + 1], 0.3, Packed(work))
    weights = ResidualWeights(
        gap=200.0, slip=20.0, force=10.0, moment=50.0, cone=5.0, pad=20.0, facing=10.0, limit=10.0,
        penetration=500.0, goal=1.0, squeeze=0.5, attraction=1e-2, friction=0.95, push=3.0,
        is_frozen=True,
    )  # fmt: skip
    # One joint is beyond its limit, and the body is where it overlaps the index finger.
    first = transcription.hands[0].first_finger_coordinate
    work.z[first] = m.upper[first] + 0.1
    pose_sample(Packed(m), Packed(work), 0.0)
    tip = m.contacts.capsules[m.contacts.first[transcription.contact_names.index("right.index")]]
    work.z[layout.body_position] = work.ends[tip, 0] + np.array([0.003, 0.002, -0.004])
    return Sample(m, weights, work, work.z.copy())


# Pushes count once contact variables are rounded, and not before.
@pytest.mark.parametrize(
    ("name", "is_frozen"),
    [
        *((name, True) for name in SAMPLE_TERMS),
        *((name, False) for name in SAMPLE_TERMS if name != "push.push_terms"),
    ],
)
def test_the_gradient_of_a_term(sample, name, is_frozen):
    m, work = sample.model, sample.work
    packed = Packed(m), Packed(sample.weights._replace(is_frozen=is_frozen)), Packed(work)
    term = SAMPLE_TERMS[name]

    def cost(state):
        work.z[:] = state
        pose_sample(packed[0], packed[2], 0.0)
        return term(m, *packed, False)

    start = sample.state.copy()
    if not is_frozen:
        start[m.layout.contacts] = 0.6
    here = cost(start)
    assert here > 0.0
    work.gradient[:], work.hessian[:] = 0.0, 0.0
    assert term(m, *packed, True) == pytest.approx(here, rel=1e-12)
    found = work.gradient.copy()
    # Shifts of keys act through the length of a phase only, rounded contact variables not at all.
    is_variable = np.ones(len(start), dtype=bool)
    is_variable[m.layout.shift] = False
    is_variable[m.layout.contacts] = not is_frozen
    expected = np.zeros_like(start)
    for i in np.flatnonzero(is_variable):
        up, down = start.copy(), start.copy()
        up[i] += STEP
        down[i] -= STEP
        expected[i] = (cost(up) - cost(down)) / (2.0 * STEP)
    assert np.abs(expected).max() > 0.0
    np.testing.assert_allclose(
        found[is_variable], expected[is_variable], rtol=3e-4, atol=1e-6 * abs(here)
    )


def test_the_cost_of_times(sample):
    m = sample.model
    shift = m.layout.shift
    for stretch in (0.52, 0.8, 1.3, 1.9):
        h = stretch * m.phase_time
        out = make_normal_equations(m.num_keys, m.layout.size)
        timing_cost(Packed(m), Packed(out), 1, 2, h, True)
        ends = [timing_cost(Packed(m), Packed(out), 1, 2, h + s, False) for s in (-STEP, STEP)]
        derivative = (ends[1] - ends[0]) / (2.0 * STEP)
        assert out.gradient[2, shift] == pytest.approx(derivative, rel=1e-5)
        assert out.gradient[1, shift] == -out.gradient[2, shift]


def test_regularization(sample):
    m, layout = sample.model, sample.model.layout
    rng = np.random.default_rng(1)
    nq = layout.num_coordinates
    weights = RegularizationWeights(
        rng.uniform(size=nq), rng.uniform(size=nq), rng.normal(size=nq),
        rng.uniform(size=(m.num_phases, nq)), 0.1, 0.3, 0.5, rng.uniform(size=nq),
    )  # fmt: skip
    m.is_pinned[1:-1] = False
    keys = rng.normal(size=(m.num_keys, layout.size))
    keys[:, layout.shift] = 0.2 * m.phase_time * np.where(m.is_pinned, 0.0, 1.0)
    out = make_normal_equations(*keys.shape)
    matrices = phase_matrices(m.phase_time)

    def cost(at, with_gradient=False):
        return regularization_cost(Packed(m), Packed(weights), at, matrices, out, with_gradient)

    assert cost(keys, with_gradient=True) == pytest.approx(cost(keys), rel=1e-12)
    for k in range(m.num_keys):
        for i in (*rng.permutation(layout.first_contact)[:40], layout.shift):
            if i == layout.shift and m.is_pinned[k]:
                continue
            up, down = keys.copy(), keys.copy()
            up[k, i] += STEP
            down[k, i] -= STEP
            derivative = (cost(up) - cost(down)) / (2.0 * STEP)
            assert out.gradient[k, i] == pytest.approx(derivative, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("speed", [1e-4, 3e-3, 0.1])
def test_the_law_of_sliding(speed):
    rng = np.random.default_rng(7)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    force, slip = rng.normal(size=3), speed * rng.normal(size=3)
    by = rng.normal(size=3), speed * rng.normal(size=3), np.cross(rng.normal(size=3), n)

    def law(step):
        at = [part + step * change for part, change in zip((force, slip, n), by, strict=True)]
        return np.array(slide_residual(*(tuple(part) for part in at), 0.7))

    parts = tuple(tuple(part) for part in by)
    derivative = slide_derivative(tuple(force), tuple(slip), tuple(n), 0.7, parts)
    np.testing.assert_allclose(
        derivative, (law(STEP) - law(-STEP)) / (2.0 * STEP), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("at", [0.4, 1.3])
def test_the_normal_of_a_capsule(at):
    """A point moves and a capsule rotates about the start of its axis; beside it and at its end."""
    rng = np.random.default_rng(2)
    axis, omega, velocity = rng.normal(size=(3, 3))
    aside = np.cross(axis, rng.normal(size=3))
    point = at * axis + 0.2 * aside

    def normal(t):
        turned = axis + t * np.cross(omega, axis)
        p = point + t * velocity
        s = np.clip(p @ turned / (turned @ turned), 0.0, 1.0)
        off = p - s * turned
        return off / np.linalg.norm(off)

    off = point - min(at, 1.0) * axis
    reach = float(np.linalg.norm(off))
    straight = axis / np.linalg.norm(axis) if at < 1.0 else np.zeros(3)
    none = (0.0, 0.0, 0.0)
    toucher = Toucher(0, 0.0, tuple(off / reach), reach, tuple(straight.tolist()), none, none, none)
    moved = velocity - np.cross(omega, point)
    found = normal_derivative(toucher, tuple(moved), tuple(omega))
    np.testing.assert_allclose(
        found, (normal(STEP) - normal(-STEP)) / (2.0 * STEP), rtol=1e-6, atol=1e-8
    )
