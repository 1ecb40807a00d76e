"""Contact sampling tells how far it has come, and gives what it has when it is stopped."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from corpus import solved
from tiny_problems import tiny_turn

from handwright.core.result import Status
from handwright.methods import ContactSampling, Scripted
from handwright.synthesis import synthesize

METHOD = ContactSampling(num_solutions=2, time_budget=600.0)


@pytest.fixture(scope="module")
def problem():
    return tiny_turn()


def test_a_watcher_sees_the_search_come_to_its_result(problem):
    seen = []
    result = synthesize(problem, METHOD, seed=0, on_progress=seen.append)
    assert result.status is Status.SOLVED
    searching = [progress for progress in seen if progress.stage == "searching"]
    assert seen[0] is not searching[0]
    assert seen[-len(searching) :] == searching
    assert searching[0].statistics["attempts"] == 0.0
    assert dict(searching[-1].statistics) == dict(result.statistics)
    for name in ("solutions", "dead_ends", "total_frames", "attempts"):
        assert np.all(np.diff([progress.statistics[name] for progress in searching]) >= 0.0)
    assert np.all(np.diff([progress.seconds for progress in searching]) >= 0.0)
    assert all(progress.budget == 600.0 for progress in searching)


@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_stopped_search_gives_what_it_has_found(problem, num_workers):
    def stop(progress):
        if progress.statistics.get("solutions", 0.0) > 0.0:
            raise KeyboardInterrupt

    method = replace(METHOD, num_solutions=1000, num_workers=num_workers)
    result = synthesize(problem, method, seed=0, on_progress=stop)
    assert result.status is Status.CANCELLED
    assert not result.status.is_success
    assert len(result.clips) == result.statistics["solutions"] >= 1
    whole = solved("tiny_turn", replace(METHOD, num_solutions=1))
    assert whole.clips[0].hands["right"].q.tobytes() in [
        clip.hands["right"].q.tobytes() for clip in result.clips
    ]


def test_a_method_that_takes_no_time_need_tell_nothing_but_its_clips(problem):
    seen = []
    result = synthesize(problem, Scripted(), on_progress=seen.append, certify=False)
    assert [clip for told in seen for clip in told.clips] == list(result.clips)


def test_a_script_that_starts_itself_again_is_told_what_to_do(tmp_path):
    script = tmp_path / "bare.py"
    script.write_text(
        "import handwright as hw\n"
        "problem = hw.load_scene('milk_box_turn')\n"
        "hw.synthesize(problem, hw.ContactSampling(num_solutions=1, num_workers=2))\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 1
    assert "InvalidValueError: A worker of num_workers=2 ended by itself. Put" in done.stderr
