"""The benchmark of learned fingers on things that were not taught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from corpus import problem_of

from benchmarks.neural import shapes
from benchmarks.neural.scene_status import scene_rows
from benchmarks.neural.shape_cases import PLANS, SCALED, ShapeCase, swapped
from benchmarks.neural.shape_figures import shape_figures
from handwright.geometry.shapes import make_shape
from handwright.learning.data.shapes import KINDS
from handwright.methods import Scripted
from handwright.synthesis import synthesize

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_fingers"
SCENE = "milk_box_turn"


def _scripted(pose):
    return synthesize(problem_of(SCENE), Scripted(end_pose=pose), certify=False).best


def test_an_open_hand_holds_nothing_and_frames_that_are_too_deep_are_not_counted():
    open_hand, closed = shape_figures(_scripted("open")), shape_figures(_scripted("closed"))
    assert open_hand.carried > 0
    assert open_hand.realism == 0.0
    assert 0.0 < open_hand.digits < 5.0
    # Fingers that close right through the box: nothing is left to be counted, and it shows.
    assert closed.deepest > open_hand.deepest
    assert closed.carried == 0
    assert np.isnan([closed.realism, closed.digits]).all()


def test_a_swapped_body_has_its_middle_and_friction_where_the_old_one_had_them():
    problem = problem_of(SCENE)
    (name,) = problem.bodies
    body = swapped(problem, make_shape("cone")).bodies[name]
    np.testing.assert_allclose(body.bounds.mean(axis=0), 0.0, atol=1e-12)
    assert body.friction == problem.bodies[name].friction
    # The centre of mass moves with the surface.
    cone = make_shape("cone")
    shift = cone.bounds.mean(axis=0)
    np.testing.assert_allclose(body.center, cone.center - shift, atol=1e-12)


def test_the_new_tea_set_is_in_no_set_that_is_taught():
    taught = {thing.name for kinds in KINDS.values() for kind in kinds for thing in kind.things}
    new = {
        thing.name
        for group, plans in PLANS.items()
        if group != SCALED
        for plan in plans
        for thing in plan.things
        if thing.shape in ("teapot", "mug")
    }
    assert len(new) == 2
    assert not new & taught


def test_a_scene_gets_fingers_and_no_search_without_a_budget():
    (row,) = scene_rows([SCENE], str(TINY), 0.0, lambda _: None)
    assert row["is_moved"]
    assert row["plain"] == "moved"
    assert row["certified"] is None
    assert row["deepest"] >= row["penetration"] >= 0.0


def test_figures_are_judged_and_shown(monkeypatch):
    monkeypatch.setattr(
        shapes, "shape_cases", lambda: iter([ShapeCase("box", SCALED, problem_of(SCENE))])
    )
    result = shapes.run(model=str(TINY), scenes=SCENE, budget=0.0)
    assert set(result["judged"]) == set(shapes.BARS)
    assert result["judged"]["scenes_moved"] == 1.0
    (row,) = result["shapes"]
    assert result["judged"]["shapes_realism"] == pytest.approx(row["realism"])
    titles = [part.title for part in shapes.describe(result).renderables]
    assert titles[0] == SCALED
    assert "Scenes with tracks" in titles
