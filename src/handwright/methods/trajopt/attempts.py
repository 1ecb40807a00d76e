"""Attempts from many starts, one after the other or in several processes."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.trajopt.attempt import Outcome, attempt
from handwright.methods.trajopt.build import Built

if TYPE_CHECKING:
    from handwright.methods.trajopt.contact_invariant import ContactInvariant


def run_attempts(
    problem: Problem,
    method: ContactInvariant,
    built: tuple[Built, Built],
    allowed: np.ndarray,
    seed: int,
) -> Iterator[Outcome]:
    """Attempts in their order."""
    if method.num_workers == 1:
        for number in range(method.max_attempts):
            yield attempt(*built, (seed, number), method.recipe, allowed)
        return
    with ProcessPoolExecutor(
        method.num_workers, get_context("spawn"), _start_worker, (problem, method, allowed)
    ) as pool:
        ahead: deque[Future[Outcome]] = deque()
        number = 0
        try:
            while number < method.max_attempts or ahead:
                while number < method.max_attempts and len(ahead) < 2 * method.num_workers:
                    ahead.append(pool.submit(_work, (seed, number)))
                    number += 1
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_state: dict[str, tuple] = {}


def _start_worker(problem: Problem, method: ContactInvariant, allowed: np.ndarray) -> None:
    # The process that started the workers decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _state["work"] = (method.ready(problem), method.recipe, allowed)


def _work(seed: tuple[int, int]) -> Outcome:
    (coarse, fine), recipe, allowed = _state["work"]
    return attempt(coarse, fine, seed, recipe, allowed)
