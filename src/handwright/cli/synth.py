"""What ``handwright synth`` does: a scene or a file of goals in, certified clips out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from handwright.cli.console import make_console, make_table, writable_folder
from handwright.cli.interrupts import INTERRUPTED, Interrupts
from handwright.cli.options import SynthArguments
from handwright.cli.progress import ProgressLine
from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Progress, Result, Status
from handwright.errors import InvalidValueError
from handwright.io.clip.file import save_clip
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
        arguments: Folder, seed, and whether the outcome is printed as JSON.
    """
    folder = writable_folder(arguments.out)
    result, files = write_clips(name, problem, method, folder, seed=arguments.seed)
    if arguments.json:
        sys.stdout.write(result_json(result, files, seed=arguments.seed) + "\n")
    else:
        _print_outcome(result, files)
    if result.status is Status.CANCELLED:
        raise SystemExit(INTERRUPTED)
    if result.status is not Status.SOLVED:
        raise SystemExit(1)


def _print_outcome(result: Result, files: list[Path]) -> None:
    console = make_console()
    print_result(result, files, console)
    if result.status is Status.CANCELLED:
        told = f"Stopped; motions found by then and written: {len(result.clips)}. {result.message}"
        console.print(told.rstrip(), soft_wrap=True, highlight=False)
    elif not result.clips:
        raise NoSolutionError(result)
    elif result.message:
        told = f"{result.status.name}: {result.message}"
        console.print(told, soft_wrap=True, highlight=False)


class ClipWriter:
    """A watcher that writes every clip as soon as it is certified, and never over another file.

    Args:
        folder: Where to.
        name: What the clips are called: NAME_sSEED_00.npz, and so on.
        seed: Random seed of the run.
        show: Told all progress in turn.
        interrupts: Held off while a clip is written.
    """

    def __init__(
        self, folder: Path, name: str, seed: int, show: ProgressLine, interrupts: Interrupts
    ) -> None:
        self._folder, self._stem = folder, f"{name}_s{seed}"
        self._show, self._interrupts = show, interrupts
        self._written: list[tuple[Clip, Path]] = []

    def __call__(self, progress: Progress) -> None:
        """Writes the clips of some progress."""
        with self._interrupts.held():
            for clip, certificate in progress.judged_clips:
                self._written.append((clip, self._write(clip, certificate)))
            self._show(progress)

    def file_of(self, clip: Clip) -> Path:
        """The file that a clip was written to."""
        return next(path for written, path in self._written if written is clip)

    def _write(self, clip: Clip, certificate: Certificate | None) -> Path:
        try:
            path = self._reserved()
            try:
                save_clip(clip, path, certificate=certificate)
            except BaseException:
                path.unlink()
                raise
        except OSError as error:
            raise InvalidValueError(
                f"{error.filename}: cannot be written ({error.strerror}). Motions of this run that "
                f"were written before: {len(self._written)}. Make room, and ask for more of them."
            ) from error
        return path

    def _reserved(self) -> Path:
        """An empty file under the next free name, which no other run can take meanwhile."""
        number = 0
        while True:
            path = self._folder / f"{self._stem}_{number:02d}.npz"
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return path


def write_clips(
    name: str, problem: Problem, method: Method, folder: Path, *, seed: int
) -> tuple[Result, list[Path]]:
    """Makes clips, and writes each as soon as it is certified.

    Args:
        name: What to call the clips.
        problem: Its tracks or goals.
        method: Settings.
        folder: Where to.
        seed: Random seed.

    Returns:
        The result, and the files of its clips in their order.
    """
    wanted = getattr(method, "num_solutions", None)
    with ProgressLine(wanted=wanted) as line, Interrupts() as interrupts:
        writer = ClipWriter(folder, name, seed, line, interrupts)
        result = synthesize(problem, method, seed=seed, on_progress=writer)
    return result, [writer.file_of(clip) for clip in result.clips]


def print_result(result: Result, files: list[Path], console: Console) -> None:
    """What was written, and how the run went, as a table and a line."""
    if files:
        table = make_table("clip", "certificate")
        for file, certificate in zip(files, result.certificates, strict=True):
            table.add_row(str(file), certificate.verdict)
        console.print(table)
    console.print(_summary(result), soft_wrap=True, highlight=False)


def result_json(result: Result, files: list[Path], *, seed: int) -> str:
    """The outcome of a run as one JSON object."""
    clips = [
        {"file": str(file), "certified": certificate.passed, "verdict": certificate.verdict}
        for file, certificate in zip(files, result.certificates, strict=True)
    ]
    document = {
        "status": result.status.name,
        "is_success": result.status.is_success,
        "message": result.message,
        "seed": seed,
        "clips": clips,
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
