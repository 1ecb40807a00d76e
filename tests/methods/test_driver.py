"""The driver of all methods, with toy methods: budgets, refusals, order, interrupts, messages."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.result import Status
from handwright.core.track import still
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.methods.base import Attempt, AttemptContext, Method, Search
from handwright.methods.driver import GOALS, Judged, drive

TIMES = np.linspace(0.0, 0.1, 4)
HERE = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


@pytest.fixture(scope="module")
def clip() -> Clip:
    problem = Problem(
        "toy",
        TIMES,
        {"hand": trident()},
        {"ball": make_shape("sphere")},
        {"hand": still(HERE, TIMES), "ball": still(HERE, TIMES)},
    )
    context = AttemptContext(0, 0, 1, 1.0)
    return Scripted().search(problem).attempt(context).found[0]


@dataclass(frozen=True, slots=True)
class Toy(Method):
    """Attempts by their numbers; each is a list of candidates, or seconds to work or to sleep."""

    name: ClassVar[str] = "toy"

    plan: tuple[object, ...] = ()
    num_solutions: int = 1
    time_budget: float = 60.0
    clip: Clip | None = field(default=None, compare=False)
    obstacle: str = ""

    def search(self, problem):
        return ToySearch(self)


class ToySearch(Search):
    def __init__(self, method):
        self.method, self.wanted, self.begun = method, [], []
        self.max_attempts = len(method.plan)

    def start(self, crew):
        return self.method.obstacle

    def attempt(self, context):
        self.wanted.append(context.wanted)
        step = self.method.plan[context.number]
        if step == "work":
            while not context.is_over:
                pass
            return Attempt(causes=Counter(["the work at frame 7 never ends."]))
        if step == "sleep":
            time.sleep(0.05)
            return Attempt(causes=Counter([f"it slept at frame {context.number}."]))
        if step in ("stop", "stop half-way"):
            self.begun = [(0.0, replace(self.method.clip))] if step == "stop half-way" else []
            raise KeyboardInterrupt
        made = [(cost, replace(self.method.clip)) for cost in step]
        return Attempt(made, statistics={"tries": 1.0}, timings={"toying": 0.5})

    def unfinished(self):
        return self.begun

    def clip(self, found):
        return found[1]

    def cost(self, found):
        return found[0]


def run(clip, plan, *, refuse=(), seen=None, **settings):
    """The result; candidates are refused by their count, with the reason that is given."""
    count = iter(range(1000))

    def judge(candidate):
        number = next(count)
        reasons = dict(refuse).get(number, ())
        return Judged(candidate, None, reasons, f"fault at frame {number}." if reasons else "")

    watcher = None if seen is None else seen.append
    method = Toy(plan=tuple(plan), clip=clip, **settings)
    return drive(clip.problem, method, seed=0, judge=judge, watcher=watcher)


def test_candidates_that_are_refused_are_counted_by_reason_and_the_next_is_asked_for(clip):
    seen = []
    refuse = {0: ("slip", "gap"), 2: ("slip",)}
    result = run(
        clip, [[3.0], [2.0], [5.0], [1.0], [9.0]], refuse=refuse, seen=seen, num_solutions=2
    )
    assert result.status is Status.SOLVED
    assert result.refused == {"slip": 2, "gap": 1}
    assert (result.statistics["refused"], result.statistics["attempts"]) == (2.0, 4.0)
    assert result.statistics["tries"] == 4.0
    assert result.timings["toying"] == 2.0
    # Those who watch are told of what passed, once, when it passed; the result has the best first.
    told = [one.clips for one in seen if one.clips]
    assert [len(clips) for clips in told] == [1, 1]
    assert result.clips == (told[1][0], told[0][0])
    # So they are of what did not, which is in no result.
    refused = [one.refused_clips for one in seen if one.refused_clips]
    assert [len(clips) for clips in refused] == [1, 1]
    assert all(clips[0] not in result.clips for clips in refused)


def test_motions_that_are_all_refused_are_not_returned(clip):
    result = run(clip, [[1.0], [1.0]], refuse={0: ("slip",), 1: ("slip",)})
    assert (result.status, result.clips) == (Status.REFUSED, ())
    assert result.message == (
        "0 of 1 motions after 2 attempts. Refused: 2 (slip 2). Most often (2 times): "
        "fault at frame 0."
    )


def test_motions_that_only_miss_their_goals_are_returned_if_there_is_nothing_better(clip):
    seen = []
    refuse = {0: (GOALS,), 1: (GOALS, "slip")}
    missed = run(clip, [[1.0], [1.0]], refuse=refuse, seen=seen)
    assert missed.status is Status.GOALS_MISSED
    assert not missed.status.is_success
    assert [one for told in seen for one in told.clips] == list(missed.clips)
    # The one that is returned is certified, and hence not told of as refused.
    (refused,) = [one for told in seen for one in told.refused_clips]
    assert refused is not missed.clips[0]
    assert len(missed.clips) == 1
    better = run(clip, [[1.0], [1.0], [1.0]], refuse=refuse)
    assert (better.status, len(better.clips)) == (Status.SOLVED, 1)
    assert better.refused == {"goals": 2, "slip": 1}


def test_an_attempt_gives_no_more_than_is_wanted(clip):
    result = run(clip, [[1.0], [4.0, 3.0, 2.0]], refuse={1: ("gap",)}, num_solutions=3)
    # Three were found by the second attempt, of which two were wanted and one was refused.
    assert (result.status, len(result.clips)) == (Status.PARTLY_SOLVED, 2)
    assert result.refused == {"gap": 1}


def test_budgets_are_processor_time(clip):
    """Sleeping, as a process does that others keep from the processor, costs nothing."""
    slept = run(clip, ["sleep"] * 8, time_budget=0.2)
    assert slept.statistics["attempts"] == 8.0
    assert slept.status is Status.INFEASIBLE
    begin = time.process_time()
    worked = run(clip, ["work"] * 8, time_budget=0.2)
    assert 0.15 < time.process_time() - begin < 1.0
    assert worked.statistics["attempts"] == 1.0
    assert worked.status is Status.TIME_BUDGET
    assert worked.message == (
        "0 of 1 motions after 1 attempt. Most often (once): the work at frame 7 never ends."
    )


def test_judging_is_not_charged_to_the_budget(clip):
    def judge(candidate):
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        return Judged(candidate, None, ("slip",), "fault.")

    method = Toy(plan=([1.0],) * 4, clip=clip, time_budget=0.05)
    result = drive(clip.problem, method, seed=0, judge=judge)
    assert result.statistics["attempts"] == 4.0
    assert result.timings["certification"] >= 0.4


def test_an_interrupt_keeps_what_was_found(clip):
    result = run(clip, [[1.0], "stop", [1.0]], num_solutions=3)
    assert (result.status, len(result.clips), result.message) == (Status.CANCELLED, 1, "")


def test_what_an_interrupted_attempt_had_come_to_is_kept_if_it_is_certified(clip):
    seen = []
    result = run(clip, ["stop half-way"], seen=seen)
    assert (result.status, len(result.clips)) == (Status.CANCELLED, 1)
    count = len(clip.times)
    told = f"It was interrupted after {count} of {count} frames"
    assert result.message == f"{told}, which are kept as a clip."
    assert [one.clips for one in seen if one.clips] == [result.clips]
    # Goals lie at the end, where it has not come to.
    assert len(run(clip, ["stop half-way"], refuse={0: (GOALS,)}).clips) == 1
    seen = []
    result = run(clip, ["stop half-way"], refuse={0: ("slip",)}, seen=seen)
    assert (result.status, result.clips) == (Status.CANCELLED, ())
    assert [len(one.refused_clips) for one in seen if one.refused_clips] == [1]
    assert result.message == f"{told}, which are refused: fault at frame 0."


def test_an_obstacle_is_told_before_any_attempt(clip):
    result = run(clip, [[1.0]], obstacle="The body is nailed to the table. Pull out the nails.")
    assert (result.status, result.clips) == (Status.INFEASIBLE, ())
    assert result.message == "The body is nailed to the table. Pull out the nails."
