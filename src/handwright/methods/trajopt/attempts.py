"""Attempts from many starts, one after the other or in several processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.trajopt.attempt import Outcome, attempt
from handwright.methods.trajopt.attempt_settings import AttemptSettings
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.skin_fit import fit_skin
from handwright.methods.workers import started_workers

if TYPE_CHECKING:
    from handwright.methods.trajopt.method import ContactInvariant


@contextmanager
def started_attempts(
    problem: Problem,
    method: ContactInvariant,
    built: tuple[Transcription, Transcription],
    allowed: np.ndarray,
) -> Iterator[Attempts]:
    """Attempts at a problem; returns when processes have started."""
    with started_workers(method.num_workers, _start_worker, (problem, method, allowed)) as pool:
        if pool is not None:
            wait([pool.submit(_stand_by) for _ in range(method.num_workers)])
        yield Attempts(method, built, allowed, pool)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts from many starts."""

    method: ContactInvariant
    built: tuple[Transcription, Transcription]
    allowed: np.ndarray
    pool: ProcessPoolExecutor | None

    def run(self, seed: int, deadline: float) -> Iterator[Outcome]:
        """Attempts in their order; none is handed out after the deadline of ``time.monotonic``."""
        numbers = takewhile(lambda _: time.monotonic() < deadline, range(self.method.max_attempts))
        if self.pool is None:
            for number in numbers:
                yield attempt(
                    *self.built,
                    (seed, number),
                    self.method.attempt_settings,
                    self.allowed,
                    deadline,
                )
            return
        ahead: deque[Future[Outcome]] = deque()
        for number in numbers:
            ahead.append(self.pool.submit(_work, (seed, number), deadline))
            if len(ahead) == 2 * self.method.num_workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def warm_up(
    built: tuple[Transcription, Transcription], settings: AttemptSettings, allowed: np.ndarray
) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it."""
    short = replace(
        settings, stage_iterations=1, tight_iterations=1, fine_iterations=1, max_repairs=0
    )
    outcome = attempt(*built, 0, short, allowed)
    fit_skin(built[1], outcome.keys)


_state: dict[str, tuple] = {}


def _start_worker(problem: Problem, method: ContactInvariant, allowed: np.ndarray) -> None:
    _state["work"] = (method.ready(problem), method.attempt_settings, allowed)


def _work(seed: tuple[int, int], deadline: float) -> Outcome:
    (coarse, fine), settings, allowed = _state["work"]
    return attempt(coarse, fine, seed, settings, allowed, deadline)


def _stand_by() -> None:
    """Nothing: whoever waits for this knows that a worker has started."""
