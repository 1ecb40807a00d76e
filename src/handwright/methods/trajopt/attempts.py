"""Attempts from many starts, one after the other or in several processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.trajopt.attempt import Outcome, Recipe, attempt
from handwright.methods.trajopt.build import Built
from handwright.methods.workers import started_workers

if TYPE_CHECKING:
    from handwright.methods.trajopt.contact_invariant import ContactInvariant


def run_attempts(
    problem: Problem,
    method: ContactInvariant,
    built: tuple[Built, Built],
    allowed: np.ndarray,
    seed: int,
    deadline: float,
) -> Generator[Outcome]:
    """Attempts in their order, until the deadline of ``time.monotonic``."""
    with started_workers(method.num_workers, _start_worker, (problem, method, allowed)) as pool:
        if pool is None:
            for number in range(method.max_attempts):
                yield attempt(*built, (seed, number), method.recipe, allowed, deadline)
            return
        ahead: deque[Future[Outcome]] = deque()
        for number in range(method.max_attempts):
            ahead.append(pool.submit(_work, (seed, number), deadline))
            if len(ahead) == 2 * method.num_workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def warm_up(built: tuple[Built, Built], recipe: Recipe, allowed: np.ndarray) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it."""
    short = replace(
        recipe, stage_iterations=1, tight_iterations=1, fine_iterations=1, max_repairs=0
    )
    attempt(*built, 0, short, allowed)


_state: dict[str, tuple] = {}


def _start_worker(problem: Problem, method: ContactInvariant, allowed: np.ndarray) -> None:
    _state["work"] = (method.ready(problem), method.recipe, allowed)


def _work(seed: tuple[int, int], deadline: float) -> Outcome:
    (coarse, fine), recipe, allowed = _state["work"]
    return attempt(coarse, fine, seed, recipe, allowed, deadline)
