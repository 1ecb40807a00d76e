"""Certified fingers: contact sampling guided by a network's motion, beside sampling by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.neural.cases import Case
from benchmarks.neural.figures import joint_errors
from handwright.methods import METHODS
from handwright.methods.base import Method
from handwright.synthesis import synthesize

WAYS = ("network", "plain sampling")
"""Who is compared."""
_MAX_WORKERS = 2
_SEED = 0


def certified_shares(
    cases: Sequence[Case], model: str, budget: float, step: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Shares of motions that get a certified motion, by group and way.

    Args:
        cases: Motions to try.
        model: Folder of a network, or ``shipped``.
        budget: Of the search for each, s.
        step: Told of each as it is done.
    """
    jobs = [(case, way) for case in cases for way in WAYS]
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    context = get_context("spawn")
    with ProcessPoolExecutor(_MAX_WORKERS, mp_context=context) as pool:
        waiting = {pool.submit(_tried, case, way, model, budget): (case, way) for case, way in jobs}
        for done in as_completed(waiting):
            case, way = waiting[done]
            step(f"certified: {case.name}")
            rows.setdefault(case.group, {}).setdefault(way, []).append(done.result())
    return {
        group: {way: _mean(parts) for way, parts in by_way.items()}
        for group, by_way in rows.items()
    }


def _tried(case: Case, way: str, model: str, budget: float) -> dict[str, Any]:
    """One search: whether it found a certified motion, how long it took, how near it is, mm."""
    settings: dict[str, Any] = {"num_solutions": 1, "time_budget": budget}
    cls: Any = METHODS["neural" if way == "network" else "sampling"]
    method: Method = cls(**settings, **({"model": model} if way == "network" else {}))
    begin = time.perf_counter()
    result = synthesize(case.teacher.problem, method, seed=_SEED)
    seconds = time.perf_counter() - begin
    is_found = result.status.is_success
    error = 1e3 * float(joint_errors(result.best, case.teacher).mean()) if is_found else None
    return {"is_found": is_found, "seconds": seconds, "joint_error": error}


def _mean(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    errors = [row["joint_error"] for row in rows if row["is_found"]]
    return {
        "motions": len(rows),
        "share": sum(row["is_found"] for row in rows) / len(rows),
        "seconds": float(np.mean([row["seconds"] for row in rows])),
        "joint_error": float(np.mean(errors)) if errors else None,
    }
