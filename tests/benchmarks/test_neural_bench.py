"""The benchmark of learned fingers: its figures, baselines and bars."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from corpus import problem_of, solved

from benchmarks.neural import ablations
from benchmarks.neural.baselines import NearestNeighbour, first_pose, mean_pose
from benchmarks.neural.bench import BARS, describe, run
from benchmarks.neural.cases import HELD_OUT, SEEN, TAILS, Case, own_trial, recorded_trial
from benchmarks.neural.figures import Figures, mean_of, measured, with_fingers
from benchmarks.neural.recovery import prolonged, recoveries
from benchmarks.neural.table import baselines, networks, table_of
from handwright.errors import HandwrightError
from handwright.methods import METHODS
from handwright.methods.neural.network.runtime import load_network

TAUGHT = Path(__file__).parents[1] / "fixtures" / "taught"
TINY = Path(__file__).parents[1] / "fixtures" / "tiny_fingers"


@pytest.fixture(scope="module")
def teacher():
    """A certified motion at 60 frames a second, as taught ones are."""
    problem = problem_of("milk_box_turn")
    clip = solved("milk_box_turn", METHODS["sampling"](num_solutions=1, time_budget=600.0), 0).best
    times = np.arange(round(60.0 * (problem.times[-1] - problem.times[0])) + 1) / 60.0
    fine = replace(problem, times=times)
    hands = {
        name: replace(
            motion,
            root=problem.track(name).at(times),
            q=np.stack([np.interp(times, clip.times, column) for column in motion.q.T], axis=1),
        )
        for name, motion in clip.hands.items()
    }
    bodies = {name: problem.track(name).at(times) for name in clip.bodies}
    return replace(with_fingers(clip, {n: m.q for n, m in clip.hands.items()}),
                   problem=fine, times=times, hands=hands, bodies=bodies)  # fmt: skip


def test_a_teacher_is_no_distance_from_itself(teacher):
    figures = measured(teacher, teacher)
    assert figures.joint_error == 0.0
    assert figures.smoothness > 0.0
    assert figures.frames == teacher.num_frames
    assert 0 < figures.carried <= figures.frames


def test_baselines_stand_still_or_repeat_what_was_taught(teacher):
    held = measured(with_fingers(teacher, first_pose(teacher)), teacher)
    assert held.smoothness == 0.0
    assert held.joint_error > 0.0
    mean = with_fingers(teacher, mean_pose([teacher], teacher))
    name = next(iter(teacher.hands))
    np.testing.assert_allclose(mean.hands[name].q[0], teacher.hands[name].q.mean(axis=0), atol=0.02)
    # Asked for what it was taught, the nearest neighbour knows it.
    found = NearestNeighbour([teacher])(teacher)
    np.testing.assert_allclose(found[name], teacher.hands[name].q, atol=1e-9)


def test_means_are_weighed_by_frames():
    short = Figures(100.0, 80.0, 0.1, 0.0, 50.0, 10.0, 100, 10)
    long = Figures(50.0, 40.0, 0.3, 0.4, 150.0, 20.0, 300, 30)
    mean = mean_of([short, long])
    assert mean.realism == pytest.approx(62.5)
    assert mean.realism_published == pytest.approx(50.0)
    assert mean.in_table == pytest.approx(0.3)
    assert mean.joint_error == pytest.approx(17.5)
    nothing = Figures(math.nan, math.nan, 0.0, 0.0, 50.0, 10.0, 100, 0)
    assert mean_of([short, nothing]).realism == pytest.approx(100.0)


def test_a_table_has_teacher_baselines_and_every_correction(teacher):
    makers = {**baselines([teacher]), **networks({"ours": load_network(TINY)})}
    table = table_of([Case("one", TAILS, teacher)], makers, lambda step: None)[TAILS]
    assert list(table) == [
        "teacher", "mean pose", "first pose", "nearest neighbour", "ours, none",
        "ours, algorithm1", "ours, contact", "ours, grip",
    ]  # fmt: skip
    assert table["teacher"]["smoothness_ratio"] == 1.0
    # What the correction is for.
    assert table["ours, contact"]["penetration"] <= table["ours, none"]["penetration"] + 1e-9


def test_cases_are_grouped_by_what_is_never_trained_on():
    trial = own_trial(TAUGHT)
    shapes = {case.name: case.teacher.problem.bodies for case in trial.cases}
    held_out = {case.name for case in trial.cases if case.group == HELD_OUT}
    assert held_out == {name for name, bodies in shapes.items() if "hemisphere" in bodies}
    assert {case.group for case in trial.cases} == {SEEN, HELD_OUT}
    # Nothing there was taught, so there is nothing to look up.
    assert list(baselines(trial.taught)) == ["first pose"]
    first = own_trial(TAUGHT, 1).cases
    assert [case.group for case in first] == [SEEN, HELD_OUT]
    assert first[0].name == min(case.name for case in trial.cases if case.group == SEEN)
    for count in (0, -1):
        with pytest.raises(HandwrightError, match="expected 1 or more"):
            own_trial(TAUGHT, count)


def test_what_is_missing_is_asked_for():
    with pytest.raises(HandwrightError, match="--motions DIR"):
        run()
    with pytest.raises(HandwrightError, match="handwright data make"):
        run(motions=Path("nowhere"), model=str(TINY))
    with pytest.raises(HandwrightError, match="--motions DIR"):
        ablations.run()


def test_friction_of_the_body_or_of_the_paper_is_taken(teacher):
    slippery = {n: replace(b, friction=0.01) for n, b in teacher.problem.bodies.items()}
    clip = replace(teacher, problem=replace(teacher.problem, bodies=slippery))
    own, published = measured(clip, clip), measured(clip, clip, own_friction=False)
    assert own.realism < 50.0 < published.realism == own.realism_published


def test_half_a_minute_goes_to_and_fro_without_a_leap(teacher):
    long = prolonged(teacher)
    assert long.times[-1] == pytest.approx(30.0)
    for name, motion in long.hands.items():
        step = np.linalg.norm(np.diff(teacher.hands[name].root.position, axis=0), axis=1).max()
        steps = np.linalg.norm(np.diff(motion.root.position, axis=0), axis=1)
        assert steps.max() <= step + 1e-12
        assert not np.allclose(motion.q[0], motion.q[teacher.num_frames - 1])


def test_a_wrong_start_is_timed(teacher):
    found = recoveries(load_network(TINY), [teacher])
    assert found["motions"] == 1
    assert 0.0 < found["back_after"] <= 30.0
    assert found["growth"] > 0.0


def test_the_judged_network_surpasses_others_or_not():
    rows = {f"{name}, contact": {"realism": 50.0} for name in ablations.VARIANTS}
    assert ablations._share_beaten(rows) == 0.0
    rows["ours, contact"] = {"realism": 51.0}
    assert ablations._share_beaten(rows) == 1.0


@pytest.mark.data
def test_tails_of_recordings_are_judged(manipnet_data, monkeypatch):
    trial = recorded_trial(manipnet_data)
    few = trial._replace(cases=trial.cases[:1], taught=trial.taught[:1])
    monkeypatch.setattr("benchmarks.neural.bench.recorded_trial", lambda data: few)
    result = run(manipnet_data, model=str(TINY))
    assert {"ms", "tails_realism_lost", "tails_joint_error", "baselines_beaten"} <= set(BARS)
    assert set(result["judged"]) <= set(BARS)
    assert describe(result) is not None
