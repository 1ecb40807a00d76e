"""A process that does jobs, one after the other: ``python -m handwright.studio.jobs.worker``.

Every motion is written into the folder, whole, as soon as it is certified.
"""

from __future__ import annotations

import math
import os
import queue
from pathlib import Path
from typing import Any

from handwright.core.result import Progress, Result, Status
from handwright.io.clip.file import save_clip
from handwright.studio.jobs.json_pipe import Parent
from handwright.studio.jobs.planning import plan_job
from handwright.studio.messages import JobRequest
from handwright.studio.server.request_errors import trouble_of
from handwright.synthesis import synthesize


def main() -> None:
    """Does what the server asks for until it is gone."""
    # What methods start in turn should not each use all cores.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parent = Parent()
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    parent.listen(orders.put)
    while True:
        order = orders.get()
        try:
            parent.send(_do(parent, order))
        except Exception as error:
            parent.send({"kind": "failed", "message": trouble_of(error).message})


def _do(parent: Parent, order: dict[str, Any]) -> dict[str, Any]:
    """Does a job and returns how it ended."""
    root, stem = Path(order["root"]), str(order["stem"])
    request = JobRequest.model_validate(order["request"])
    plan = plan_job(Path(order["hidden"]), request)
    count = 0

    def watch(progress: Progress) -> None:
        nonlocal count
        for clip, certificate in progress.judged_clips:
            file = f"{stem}_{count:02d}.npz"
            count += 1
            save_clip(clip, root / file, certificate=certificate)
            parent.send({"kind": "clip", "file": file})
        parent.send(
            {
                "kind": "progress",
                "stage": progress.stage,
                "statistics": _plain(progress.statistics),
                "seconds": progress.seconds,
                "budget": progress.budget,
            }
        )

    result = synthesize(
        plan.problem, plan.method, seed=request.seed, on_progress=watch, certify=request.certify
    )
    is_done = result.status.is_success
    is_solved = result.status is Status.SOLVED
    text = "done" if is_solved else result.status.value
    return {
        "kind": "done" if is_done else "failed",
        "stage": text,
        "message": result.message or _refusals(result) or ("" if is_solved else text),
        "statistics": _plain(result.statistics),
        "seconds": result.timings["total"],
    }


def _refusals(result: Result) -> str:
    """How many motions were found and not kept, by reason; empty if all were."""
    if not result.refused:
        return ""
    by = ", ".join(f"{name} {count}" for name, count in sorted(result.refused.items()))
    return f"Motions that were found and refused: {result.statistics['refused']:.0f} ({by})."


def _plain(statistics: Any) -> dict[str, float]:  # noqa: ANN401  a mapping of numbers
    return {name: float(v) for name, v in statistics.items() if math.isfinite(v)}


if __name__ == "__main__":
    main()
