"""What ``handwright synth`` does: a scene or a file of goals in, certified clips out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from handwright.cli.progress import ProgressLine
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Progress, Result, Status
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import certify
from handwright.io.clip.file import save_clip
from handwright.methods import METHODS, Method, synthesize
from handwright.methods.base import usual_method
from handwright.scenes import load_scene, read_problem

_FILE_SUFFIXES = (".yaml", ".yml")
_BUDGET = 120.0
"""s, for methods that take one."""
_COUNTS = {
    "solutions": "found",
    "total_frames": "frames explored",
    "dead_ends": "dead ends",
    "attempts": "attempts",
    "iterations": "iterations",
}


def load_problem(source: str) -> tuple[str, Problem]:
    """A scene by its name, or the problem of a file of goals; and what to call its clips."""
    if source.lower().endswith(_FILE_SUFFIXES):
        return Path(source).stem, read_problem(source)
    return source, load_scene(source)


def make_method(name: str | None, problem: Problem, options: Mapping[str, Any]) -> Method:
    """A method with settings from the command line.

    Args:
        name: A key of ``METHODS``; the one that suits the problem if None.
        problem: Its tracks or goals.
        options: Settings by name; None for those that were not given.
    """
    name = usual_method(problem) if name is None else name
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    known = [item.name for item in dataclasses.fields(METHODS[name])]  # type: ignore[arg-type]
    given = {key: value for key, value in options.items() if value is not None}
    foreign = [_flag(key) for key in given if key not in known]
    if foreign:
        own = ", ".join(_flag(key) for key in options if key in known) or "none of these options"
        raise InvalidValueError(
            f"The method '{name}' was given {', '.join(foreign)}, which it does not take. "
            f"It takes {own}."
        )
    usual = {"time_budget": _BUDGET} if "time_budget" in known else {}
    return METHODS[name](**(usual | given))


def write_clips(
    name: str, problem: Problem, method: Method, folder: Path, console: Console, *, seed: int
) -> Result:
    """Makes clips, writes and certifies them, and prints what they are worth.

    Args:
        name: What to call the clips.
        problem: Its tracks or goals.
        method: Settings.
        folder: Where to.
        console: What to print on.
        seed: Of everything random.

    Raises:
        NoSolutionError: The method found nothing, and was not stopped either.
    """
    table = Table("clip", "certificate", box=None, pad_edge=False)
    with ProgressLine(wanted=getattr(method, "num_solutions", None)) as line:
        result = synthesize(problem, method, seed=seed, watcher=line)
        files = [folder / f"{name}_{number:02d}.npz" for number in range(len(result.clips))]
        # All are written before any is judged, which takes time and may be interrupted.
        for file, clip in zip(files, result.clips, strict=True):
            save_clip(clip, file)
        if files:
            line(Progress("judging what was found"))
        for file, clip in zip(files, result.clips, strict=True):
            table.add_row(str(file), certify(clip).verdict)
    if files:
        console.print(table)
    console.print(_summary(result), soft_wrap=True, highlight=False)
    older = sorted(set(folder.glob(f"{name}_[0-9][0-9].npz")) - set(files))
    if files and older:
        text = f"Of an earlier run, and still there: {', '.join(file.name for file in older)}"
        console.print(text, soft_wrap=True, highlight=False)
    if not (result.status.is_success or result.status is Status.CANCELLED):
        raise NoSolutionError(result)
    return result


def _summary(result: Result) -> str:
    """Counts and times of a run in one line."""
    numbers, seconds = result.statistics, result.timings
    parts = [f"motions written: {len(result.clips)}"]
    parts += [f"{words}: {numbers[key]:.0f}" for key, words in _COUNTS.items() if key in numbers]
    total = f"{seconds['total']:.0f} s"
    if "preparation" in seconds:
        total += f", of which {seconds['preparation']:.0f} s before the search"
    return ", ".join(parts) + "; " + total


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
