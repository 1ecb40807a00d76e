"""Times of keys as variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.events import TouchSpan
from handwright.core.track import Track
from handwright.kernels.packed import Packed
from handwright.mechanics.momentum import required_wrench
from handwright.methods.trajopt.attempt import refined_keys
from handwright.methods.trajopt.clips import make_clip
from handwright.methods.trajopt.method import ContactInvariant
from handwright.methods.trajopt.model.goal_rows import pinned_keys
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import make_normal_equations, make_workspace
from handwright.methods.trajopt.schedule.stage_weights import (
    LOOSE,
    regularization_weights,
    stage_weights,
)
from handwright.methods.trajopt.solver.descent import Descent
from handwright.methods.trajopt.solver.system import motion_system
from handwright.methods.trajopt.terms.regularization import (
    RegularizationWeights,
    phase_matrices,
    regularization_cost,
)
from handwright.scenes import load_scene


def cubic(first, second, h, s):
    """Value, rate and acceleration of a Hermite cubic of states (value, rate), and of length h."""
    (p0, v0), (p1, v1) = first, second
    # As a polynomial in t = s h.
    a = 2.0 * (p0 - p1) / h**3 + (v0 + v1) / h**2
    b = -3.0 * (p0 - p1) / h**2 - (2.0 * v0 + v1) / h
    t = s * h
    return (
        p0 + v0 * t + b * t**2 + a * t**3,
        v0 + 2.0 * b * t + 3.0 * a * t**2,
        2.0 * b + 6.0 * a * t,
    )


class TestPinnedKeys:
    def test_keys_at_given_times_stay(self):
        problem = load_scene("pick_ball")
        # Ten phases of 0.5 s; goal from 3.5 s on.
        assert np.flatnonzero(pinned_keys(problem, 10, is_free=True)).tolist() == [0, 7, 10]
        assert pinned_keys(problem, 10, is_free=False).all()

    def test_a_time_within_a_phase_keeps_the_phase(self):
        problem = load_scene("pick_ball")
        spans = (TouchSpan("right", 1.2, 4.5),)
        pinned = pinned_keys(replace(problem, touches=spans), 10, is_free=True)
        assert np.flatnonzero(pinned).tolist() == [0, 2, 3, 7, 9, 10]

    def test_all_stay_where_a_body_spins(self):
        assert pinned_keys(load_scene("twirl_x"), 15, is_free=True).all()


def timed(scene="pick_ball", num_phases=4, fractions=(0.2, 0.7)):
    """A problem whose inner keys may all move, and key states that are nowhere at rest."""
    transcription = transcribe(
        load_scene(scene), TranscriptionSettings(num_phases=num_phases, fractions=fractions)
    )
    m = transcription.model
    m.is_pinned[1:-1] = False
    rng = np.random.default_rng(4)
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[:, m.layout.motion] += 0.1 * rng.normal(size=(m.num_keys, m.layout.first_force))
    keys[1:-1, m.layout.shift] = m.phase_time * np.array([0.3, -0.1, 0.1])
    return transcription, keys


def assert_products(blocks, residuals, keys, k, columns, others):
    """The normal matrix is J' J of all residuals, with J by differences.

    ``columns`` are of key k, ``others`` of key k + 1.
    """
    places = [(k, i) for i in columns] + [(k + 1, i) for i in others]
    step = 1e-6
    gradients = []
    for key, i in places:
        up, down = keys.copy(), keys.copy()
        up[key, i] += step
        down[key, i] -= step
        gradients.append((residuals(up) - residuals(down)) / (2.0 * step))
    expected = np.array(gradients) @ np.array(gradients).T
    found = np.zeros_like(expected)
    for a, (key, i) in enumerate(places):
        for b, (other, j) in enumerate(places):
            if key == other:
                found[a, b] = blocks.diagonal[key, max(i, j), min(i, j)]
            else:
                found[a, b] = blocks.below[k, i, j] if key > other else blocks.below[k, j, i]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())


def test_normal_matrix_of_the_laws_of_motion():
    transcription, keys = timed()
    m = transcription.model
    body, rates = m.layout.first_body, m.layout.first_rate
    stage = stage_weights(LOOSE, is_frozen=True, friction=1.0)._replace(
        moment=0.0, limit=0.0, penetration=0.0, goal=0.0, slip=0.0
    )
    blocks = make_normal_equations(*keys.shape)
    motion_system(Packed(m), Packed(stage), keys, Packed(make_workspace(m)), blocks)

    def residuals(at):
        """What gravity leaves of the acceleration: nothing touches the body."""
        found = []
        times = m.key_times(at)
        for n in np.flatnonzero(m.samples.is_full):
            k, h = m.samples.phase[n], np.diff(times)[m.samples.phase[n]]
            root = np.sqrt(m.samples.weight[n] * h / m.phase_time)
            for i in range(body, body + 3):
                ends = [(at[k + side, i], at[k + side, rates + i]) for side in (0, 1)]
                pull = m.gravity[i - body] - cubic(*ends, h, m.samples.fraction[n])[2]
                found.append(root * stage.force * pull / np.linalg.norm(m.gravity))
        return np.array(found)

    columns = [body, body + 2, rates + body, rates + body + 2, m.layout.shift]
    assert_products(blocks, residuals, keys, 1, columns, columns)


def test_normal_matrix_of_the_regularization():
    transcription, keys = timed()
    m = transcription.model
    layout = m.layout
    nq, nc = layout.num_coordinates, layout.num_contacts
    rng = np.random.default_rng(8)
    i = 2
    only = np.zeros(nq)
    only[i] = 1.0
    keys[:, layout.first_force : layout.first_change] = rng.normal(size=(len(keys), 6 * nc))
    regularization = RegularizationWeights(
        2.0 * only, 3.0 * only, 0.4 * only, np.tile(5.0 * only, (4, 1)), 0.7, 0.0, 0.6, 0.0 * only
    )
    blocks = make_normal_equations(*keys.shape)
    regularization_cost(
        Packed(m), Packed(regularization), keys, phase_matrices(m.phase_time), blocks, True
    )
    # Gauss's moments and weights are exact for the squares of cubics.
    moments, shares = np.polynomial.legendre.leggauss(4)
    moments, shares = 0.5 * (moments + 1.0), 0.5 * shares

    def residuals(at):
        found = []
        lengths = np.diff(m.key_times(at))
        for k, h in enumerate(lengths):
            first, second = at[k], at[k + 1]
            for s, share in zip(moments, shares, strict=True):
                ends = (first[i], first[nq + i]), (second[i], second[nq + i])
                value, rate, bend = cubic(*ends, h, s)
                coordinate = np.sqrt([3.0, 5.0, 2.0]) * [value - 0.4, rate, bend]
                forces = (1.0 - s) * first[layout.forces] + s * second[layout.forces]
                forces = np.sqrt(0.7) * forces
                creep = (second - first)[layout.origins] / h
                parts = (coordinate, forces, np.sqrt(0.6) * creep)
                found += [np.sqrt(share * h) * part for part in parts]
            off = np.log(h / m.phase_time)
            found.append([np.sqrt(m.phase_time) * off / 0.5])
        return np.concatenate(found)

    columns = [i, nq + i, layout.first_force + 1, layout.first_origin + 4, layout.shift]
    assert_products(blocks, residuals, keys, 1, columns, columns)


def test_clips_and_finer_keys_have_the_true_times():
    problem = load_scene("pick_ball")
    transcription, keys = timed()
    m = transcription.model
    height_index, rate_index = m.layout.first_body + 2, m.layout.first_body_rate + 2
    clip = make_clip(transcription, keys, "test")
    begins = m.key_times(keys)
    np.testing.assert_allclose(begins, np.array([0.0, 1.3, 1.9, 3.1, 4.0]) * m.phase_time)
    finer = transcribe(problem, TranscriptionSettings(num_phases=8, fractions=[0.5]))
    clip_of_finer = make_clip(finer, refined_keys(transcription, keys), "test")
    for frame in range(0, clip.num_frames, 7):
        time = clip.times[frame]
        k = min(int(np.searchsorted(begins, time, side="right")) - 1, 3)
        h = begins[k + 1] - begins[k]
        ends = [(keys[k + side, height_index], keys[k + side, rate_index]) for side in (0, 1)]
        height = cubic(*ends, h, (time - begins[k]) / h)[0]
        assert clip.bodies["ball"].position[frame, 2] == pytest.approx(height, abs=1e-9)
        assert clip_of_finer.bodies["ball"].position[frame, 2] == pytest.approx(height, abs=1e-9)


def test_forces_fit_the_motion_where_they_leap_between_frames():
    """A ball lies, and falls from a moment on that no frame has."""
    problem = load_scene("pick_ball")
    transcription, keys = timed()
    m, ball = transcription.model, problem.bodies["ball"]
    layout = m.layout
    support = int(np.flatnonzero(transcription.rests_on)[0])
    shifts = keys[:, m.layout.shift].copy()
    keys[:] = transcription.start
    keys[:, m.layout.shift] = shifts
    begins = m.key_times(keys)
    frames = problem.times - problem.times[0]
    assert np.abs(frames - begins[1]).min() > 0.2 * (frames[1] - frames[0])
    fallen = begins - begins[1]
    keys[1:, layout.first_body + 2] -= 0.5 * 9.81 * fallen[1:] ** 2
    keys[1:, layout.first_body_rate + 2] = -9.81 * fallen[1:]
    keys[0, layout.first_contact + support] = 1.0
    keys[:2, layout.force(support).stop - 1] = m.weight
    keys[:, layout.origin(support).stop - 1] = -0.035
    clip = make_clip(transcription, keys, "test")
    stored = np.zeros((clip.num_frames, 3))
    np.add.at(stored, clip.contacts.frame, clip.contacts.force)
    needed = required_wrench(Track(clip.times, clip.bodies["ball"]), ball).force
    # Forces below half a percent of the weight are left out.
    np.testing.assert_allclose(stored[1:-1], needed[1:-1], atol=6e-3 * m.weight)
    size = np.linalg.norm(stored, axis=1)
    assert np.any((size > 0.02 * m.weight) & (size < 0.98 * m.weight))


def test_the_body_gets_the_time_that_it_needs():
    """A body that has far to go in one phase, and nowhere in the others, gets a longer phase."""
    transcription, keys = timed()
    m = transcription.model
    nq = m.layout.num_coordinates
    keys[:] = transcription.start
    keys[2:, m.layout.first_body + 2] += 0.3
    fixed = np.ones(keys.shape, dtype=bool)
    fixed[1:-1, m.layout.shift] = False
    descent = Descent(
        m, make_workspace(m), keys, fixed, np.zeros((len(keys), m.layout.num_contacts)),
        make_normal_equations(*keys.shape), np.ones(keys.shape[1]),
    )  # fmt: skip
    stage = stage_weights(LOOSE, is_frozen=True, friction=1.0)._replace(
        force=0.0, moment=0.0, limit=0.0, penetration=0.0, goal=0.0
    )
    regularization = regularization_weights(transcription)._replace(
        acceleration=np.full(nq, 1e3), rest=np.zeros(nq)
    )
    before = descent.run(stage, regularization, 0)
    after = descent.run(stage, regularization, 50)
    lengths = np.diff(m.key_times(descent.keys)) / m.phase_time
    # The cost of a phase falls with the third power of its length.
    assert before == pytest.approx(0.5e3 * 12.0 * 0.3**2 / m.phase_time**3)
    assert after == pytest.approx(before / lengths[1] ** 3, rel=0.1)
    assert lengths.sum() == pytest.approx(4.0)
    assert 1.75 < lengths[1] <= 2.0
    others = np.delete(lengths, 1)
    assert np.all((others >= 0.5) & (others < 1.0))


@pytest.mark.slow
@pytest.mark.scene
def test_a_ball_is_picked_up_early_with_free_times():
    problem = load_scene("pick_ball")
    early = replace(problem, goals=tuple(replace(goal, start=1.5) for goal in problem.goals))
    # From this seed the same attempt with equal phases misses the goal.
    tight = ContactInvariant(max_attempts=1, time_budget=600.0)
    assert hw.synthesize(early, tight, seed=0).clips == ()
    found = hw.synthesize(early, replace(tight, free_times=True), seed=0)
    assert hw.certify(found.best).passed
    held = found.best.times >= 1.5
    off = found.best.bodies["ball"].position[held] - early.goals[0].position
    assert np.linalg.norm(off, axis=1).max() < 5e-3
