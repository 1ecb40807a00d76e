from __future__ import annotations

import json

import pytest
from websockets.sync.client import connect

from handwright.evidence import certify
from handwright.io.clip.file import load_clip
from handwright.studio.live.scene import MAX_FORCE, LiveScene, cut_problem
from handwright.studio.live_messages import LiveFrame

from .conftest import PATIENCE

SCENE = "lift_expected"


class Page:
    """The page's end of the line."""

    def __init__(self, socket, *, tells_what_it_saw: bool = False) -> None:
        self._socket, self._tells = socket, tells_what_it_saw

    def say(self, **command) -> None:
        self._socket.send(json.dumps(command))

    def hear(self, *kinds: str) -> LiveFrame:
        """The next message of some kinds."""
        while True:
            frame = LiveFrame.model_validate_json(self._socket.recv(timeout=5 * PATIENCE))
            if self._tells and frame.kind == "frame":
                self.say(kind="seen")
            if frame.kind in kinds:
                return frame
            assert frame.kind != "trouble", frame.message

    def at(self, time: float) -> LiveFrame:
        """The first frame at or after a time."""
        while (frame := self.hear("frame")).time < time - 1e-6:
            pass
        return frame

    def until(self, is_so, limit: float) -> LiveFrame:
        """The first frame of which something is so, before a time."""
        while not is_so(frame := self.hear("frame")):
            assert frame.time < limit, frame
        return frame


def across(frame: LiveFrame) -> float:
    """Sum of the contact forces along x, N."""
    return sum(contact.force[0] for contact in frame.contacts)


@pytest.fixture
def page(served):
    address = f"ws://127.0.0.1:{served.port}/api/live"
    with connect(address, origin=served.url, max_size=None) as socket:
        yield Page(socket)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "The request is not JSON"),
        ("{}", "kind"),
        ('{"kind": "explode"}', "kind"),
        ('{"kind": "push", "force": [1, 2]}', "force"),
        ('{"kind": "push", "force": [1, 2, NaN]}', "force"),
        ('{"kind": "start", "code": "import os"}', "code"),
        ('{"kind": "release"}', "Choose a scene first"),
        ('{"kind": "save"}', "Choose a scene first"),
    ],
)
def test_what_is_not_understood_is_trouble_and_nothing_else(page, text, said):
    page._socket.send(text)
    assert said in page.hear("trouble").message


def test_a_scene_is_pushed_paused_and_saved(served, page):
    page.say(kind="start", scene="pick_ball")
    page.hear("preparing")
    assert "cannot be stepped live" in page.hear("trouble").message
    page.say(kind="start", scene="nowhere")
    assert "Unknown scene 'nowhere'" in page.hear("trouble").message
    page.say(kind="start", scene=SCENE)
    ready = page.hear("ready")
    model = served.get(ready.model).raise_for_status()
    assert model.content.startswith(b"glTF")
    first = page.hear("frame")
    assert [body.name for body in first.bodies] == ["box"]
    page.say(kind="push", body="nobody", point=[0, 0, 0], force=[1, 0, 0])
    assert "Known: box" in page.hear("trouble").message
    page.say(kind="push", body="box", point=[0, 0, 0], force=[1e4, 0, 0])
    assert "at most" in page.hear("trouble").message
    calm = page.at(3.0)
    page.say(kind="push", body="box", point=[0, 0, 0], force=[6.0, 0, 0])
    pushed = page.until(lambda frame: across(frame) < -3.0, calm.time + 5.0)
    # Frames are Y up, and x stays x: the hand holds against the push.
    assert abs(across(calm)) < 1.0
    assert pushed.fps > 0.0
    assert {contact.body for contact in pushed.contacts} == {"box"}
    page.say(kind="release")
    page.say(kind="save")
    saved = page.hear("saved")
    clip = served.get(f"/api/clips/{saved.clip}").raise_for_status().json()
    loaded = load_clip(served.root / clip["file"])
    assert [push.force.tolist() for push in loaded.problem.pushes] == [[6.0, 0.0, 0.0]]
    assert loaded.provenance.method == "stepwise"
    # The pushes are part of the problem, so that forces explain what the body did.
    assert "force_residual" not in certify(loaded).reasons
    page.say(kind="pause")
    page.say(kind="save")
    page.hear("saved")
    served.client.delete(f"/api/clips/{saved.clip}")


def test_a_live_scene_says_what_it_needs():
    from handwright.errors import InvalidValueError
    from handwright.scenes import load_scene

    with pytest.raises(InvalidValueError, match="cannot be stepped live"):
        LiveScene(load_scene("pick_ball"))
    assert MAX_FORCE > 100.0


def test_a_problem_is_cut_to_the_frames_that_there_are():
    from handwright.scenes import load_scene

    problem = load_scene("cup_pushed_fast")
    times = problem.times[: len(problem.times) // 3]
    cut = cut_problem(problem, times, ())
    ends = [goal.end for goal in cut.goals] + [push.end for push in cut.pushes]
    assert max(ends, default=0.0) <= times[-1]
    assert len(cut_problem(problem, problem.times, ()).goals) == len(problem.goals)
