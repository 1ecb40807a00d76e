"""The benchmark of contact sampling: statistics on made-up runs, bars, the peer on a known pose."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest

from benchmarks.bars import bars_met
from benchmarks.sampling import bench
from benchmarks.sampling.figures import scene_figures
from benchmarks.sampling.slsqp import DigitProblem, bend_by_slsqp
from benchmarks.scene_choice import chosen_scenes
from benchmarks.verify import carried_ball
from handwright.core.certificate import BodyRecord, Certificate, Check, FrameRecord
from handwright.core.result import Result, Status
from handwright.core.tolerances import Tolerances
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence.certificate.penetration import finger_finger, penetration_of
from handwright.geometry.distance.sdf import sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.hands.skin.build import skin_of
from handwright.kinematics import posed_pads, posed_skin
from handwright.kinematics.skin.samples import skin_samples


def certificate(depths, *, fails=()):
    zero = np.zeros(3)
    frames = tuple(
        FrameRecord(
            t, t / 30.0,
            {n: BodyRecord(zero, zero, (), 0.0, 0.0, 1.0, 0.0, d, 0.0) for n, d in both.items()},
            0.0, 0.0, 0.0, 0.0, None, (),
        )
        for t, both in enumerate(depths)
    )  # fmt: skip
    checks = tuple(Check(name, False, 1.0, 0.5, "m", (0,)) for name in fails)
    return Certificate("made up", frames, checks, Tolerances())


def result_of(count, *, seconds=2.5):
    numbers = {
        "solutions": float(count), "total_frames": 120.0, "success_ratio": 0.25,
        "solution_ratio": 0.5, "dead_ends": 7.0, "dropped": 1.0,
    }  # fmt: skip
    clip = carried_ball(4)
    return Result((clip,) * count, Status.SOLVED, "", numbers, {"search": 1.0, "total": seconds})


def test_the_deepest_body_of_each_frame_counts():
    depths = penetration_of(certificate([{"a": 1e-4, "b": 3e-4}, {"a": 2e-4}, {}]))
    np.testing.assert_allclose(depths, [3e-4, 2e-4, 0.0])


def test_figures_of_ten_certified_motions():
    # 95 frames at 0.1 mm and 5 at 0.7 mm in each clip.
    one = certificate([{"a": 1e-4}] * 95 + [{"a": 7e-4}] * 5)
    row = scene_figures(result_of(10), [one] * 10, wanted=10, processor_seconds=1.5)
    assert (row["seconds_10"], row["seconds"]) == (1.5, 2.5)
    assert row["frames_per_solution"] == 12.0
    assert (row["success_ratio"], row["solution_ratio"], row["certified"]) == (0.25, 0.5, 1.0)
    assert row["pen_mm_max"] == pytest.approx(0.7)
    assert row["pen_mm_p95"] == pytest.approx(np.percentile([0.1] * 950 + [0.7] * 50, 95))
    assert row["strategies"] == {"hold": 0, "slide": 0, "relocate": 0}
    assert json.loads(json.dumps(row)) == row


@pytest.mark.parametrize(("count", "wanted", "refused"), [(9, 10, 0), (10, 10, 1), (12, 12, 0)])
def test_times_of_anything_but_ten_certified_motions_are_not_scaled(count, wanted, refused):
    good, bad = certificate([{"a": 0.0}]), certificate([{"a": 0.002}], fails=("penetration",))
    papers = [bad] * refused + [good] * (count - refused)
    row = scene_figures(result_of(count), papers, wanted=wanted, processor_seconds=1.5)
    assert row["seconds_10"] is None
    assert (row["seconds"], row["solutions"]) == (2.5, count)
    assert row["certified"] == pytest.approx((count - refused) / count)
    assert row["refused"] == ({"penetration": 1} if refused else {})


def test_a_run_without_motions_has_no_figures_of_motions():
    nothing = Result((), Status.INFEASIBLE, "Out of reach.", {}, {"total": 0.5})
    row = scene_figures(nothing, [], wanted=10, processor_seconds=1.5)
    names = ("seconds_10", "frames_per_solution", "certified", "pen_mm_max", "pen_mm_p95")
    assert [row[name] for name in names] == [None] * 5
    assert (row["solutions"], row["message"], row["status"]) == (0, "Out of reach.", "INFEASIBLE")


def rows(**changes):
    good = scene_figures(
        result_of(10), [certificate([{"a": 1e-4}])] * 10, wanted=10, processor_seconds=1.5
    )
    return {bench.FIRST: good, "spatula": {**good, **changes}}


PEER = {"ratio": 250.0, "agree": 1.0}


def test_bars_take_the_worst_scene():
    judged = bench.judged_figures(rows(seconds_10=30.0, certified=0.5, pen_mm_p95=0.6), PEER)
    assert judged["seconds_10_slowest"] == 30.0
    assert judged["seconds_10_first"] == 1.5
    assert judged["certified"] == 0.5
    assert judged["pen_mm_p95"] == pytest.approx(0.6)
    assert judged["peer_ratio"] == 250.0
    assert list(judged) == list(bench.BARS)


def test_a_scene_without_ten_motions_meets_no_bar_of_time():
    judged = bench.judged_figures(rows(seconds_10=None, pen_mm_max=None, certified=None), None)
    assert math.isnan(judged["seconds_10_slowest"])
    assert math.isnan(judged["peer_ratio"])
    assert judged["certified"] == 1.0
    assert judged["pen_mm_max"] == pytest.approx(0.1)
    assert not bars_met(judged, bench.BARS)


def test_bars_of_scenes_that_were_not_run_are_not_judged():
    judged = bench.judged_figures({"spatula": rows()["spatula"]}, None)
    assert set(judged) == {"certified", "seconds_10_slowest", "pen_mm_max", "pen_mm_p95"}


def test_a_run_becomes_json_and_a_table(monkeypatch):
    from rich.console import Console

    made = rows()
    monkeypatch.setattr(bench, "measure_scene", lambda name, **_: {**made["spatula"], "n": name})
    result = bench.run(scenes="spatula, wine_pot", num=10, budget=5.0)
    assert list(result["scenes"]) == ["spatula", "wine_pot"]
    assert result["bars_met"] is True
    assert json.loads(json.dumps(result, allow_nan=False))["peer"] is None
    console = Console(width=200, file=io.StringIO())
    console.print(bench.describe(result))
    text = console.file.getvalue()
    assert "wine_pot" in text
    assert "10 certified motions, processor s" in text


@pytest.mark.parametrize("text", ["milk", "spatula,milk", "bunny_like"])
def test_unknown_scenes_are_named(text):
    with pytest.raises(UnknownNameError, match="small_box_two_hands"):
        chosen_scenes(text, bench.SCENE_NAMES)


def test_no_scene_and_no_motion_are_refused():
    assert chosen_scenes(None, bench.SCENE_NAMES) == bench.SCENE_NAMES
    with pytest.raises(InvalidValueError, match="names no scene"):
        chosen_scenes(" , ", bench.SCENE_NAMES)
    with pytest.raises(InvalidValueError, match="--num is 0"):
        bench.run(num=0)


def digit_problem(shift):
    """A ball before the fingers, and pads that shall go to where a known posture has them."""
    model = human()
    start = model.pose("rest")
    wanted = model.joints.clamp(start + 0.15)
    pads = posed_pads(model, wanted).position
    ball = make_shape("sphere", radius=0.02)
    # Distances are in the body's frame: the hand is placed so that the ball touches a pad.
    place = -(pads[1] + np.array([0.0, 0.0, -0.02 - shift]))
    digits = range(len(model.digits))
    return model, wanted, DigitProblem(
        model=model,
        root_rotation=np.eye(3),
        root_position=place,
        digit=np.array(digits),
        link=np.array([model.digits[d].pad.link for d in digits]),
        local=np.array([model.digits[d].pad.position for d in digits]),
        target=pads + place,
        is_held=np.ones(len(pads), dtype=bool),
        start=start,
        reference=start,
        low=model.joints.lower,
        high=model.joints.upper,
        field=signed_distance_field(ball),
        samples=skin_samples(model, 0.001),
        max_samples=10_000,
        margin=0.0,
        digit_margin=-3e-4,
    )  # fmt: skip


def test_the_peer_reaches_targets_that_can_be_reached():
    model, _, problem = digit_problem(shift=0.5)
    q = bend_by_slsqp(problem)
    assert problem.misses(problem.start).max() > 5e-3
    assert problem.misses(q).max() < 1e-4
    assert np.all(q >= model.joints.lower - 1e-9)
    assert np.all(q <= model.joints.upper + 1e-9)
    np.testing.assert_allclose(model.joints.clamp(q), q, atol=1e-9)


def test_the_peer_keeps_skin_out_and_digits_apart():
    model, wanted, problem = digit_problem(shift=-0.008)

    def depth(q):
        skin = posed_skin(model, skin_of(model), q, problem.root)
        return -sample_field(problem.field, np.ascontiguousarray(skin))[0].min()

    assert depth(wanted) > 2e-3
    q = bend_by_slsqp(problem)
    assert depth(q) < 5e-4
    assert finger_finger(model, q[None])[0][0] < 5e-4
