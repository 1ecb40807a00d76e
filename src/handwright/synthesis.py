"""What ``handwright synth`` does: a scene or a file of goals in, certified clips out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Result, Status
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import certify
from handwright.io.clip_file import save_clip
from handwright.methods import METHODS, Method, synthesize
from handwright.methods.base import usual_method
from handwright.progress import ProgressLine
from handwright.scenes import load_scene, read_problem

_FILE_SUFFIXES = (".yaml", ".yml")
_BUDGET = 120.0
"""s, for methods that take one."""
_COUNTS = {
    "solutions": "motions",
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


def make_method(name: str, options: Mapping[str, Any]) -> Method:
    """A method with settings from the command line.

    Args:
        name: A key of ``METHODS``.
        options: Settings by name; None for those that were not given.
    """
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
    name: str,
    problem: Problem,
    folder: Path,
    console: Console,
    *,
    method: str | None,
    options: Mapping[str, Any],
    seed: int,
) -> Result:
    """Makes clips, writes and certifies them, and prints what they are worth.

    Args:
        name: What to call the clips.
        problem: Its tracks or goals.
        folder: Where to.
        console: What to print on.
        method: A key of ``METHODS``; the one that suits the problem if None.
        options: Settings of the method; None for those that were not given.
        seed: Of everything random.

    Raises:
        NoSolutionError: The method found nothing.
    """
    chosen = make_method(usual_method(problem) if method is None else method, options)
    table = Table("clip", "certificate", box=None, pad_edge=False)
    wanted = getattr(chosen, "num_solutions", None)
    with ProgressLine(wanted=wanted) as line:
        result = synthesize(problem, chosen, seed=seed, watcher=line)
    for number, clip in enumerate(result.clips):
        file = folder / f"{name}_{number:02d}.npz"
        save_clip(clip, file)
        table.add_row(str(file), certify(clip).verdict)
    if result.clips:
        console.print(table)
    counts = [
        f"{result.statistics[key]:.0f} {words}"
        for key, words in _COUNTS.items()
        if key in result.statistics
    ]
    if counts:
        console.print(", ".join([*counts, f"{result.timings['total']:.1f} s"]))
    if result.status is Status.CANCELLED and result.clips:
        of = "" if wanted is None else f" of {wanted}"
        console.print(f"Stopped; {len(result.clips)}{of} motions were written.")
    elif not result.status.is_success:
        raise NoSolutionError(result)
    elif result.message:
        console.print(result.message)
    return result


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
