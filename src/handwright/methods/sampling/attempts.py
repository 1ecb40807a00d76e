"""Independent attempts, one after the other or in several processes, which first compile."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import TimeoutError as LateError
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.problem import Problem
from handwright.errors import HandwrightError
from handwright.geometry.environment import pack_environment
from handwright.geometry.sdf_build import signed_distance_field
from handwright.kinematics.around import seen_over
from handwright.kinematics.spacetime import no_anchors, smooth_digits
from handwright.math.packed import Packed
from handwright.math.pose import Pose
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
    from multiprocessing.pool import AsyncResult, Pool

    from handwright.methods.sampling.contact_sampling import ContactSampling

_WARM_FRAMES = 4
# Longest wait for a worker that compiles, and for one that should have ended, s.
_PATIENCE, _GRACE = 300.0, 10.0


@contextmanager
def started_workers(problem: Problem, method: ContactSampling) -> Iterator[Pool | None]:
    """Processes that compile and search beside this one; None if this one does it alone.

    They end with the ``with`` block, whatever they do then.
    """
    if method.num_workers == 1:
        yield None
        return
    context = get_context("spawn")
    with context.Pool(method.num_workers, _start_worker, (problem, method)) as pool:
        yield pool


def compile_early(pool: Pool | None) -> list[AsyncResult[None]]:
    """Lets workers compile what needs no prepared problem; what they compile is kept on disk."""
    if pool is None:
        return []
    return [pool.apply_async(_compile_preparation), pool.apply_async(_compile_smoothing)]


def warm_up(
    one: Prepared, pool: Pool | None = None, early: Sequence[AsyncResult[None]] = ()
) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it.

    Args:
        one: A holding.
        pool: Workers that take their share.
        early: What ``compile_early`` began.
    """
    joints, digits = len(one.stage.rest), len(one.stage.hand_of_digit)
    few = part_of_stage(one.stage, 0, _WARM_FRAMES)
    path = make_path(_WARM_FRAMES, joints, digits)
    path.q[:] = one.stage.rest
    bench = Bench(few, one.candidates, one.steps, path, one.room)
    others = (_compile_carrying, _compile_judge)
    if pool is None:
        _compile_steps(bench)
        reconstruct(one._replace(stage=few, start=one.first), path)
        for compile_other in others:
            compile_other(bench)
        return
    jobs = [*early, *(pool.apply_async(job, (bench,)) for job in others)]
    _compile_steps(bench)
    for job in jobs:
        wait_for(job)


def wait_for(job: AsyncResult[None]) -> None:
    """Waits for a compiler, but not for ever: whatever it leaves is compiled when it is used."""
    with suppress(LateError):
        job.get(_PATIENCE)


def _compile_steps(bench: Bench) -> None:
    packed = Packed(bench)
    settle(packed, 0, 1, False, True)
    posed_frames(packed, 1.0)
    advance(packed, 0)
    keeps_place(packed, 0, 0, 1)
    pad_place(packed, 0, 0)


def _compile_carrying(bench: Bench) -> None:
    packed, digits = Packed(bench), len(bench.stage.hand_of_digit)
    carried_frames(packed, np.full(digits, -1), len(bench.candidates.frame), 1.0)
    carried_without(packed, 0, 1, np.ones(digits, dtype=np.bool_))
    carried_by(packed, 0, np.zeros((0, 3)), np.zeros((0, 3)))


def _compile_judge(bench: Bench) -> None:
    judged = make_judged(_WARM_FRAMES, len(bench.stage.digit_of_capsule) + 16)
    judge_motion(bench.stage, bench.path.q, bench.room, judged)


def _compile_preparation() -> None:
    # A mistake of the user is found again, and told, by the process that started this one.
    with suppress(HandwrightError):
        _own_problem()


def _compile_smoothing() -> None:
    """As in ``reconstruct``, for any hand and body."""
    problem: Problem = _state["problem"]  # type: ignore[assignment]
    model = next(iter(problem.hands.values()))
    body, poses = next(iter(problem.bodies.values())), Pose.identity(_WARM_FRAMES)
    smooth_digits(
        model,
        poses,
        np.tile(model.pose("rest"), (_WARM_FRAMES, 1)),
        no_anchors(),
        field=signed_distance_field(body),
        environment=seen_over(pack_environment(problem.environment), poses),
    )


def run_attempts(
    method: ContactSampling,
    prepared: list[Prepared],
    seed: int,
    deadline: float,
    pool: Pool | None = None,
) -> Iterator[Attempt]:
    """Attempts in their order, for as long as there is time."""
    number = 0
    if pool is None:
        while time.monotonic() < deadline:
            yield run_attempt(prepared, method, seed, number, deadline)
            number += 1
        return
    ahead: deque[AsyncResult[Attempt]] = deque()
    while (left := deadline - time.monotonic()) > 0.0:
        while len(ahead) < 2 * method.num_workers:
            ahead.append(pool.apply_async(_work, (seed, number, deadline)))
            number += 1
        try:
            yield ahead.popleft().get(left + _GRACE)
        except LateError:
            return


_state: dict[str, object] = {}


def _start_worker(problem: Problem, method: ContactSampling) -> None:
    # The process that started the workers decides what an interrupt means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _state["problem"] = problem
    _state["method"] = method


def _own_problem() -> None:
    """Makes the problem ready for this worker."""
    if "prepared" not in _state:
        _state["prepared"] = prepare(_state["problem"], _state["method"])  # type: ignore[arg-type]


def _work(seed: int, number: int, deadline: float) -> Attempt:
    _own_problem()
    return run_attempt(_state["prepared"], _state["method"], seed, number, deadline)  # type: ignore[arg-type]
