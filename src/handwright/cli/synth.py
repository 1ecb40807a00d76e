"""What ``handwright synth`` does: a scene or a file of goals in, certified clips out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from handwright.cli.clip_writer import REFUSED, ClipWriter, Refusal
from handwright.cli.console import make_console, make_table, writable_folder
from handwright.cli.interrupts import INTERRUPTED, Interrupts
from handwright.cli.options import SynthArguments
from handwright.cli.progress import ProgressLine
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Result, Status
from handwright.methods import Method
from handwright.scenes import load_scene, read_problem
from handwright.synthesis import synthesize

_FILE_SUFFIXES = (".yaml", ".yml")
_COUNTS = {
    "solutions": "found",
    "refused": "refused",
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


def run(name: str, problem: Problem, method: Method, arguments: SynthArguments) -> None:
    """Makes clips as the command line says, and tells how it went.

    Args:
        name: What to call the clips.
        problem: What the motions are for.
        method: Settings.
        arguments: Folder, seed, what is written, and whether the outcome is printed as JSON.
    """
    folder = writable_folder(arguments.out)
    if arguments.keep_refused and (folder / REFUSED).exists():
        writable_folder(folder / REFUSED)
    outcome = write_clips(
        name, problem, method, folder, seed=arguments.seed, keep_refused=arguments.keep_refused
    )
    result = outcome.result
    if arguments.json:
        sys.stdout.write(outcome_json(outcome, seed=arguments.seed) + "\n")
    else:
        _print_outcome(outcome, folder)
    if result.status is Status.CANCELLED:
        raise SystemExit(INTERRUPTED)
    if result.status is not Status.SOLVED:
        raise SystemExit(1)


class Outcome(NamedTuple):
    """A result, and where its motions are."""

    result: Result
    files: list[Path]
    """Of the clips, in their order."""
    refusals: list[Refusal]
    """Refused motions that were written."""


def _print_outcome(outcome: Outcome, folder: Path) -> None:
    console = make_console()
    print_outcome(outcome, console)
    result = outcome.result
    if result.status is Status.REFUSED and not outcome.refusals:
        told = (
            f"Nothing was written. With --keep-refused such motions are, into {folder / REFUSED}."
        )
        console.print(told, soft_wrap=True, highlight=False, markup=False)
    if result.status is Status.CANCELLED:
        told = f"Stopped; motions found by then and written: {len(result.clips)}. {result.message}"
        console.print(told.rstrip(), soft_wrap=True, highlight=False)
    elif not result.clips:
        raise NoSolutionError(result)
    elif result.message:
        told = f"{result.status.name}: {result.message}"
        console.print(told, soft_wrap=True, highlight=False, markup=False)


def write_clips(
    name: str,
    problem: Problem,
    method: Method,
    folder: Path,
    *,
    seed: int,
    keep_refused: bool = False,
) -> Outcome:
    """Makes clips, and writes each as soon as it is certified.

    Args:
        name: What to call the clips.
        problem: Its tracks or goals.
        method: Settings.
        folder: Where to.
        seed: Random seed.
        keep_refused: Whether refused motions are written, too, into a folder of their own.
    """
    wanted = getattr(method, "num_solutions", None)
    with ProgressLine(wanted=wanted) as line, Interrupts() as interrupts:
        writer = ClipWriter(folder, name, seed, line, interrupts, keep_refused=keep_refused)
        result = synthesize(problem, method, seed=seed, on_progress=writer)
    return Outcome(result, [writer.file_of(clip) for clip in result.clips], writer.refusals)


def print_outcome(outcome: Outcome, console: Console) -> None:
    """What was written, and how the run went, as tables and a line."""
    result = outcome.result
    if outcome.files:
        table = make_table("clip", "certificate")
        for file, certificate in zip(outcome.files, result.certificates, strict=True):
            table.add_row(str(file), certificate.verdict)
        console.print(table)
    if outcome.refusals:
        table = make_table("refused motion", "certificate")
        for refusal in outcome.refusals:
            table.add_row(str(refusal.file), refusal.verdict)
        console.print(table)
    console.print(_summary(result), soft_wrap=True, highlight=False)


def outcome_json(outcome: Outcome, *, seed: int) -> str:
    """The outcome of a run as one JSON object."""
    result = outcome.result
    clips = [
        {"file": str(file), "certified": certificate.passed, "verdict": certificate.verdict}
        for file, certificate in zip(outcome.files, result.certificates, strict=True)
    ]
    refused = [
        {"file": str(refusal.file), "certified": False, "verdict": refusal.verdict}
        for refusal in outcome.refusals
    ]
    document = {
        "status": result.status.name,
        "is_success": result.status.is_success,
        "message": result.message,
        "seed": seed,
        "clips": clips,
        "refused_clips": refused,
        "refused": dict(result.refused),
        "statistics": dict(result.statistics),
        "timings": dict(result.timings),
    }
    return json.dumps(document, allow_nan=False)


def _summary(result: Result) -> str:
    """Counts and times of a run in one line."""
    numbers, seconds = result.statistics, result.timings
    parts = [f"motions written: {len(result.clips)}"]
    parts += [f"{words}: {numbers[key]:.0f}" for key, words in _COUNTS.items() if key in numbers]
    total = f"{seconds['total']:.0f} s"
    if "preparation" in seconds:
        total += f", of which {seconds['preparation']:.0f} s before the search"
        total += f" and {seconds['certification']:.0f} s for certificates"
    return ", ".join(parts) + "; " + total
