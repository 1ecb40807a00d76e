"""What ``handwright synth`` does: a scene or a file of goals in, certified clips out."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from handwright.cli.console import INTERRUPTED, make_console, writable_folder
from handwright.cli.options import SynthArguments
from handwright.cli.progress import ProgressLine
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Progress, Result, Status
from handwright.evidence import certify
from handwright.io.clip.file import save_clip
from handwright.methods import Method, synthesize
from handwright.scenes import load_scene, read_problem

_FILE_SUFFIXES = (".yaml", ".yml")
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


def run(name: str, problem: Problem, method: Method, arguments: SynthArguments) -> None:
    """Makes clips as the command line says, and tells how it went.

    Args:
        name: What to call the clips.
        problem: What the motions are for.
        method: Settings.
        arguments: Folder and seed.
    """
    console, folder = make_console(), writable_folder(arguments.out)
    result = write_clips(name, problem, method, folder, console, seed=arguments.seed)
    if result.status is Status.CANCELLED:
        console.print(f"Stopped; motions found by then and written: {len(result.clips)}.")
        raise SystemExit(INTERRUPTED)
    if result.message:
        console.print(result.message, soft_wrap=True, highlight=False)


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
        seed: Random seed; the same seed gives the same result.

    Raises:
        NoSolutionError: The method found nothing, and was not stopped either.
    """
    table = Table("clip", "certificate", box=None, pad_edge=False)
    with ProgressLine(wanted=getattr(method, "num_solutions", None)) as line:
        result = synthesize(problem, method, seed=seed, on_progress=line)
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
