"""Limits of memory and time around work on files of others."""

from __future__ import annotations

import time

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.io.guarded import LimitError, guarded

resource = pytest.importorskip("resource", reason="this system has no limits of processes")


def test_too_much_memory_ends_with_a_message_and_the_limit_with_the_block():
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(LimitError, match="more than 3 GB of memory"), guarded(memory_gb=3.0):
        np.ones(2**30)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_too_much_time_ends_with_a_message_and_the_timer_with_the_block():
    with pytest.raises(LimitError, match=r"more than 0\.05 s"), guarded(seconds=0.05):
        time.sleep(5.0)
    with guarded(seconds=0.05):
        pass
    time.sleep(0.1)


def test_a_lower_limit_that_holds_already_is_kept():
    with guarded(memory_gb=5.0), guarded(memory_gb=50.0):
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 5 * 1024**3


@pytest.mark.parametrize("limits", [{"memory_gb": 0.5}, {"seconds": -1.0}, {"seconds": np.nan}])
def test_limits_must_leave_room_to_work(limits):
    with pytest.raises(InvalidValueError, match="expected at least 1 GB"), guarded(**limits):
        pass
