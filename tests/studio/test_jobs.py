from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.core.track import still
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.io.clip.file import load_certificate, load_clip
from handwright.math.pose import Pose
from handwright.methods import Method, Scripted
from handwright.methods.base import Attempt, Search
from handwright.studio.forms import form, make_method
from handwright.studio.jobs import worker
from handwright.studio.jobs.planning import JobPlan
from handwright.studio.library.folder import clip_id
from handwright.studio.messages import JobRequest
from handwright.studio.server.events import Hub

QUICK = {"scene": "milk_box_turn", "method": "scripted", "certify": False}
LONG = {"scene": "milk_box_turn", "method": "sampling", "settings": {"num_solutions": 500}}


def post(served, request):
    return served.client.post("/api/jobs", json=request)


def test_a_job_ends_with_a_clip_on_the_wall(served):
    answer = post(served, {**QUICK, "seed": 7})
    assert answer.status_code == 202
    job = answer.json()
    assert (job["state"], job["method"], job["wanted"]) == ("queued", "scripted", 1)
    job = served.job(job["id"], "done", "failed")
    assert (job["state"], job["found"], job["message"]) == ("done", 1, "")
    clip = served.get(f"/api/clips/{job['clips'][0]}").json()
    assert (clip["job"], clip["seed"], clip["scene"]) == (job["id"], 7, "milk_box_turn")
    assert load_clip(served.root / clip["file"]).num_frames == clip["num_frames"]
    assert job["id"] in {listed["id"] for listed in served.get("/api/jobs").json()}


def test_a_job_that_cannot_be_done_says_what_to_do(served):
    job = post(served, {"scene": "pick_ball", "method": "scripted"}).json()
    job = served.job(job["id"], "done", "failed")
    assert job["state"] == "failed"
    assert "use the method 'trajopt'" in job["message"]


def test_a_cancelled_job_ends_at_once_and_the_next_one_is_done(served):
    running, waiting, last = (post(served, r).json()["id"] for r in (LONG, LONG, QUICK))
    served.job(running, "running")
    assert served.client.delete(f"/api/jobs/{waiting}").json()["state"] == "cancelled"
    assert served.client.delete(f"/api/jobs/{running}").json()["state"] == "cancelled"
    assert served.job(last, "done", "failed")["state"] == "done"
    assert served.client.delete(f"/api/jobs/{last}").json()["state"] == "done"
    assert served.get(f"/api/jobs/{running}").json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scene": "milk_bux_turn"}, "Did you mean 'milk_box_turn'?"),
        ({"scene": "../../etc/passwd"}, "Unknown scene"),
        ({"method": "magic"}, "Known: neural, sampling, scripted, stepwise, throwing, trajopt"),
        ({"method": "__import__('os').system('true')"}, "Unknown method"),
        ({"settings": {"pose": "fist"}}, "expected one of closed,"),
        ({"settings": {"posse": "open"}}, "Did you mean 'pose'?"),
        ({"settings": {"pose": None}}, "expected a value"),
        ({"method": "sampling", "settings": {"num_solutions": 1.5}}, "a whole number"),
        ({"method": "sampling", "settings": {"num_solutions": 0}}, "1 or more"),
        ({"method": "sampling", "settings": {"baseline": 1}}, "true or false"),
        ({"seed": -1}, "'seed' is -1; expected 0 or more. Change that"),
        ({"colour": "red"}, "'colour' is not known here."),
        ({"bodies": [{"body": "milk_box", "shape": "cloud"}]}, "Unknown shape 'cloud'"),
        ({"bodies": [{"body": "jug"}]}, "Known: milk_box"),
        ({"bodies": [{"body": "milk_box", "mass": -1}]}, "is -1; expected a number above 0."),
        ({"bodies": [{"body": "milk_box", "mass": 1e9}]}, "expected 100 at most."),
        ({"bodies": [{"body": "milk_box", "upload": "../secret"}]}, "no upload"),
        ({"hands": [{"hand": "left", "offset": [0, 0, 0]}]}, "Known: right"),
        ({"hands": [{"hand": "right", "offset": [0, 0]}]}, "is [0, 0]; expected 3 values."),
        (
            {"pins": [{"digit": "index", "point": [0, 0, 0], "start": 0, "end": None}]},
            "only 'sampling' takes them",
        ),
        (
            {"method": "sampling",
             "pins": [{"digit": "toe", "point": [0, 0, 0], "start": 0, "end": None}]},
            "Unknown digit of a pin 'toe'",
        ),
        (
            {"method": "sampling",
             "pins": [{"digit": "index", "point": [0, 0, 0], "start": 0, "end": None,
                       "body": "jug"}]},
            "Unknown body of a pin 'jug'",
        ),
        (
            {"goals": [{"body": "milk_box", "position": [0, 0, 0], "wxyz": None, "time": 1}]},
            "moves on a track here",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_with_what_is(served, change, said):
    answer = post(served, {**QUICK, **change})
    assert answer.status_code == 422
    assert said in answer.json()["message"]


def test_a_goal_takes_the_place_of_the_last_one(tmp_path):
    from handwright.studio.jobs.planning import plan_job

    wanted = {"body": "ball", "position": [0.1, 0.2, 1.0], "wxyz": [1.01, 0, 0, 0], "time": 4.0}
    plan = plan_job(tmp_path, JobRequest(scene="pick_ball", goals=[wanted]))
    usual = plan_job(tmp_path, JobRequest(scene="pick_ball"))
    assert len(plan.problem.goals) == len(usual.problem.goals)
    last = max((g for g in plan.problem.goals if g.feature.owner == "ball"), key=lambda g: g.end)
    assert last.position.tolist() == [0.1, 0.2, 1.0]
    assert last.wxyz.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert plan.method.name == "trajopt"


def test_forms_hold_every_plain_setting_with_its_text():
    from handwright.methods import METHODS

    settings = {setting.name: setting for setting in form(METHODS["sampling"])}
    assert settings["num_solutions"].kind == "integer"
    assert settings["num_solutions"].help == "How many different motions to look for."
    assert settings["strategy"].choices == ["mixed", "static", "slide", "relocate"]
    assert (settings["smoothing_hz"].is_optional, settings["smoothing_hz"].unit) == (True, "Hz")
    assert settings["baseline"].kind == "boolean"
    assert "pins" not in settings
    # Words, not names of the code.
    labels = [setting.label for cls in METHODS.values() for setting in form(cls)]
    assert not [label for label in labels if label.startswith(("Num ", "Max ")) or "_" in label]
    for name, cls in METHODS.items():
        defaults = {s.name: s.default for s in form(cls)}
        assert make_method(name, defaults, {}) == cls()
        assert all(setting.help for setting in form(cls) if name != "scripted")


@dataclass(frozen=True, slots=True)
class Tells(Method):
    """A method that finds motions one after the other, the second of which is refused."""

    name: ClassVar[str] = "tells"

    root: str
    num_solutions: int = 2

    def search(self, problem):
        return Telling(Path(self.root), problem)


class Telling(Search):
    def __init__(self, root, problem):
        self.root, self.problem = root, problem

    def attempt(self, context):
        # What was found is in the folder, whole, before the next is looked for.
        assert len(list(self.root.glob("stem_*.npz"))) == (0, 1, 1)[context.number]
        clip = Scripted(pose="open").search(self.problem).attempt(context).found[0]
        if context.number == 1:
            lifted = clip.bodies["box"]
            lifted = Pose(lifted.position + np.array([0.0, 0.0, 0.1]), lifted.wxyz)
            clip = replace(clip, bodies={"box": lifted})
        return Attempt((clip,))


def test_only_certified_motions_are_written_each_as_soon_as_it_is_found(tmp_path, monkeypatch):
    sent = []

    class Parent:
        send = sent.append

    times = np.linspace(0.0, 0.2, 7)
    problem = Problem(
        "resting",
        times,
        {"hand": trident()},
        {"box": make_shape("box", width=0.06, depth=0.06, height=0.06)},
        {
            "hand": still(Pose(np.array([-0.5, 0.0, 0.5]), np.array([1.0, 0, 0, 0])), times),
            "box": still(Pose(np.array([0.0, 0.0, 0.03]), np.array([1.0, 0, 0, 0])), times),
        },
        environment=(HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0),),
    )
    monkeypatch.setattr(worker, "plan_job", lambda *_: JobPlan(problem, Tells(str(tmp_path))))
    order = {"root": str(tmp_path), "hidden": str(tmp_path), "stem": "stem",
             "request": {"scene": "resting"}}  # fmt: skip
    end = worker._do(Parent, order)
    assert (end["kind"], end["statistics"]["refused"]) == ("done", 1.0)
    assert end["message"].startswith("Motions that were found and refused: 1 (force_residual 1")
    assert [message["file"] for message in sent if message["kind"] == "clip"] == [
        "stem_00.npz", "stem_01.npz"
    ]  # fmt: skip
    assert load_certificate(tmp_path / "stem_01.npz").passed
    assert json.loads(json.dumps(sent)) == sent


def test_pages_that_listen_are_told():
    async def listen():
        hub = Hub()
        stream = hub.stream()
        heard = [await anext(stream)]
        hub.tell_gone(clip_id("x.npz"))
        heard.append(await anext(stream))
        hub.close()
        return heard + [text async for text in stream]

    hello, gone = asyncio.run(listen())
    assert hello.startswith(":")
    assert gone.startswith("event: clip_gone\ndata: {")


def test_events_come_over_the_wire(served):
    with served.client.stream("GET", "/api/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines).startswith(":")
        clip = served.clip("ball_0.npz")
        served.client.put(f"/api/clips/{clip['id']}/favourite", json={"is_favourite": False})
        told = next(json.loads(line[6:]) for line in lines
                    if line.startswith("data: ") and clip["id"] in line)  # fmt: skip
        assert told["clip"]["id"] == clip["id"]


def test_scenes_say_where_their_bodies_should_end_up(tmp_path):
    from handwright.scenes import load_scene
    from handwright.studio.uploads.catalogue import describe_scene

    (goal,) = describe_scene(tmp_path, "pick_box").goals
    (usual,) = load_scene("pick_box").goals
    assert (goal.body, goal.position, goal.time) == ("box", usual.position.tolist(), usual.start)
    last = {goal.body: goal for goal in describe_scene(tmp_path, "pour_wine").goals}
    assert set(last) == {"bottle", "glass"}
    assert last["bottle"].time == max(
        goal.start for goal in load_scene("pour_wine").goals if goal.feature.owner == "bottle"
    )
    # Goals of hands, and of points of a body, are none of its own place.
    assert describe_scene(tmp_path, "dial_phone").goals == []
    assert describe_scene(tmp_path, "draw_square").goals == []
    assert describe_scene(tmp_path, "milk_box_turn").goals == []
