"""Independent attempts, one after the other or in several processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.math.packed import Packed
from handwright.methods.sampling.attempt import Attempt, run_attempt
from handwright.methods.sampling.judge import judge_motion, make_judged
from handwright.methods.sampling.path import make_path
from handwright.methods.sampling.prepare import Prepared, prepare
from handwright.methods.sampling.reconstruct import reconstruct
from handwright.methods.sampling.stage import part_of_stage
from handwright.methods.sampling.step import (
    Bench,
    advance,
    carried_by,
    carried_frames,
    carried_without,
    keeps_place,
    pad_place,
    posed_frames,
    settle,
)

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_sampling import ContactSampling

_WARM_FRAMES = 4


def warm_up(one: Prepared) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it."""
    joints, digits = len(one.stage.rest), len(one.stage.hand_of_digit)
    few = part_of_stage(one.stage, 0, _WARM_FRAMES)
    path = make_path(_WARM_FRAMES, joints, digits)
    path.q[:] = one.stage.rest
    bench = Packed(Bench(few, one.candidates, one.steps, path, one.room))
    settle(bench, 0, 1, False, True)
    posed_frames(bench, 1.0)
    advance(bench, 0)
    keeps_place(bench, 0, 0, 1)
    pad_place(bench, 0, 0)
    carried_frames(bench, np.full(digits, -1), len(one.candidates.frame), 1.0)
    carried_without(bench, 0, 1, np.ones(digits, dtype=np.bool_))
    carried_by(bench, 0, np.zeros((0, 3)), np.zeros((0, 3)), 1.0)
    smooth = reconstruct(one._replace(stage=few, start=one.first), path)
    judged = make_judged(_WARM_FRAMES, len(one.stage.digit_of_capsule) + 16)
    judge_motion(few, smooth.q, one.room, judged)


def run_attempts(
    problem: Problem, method: ContactSampling, prepared: list[Prepared], seed: int, deadline: float
) -> Iterator[Attempt]:
    """Attempts in their order, for as long as there is time."""
    if method.num_workers == 1:
        number = 0
        while time.monotonic() < deadline:
            yield run_attempt(prepared, method, seed, number, deadline)
            number += 1
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(
        method.num_workers, context, _start_worker, (problem, method, deadline)
    ) as pool:
        ahead = [pool.submit(_work, seed, number) for number in range(2 * method.num_workers)]
        number = len(ahead)
        try:
            while time.monotonic() < deadline:
                attempt = ahead.pop(0).result()
                ahead.append(pool.submit(_work, seed, number))
                number += 1
                yield attempt
        finally:
            for job in ahead:
                job.cancel()


_state: dict[str, object] = {}


def _start_worker(problem: Problem, method: ContactSampling, deadline: float) -> None:
    _state["prepared"] = prepare(problem, method)
    _state["method"] = method
    _state["deadline"] = deadline


def _work(seed: int, number: int) -> Attempt:
    return run_attempt(_state["prepared"], _state["method"], seed, number, _state["deadline"])  # type: ignore[arg-type]
