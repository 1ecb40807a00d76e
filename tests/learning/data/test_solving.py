"""From a number to a motion, or to the reason why there is none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from handwright.core.result import Status
from handwright.learning.data import solving
from handwright.learning.data.run import UNSOLVED, DataRun


def test_a_search_that_is_told_to_stop_leaves_no_note(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "problem_of", lambda *_: None)
    stopped = SimpleNamespace(status=Status.CANCELLED)
    monkeypatch.setattr(solving, "solve", lambda *_, **__: stopped)
    monkeypatch.setattr(solving, "stage_script", lambda *_: SimpleNamespace())
    (tmp_path / UNSOLVED).mkdir()
    with pytest.raises(KeyboardInterrupt):
        DataRun("primitives", tmp_path, 100).make(0)
    assert list((tmp_path / UNSOLVED).iterdir()) == []
