"""Processes that work beside this one: they end when told to, but never within a result."""

from __future__ import annotations

import time

import numpy as np

from handwright.methods.workers import started_workers

# Far more than a pipe holds, so that handing it over takes a while.
RESULT = 4_000_000

# Workers import what they run by its name, and this file is no module for them: both of these are.
NOTHING_TO_PREPARE = (time.sleep, (0,))
large_result = np.full


def test_workers_end_while_they_hand_results_over():
    """Ends at many moments of the hand-over; a reader of half a result would wait for ever."""
    for trial in range(4):
        with started_workers(2, *NOTHING_TO_PREPARE) as pool:
            assert pool is not None
            futures = [pool.submit(large_result, RESULT, float(number)) for number in range(6)]
            assert futures[0].result()[0] == 0.0
            time.sleep(0.003 * trial)


def test_results_arrive_whole():
    with started_workers(2, *NOTHING_TO_PREPARE) as pool:
        assert pool is not None
        found = [pool.submit(large_result, RESULT, float(number)) for number in range(3)]
        assert [np.unique(one.result()).tolist() for one in found] == [[0.0], [1.0], [2.0]]
