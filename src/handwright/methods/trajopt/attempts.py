"""Attempts from many starts, one after the other or in several processes."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.trajopt.attempt import Outcome, Recipe, attempt
from handwright.methods.trajopt.build import Built

if TYPE_CHECKING:
    from handwright.methods.trajopt.contact_invariant import ContactInvariant


def run_attempts(
    problem: Problem,
    method: ContactInvariant,
    built: tuple[Built, Built],
    allowed: np.ndarray,
    seed: int,
    deadline: float,
) -> Iterator[Outcome]:
    """Attempts in their order, until the deadline of ``time.monotonic``."""
    if method.num_workers == 1:
        for number in range(method.max_attempts):
            yield attempt(*built, (seed, number), method.recipe, allowed, deadline)
        return
    with ProcessPoolExecutor(
        method.num_workers, get_context("spawn"), _start_worker, (problem, method, allowed)
    ) as pool:
        ahead: deque[Future[Outcome]] = deque()
        number = 0
        try:
            while number < method.max_attempts or ahead:
                while number < method.max_attempts and len(ahead) < 2 * method.num_workers:
                    ahead.append(pool.submit(_work, (seed, number), deadline))
                    number += 1
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def warm_up(built: tuple[Built, Built], recipe: Recipe, allowed: np.ndarray) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it."""
    short = replace(
        recipe, stage_iterations=1, tight_iterations=1, fine_iterations=1, max_repairs=0
    )
    attempt(*built, 0, short, allowed)


_state: dict[str, tuple] = {}


def _start_worker(problem: Problem, method: ContactInvariant, allowed: np.ndarray) -> None:
    # The process that started the workers decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _state["work"] = (method.ready(problem), method.recipe, allowed)


def _work(seed: tuple[int, int], deadline: float) -> Outcome:
    (coarse, fine), recipe, allowed = _state["work"]
    return attempt(coarse, fine, seed, recipe, allowed, deadline)
