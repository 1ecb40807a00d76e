"""Motions of all scenes, each by the method that suits the scene, judged once more.

``synthesize`` returns nothing that its certificate refuses. Here every motion that it returns is
written to a file, read again and certified anew, as ``handwright verify`` does: none may fail.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from benchmarks.progress import shown_steps
from benchmarks.scene_choice import FIRST_SEED, chosen_scenes
from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.result import Status
from handwright.core.tolerances import Tolerances
from handwright.errors import InvalidValueError
from handwright.evidence import certify
from handwright.io.clip.file import load_clip, save_clip
from handwright.methods import METHODS, Method, default_method
from handwright.scenes import goal_scenes, load_scene, track_scenes
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.console import Group

BARS: dict[str, tuple[str, float]] = {"refused_by_verify": ("<=", 0.0)}
_MEANINGS = {"refused_by_verify": "motions that synthesize returned and the certificate refuses"}
_COLUMNS = {
    "method": "method",
    "runs": "runs",
    "returned": "returned",
    "refused_by_verify": "refused by verify",
    "refused": "refused inside",
    "seconds": "processor, s",
}


@dataclass(frozen=True, slots=True)
class SceneRun:
    """What one seed of a scene came to."""

    method: str
    status: str
    seconds: float
    """Processor time, search and judging, s."""
    returned: int
    """Number of motions."""
    refused_by_verify: tuple[str, ...] = ()
    """Why returned motions do not pass when they are judged once more, a line for each."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Motions that the method found and ``synthesize`` did not return, by reason."""


def scene_names() -> tuple[str, ...]:
    """All scenes: those with tracks, then those with goals."""
    return (*track_scenes(), *goal_scenes())


def default_settings(problem: Problem, budget: float) -> Method:
    """The method that suits a problem, for one motion, with a time budget in s if it has one."""
    cls: Any = METHODS[default_method(problem)]
    known = {item.name for item in fields(cls)}
    given = {"num_solutions": 1, "time_budget": budget}
    method: Method = cls(**{name: value for name, value in given.items() if name in known})
    return method


def verdict(clip: Clip, tolerances: Tolerances) -> str:
    """Names of the checks that a motion fails once it is written and read; empty if it passes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "motion.npz"
        save_clip(clip, path)
        return ", ".join(certify(load_clip(path), tolerances=tolerances).reasons)


def measure_run(name: str, *, seed: int, budget: float) -> SceneRun:
    """One run of a scene on one core, with all that it returns judged anew.

    Args:
        name: Of the scene.
        seed: Of the run.
        budget: Processor time of the search, s.
    """
    problem = load_scene(name)
    method = default_settings(problem, budget)
    with threadpool_limits(limits=1):
        begin = time.process_time()
        result = synthesize(problem, method, seed=seed)
        seconds = time.process_time() - begin
    if result.status is Status.CANCELLED:
        raise KeyboardInterrupt
    verdicts = [verdict(clip, method.tolerances(problem)) for clip in result.clips]
    return SceneRun(
        method.name,
        result.status.name,
        seconds,
        len(result.clips),
        tuple(f"seed {seed}: {reasons}" for reasons in verdicts if reasons),
        dict(result.refused),
    )


def scene_row(runs: Sequence[SceneRun]) -> dict[str, Any]:
    """Figures of the runs of one scene."""
    refused: Counter[str] = Counter()
    for run in runs:
        refused.update(run.refused)
    return {
        "method": runs[0].method,
        "runs": len(runs),
        "returned": sum(run.returned for run in runs),
        "refused_by_verify": sum(len(run.refused_by_verify) for run in runs),
        "verdicts": [line for run in runs for line in run.refused_by_verify],
        "refused": dict(refused),
        "statuses": [run.status for run in runs],
        "seconds": sum(run.seconds for run in runs),
    }


def run(*, scenes: str | None = None, seeds: int = 3, budget: float = 60.0) -> dict[str, Any]:
    """Makes and judges motions of all scenes.

    Args:
        scenes: Names with commas between them; all scenes if None.
        seeds: Runs of each scene.
        budget: Processor time of the search in each run, s, for methods that have a budget.
    """
    names = chosen_scenes(scenes, scene_names())
    if seeds < 1 or not budget > 0.0:
        raise InvalidValueError(
            f"--seeds is {seeds} and --budget {budget:g}; expected 1 run or more, and seconds "
            "above 0."
        )
    numbers = range(FIRST_SEED, FIRST_SEED + seeds)
    rows: dict[str, dict[str, Any]] = {}
    returned = failed = 0
    with shown_steps(len(names) * seeds) as begin:
        for name in names:
            runs = []
            for seed in numbers:
                begin(f"{name}, seed {seed}; so far {returned} returned, {failed} of them refused")
                runs.append(measure_run(name, seed=seed, budget=budget))
                returned += runs[-1].returned
                failed += len(runs[-1].refused_by_verify)
            rows[name] = scene_row(runs)
    return {
        "scenes": rows,
        "returned": returned,
        **judged_part({"refused_by_verify": float(failed)}, BARS),
        "seeds": list(numbers),
        "budget_s": budget,
    }


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"{result['returned']} motions returned, seeds {result['seeds'][0]} to "
        f"{result['seeds'][-1]}, one core, at most {result['budget_s']:g} s of search a run",
    )
    table.add_column("", no_wrap=True)
    for heading in _COLUMNS.values():
        table.add_column(heading, justify="right")
    for name, row in result["scenes"].items():
        table.add_row(name, *(_cell(row[key]) for key in _COLUMNS))
    lines = [
        f"{name}, {verdict}"
        for name, row in result["scenes"].items()
        for verdict in row["verdicts"]
    ]
    return Group(table, judged_table(result, _MEANINGS), *lines)


def _cell(value: str | float | Mapping[str, int]) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return value if isinstance(value, str) else f"{value:.3g}"
