"""Processes that work beside this one, for methods that make independent attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children
from typing import Any

from handwright.child_processes import ChildContext, stay_with_parent
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.methods.base import AttemptContext, AttemptLike, Method, Search

_MOST_CANDIDATES = 1000
"""Candidates of one attempt in a worker, which does not know how many are still wanted."""


class Crew:
    """The processes that make attempts beside this one; none if this one works alone."""

    def __init__(self, pool: ProcessPoolExecutor | None, num_workers: int) -> None:
        self._pool, self.num_workers = pool, num_workers

    @property
    def is_alone(self) -> bool:
        """Whether there is no other process."""
        return self._pool is None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:  # noqa: ANN401
        """Has a worker call a function of a module; see ``own_problem`` and ``own_search``."""
        assert self._pool is not None
        return self._pool.submit(function, *arguments)


@contextmanager
def started_crew(num_workers: int, problem: Problem, method: Method) -> Iterator[Crew]:
    """Processes for attempts at a problem, which end with the ``with`` block, whatever they do."""
    with started_workers(num_workers, _assign, (problem, method)) as pool:
        yield Crew(pool, num_workers)


@contextmanager
def started_workers(
    num_workers: int, start: Callable[..., None], arguments: tuple[Any, ...]
) -> Iterator[ProcessPoolExecutor | None]:
    """Processes beside this one; None for one worker, which is this one alone.

    They end with the ``with`` block, whatever they do then.

    Args:
        num_workers: How many.
        start: Called in each when it starts; a function of a module.
        arguments: Handed to it.
    """
    if num_workers == 1:
        yield None
        return
    others = set(active_children())
    with ProcessPoolExecutor(num_workers, ChildContext(), _start, (start, arguments)) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise InvalidValueError(
                f"A worker of num_workers={num_workers} ended by itself. Put the call of "
                "a script under \"if __name__ == '__main__':\", free memory, or use num_workers=1."
            ) from error
        finally:
            # Nobody waits for what they do now, and it may take long. One that is killed within a
            # result leaves half of it in the pipe; the reader learns that no more will come once
            # the last end to write to is closed, which is ours.
            for worker in set(active_children()) - others:
                worker.kill()
            pool._result_queue._writer.close()  # type: ignore[attr-defined]


def _start(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    stay_with_parent()
    start(*arguments)


class _Own:
    """What a worker works on, and how far it has made it ready."""

    assigned: tuple[Problem, Method] | None = None
    search: Search | None = None
    is_warm = False


def _assign(problem: Problem, method: Method) -> None:
    _Own.assigned = problem, method


def own_problem() -> Problem:
    """The problem of this worker."""
    assert _Own.assigned is not None
    return _Own.assigned[0]


def own_search() -> Search:
    """The search of this worker, made when it is first asked for."""
    if _Own.search is None:
        assert _Own.assigned is not None
        problem, method = _Own.assigned
        _Own.search = method.search(problem)
    return _Own.search


def own_attempt(seed: int, number: int, seconds: float) -> tuple[AttemptLike, float]:
    """An attempt of this worker, and the processor time that it took, s."""
    search = own_search()
    if not _Own.is_warm:
        search.warm_up()
        _Own.is_warm = True
    context = AttemptContext(seed, number, _MOST_CANDIDATES, seconds)
    attempt = search.attempt(context)
    return attempt, context.used
