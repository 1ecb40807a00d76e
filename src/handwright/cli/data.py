"""The command that makes data to learn from, and says what it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from tyro.conf import Positional

from handwright.cli.console import make_console, make_table, writable_folder
from handwright.errors import InvalidValueError

if TYPE_CHECKING:
    from rich.console import Console

    from handwright.learning.data import Composition


def data(
    action: Positional[Literal["make", "show"]],
    what: Annotated[Positional[str], tyro.conf.arg(metavar="SET|DIR")],
    /,
    *,
    frames: int = 60_000,
    seed: int = 0,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="DIR")] = Path("out/data"),
    shard: Annotated[str, tyro.conf.arg(metavar="I/N")] = "0/1",
    workers: int = 1,
    split: Literal["all", "train", "validation", "test"] = "all",
) -> None:
    """Make certified motions to learn from, or show what a folder of them is made of.

    'data make primitives' and 'data make drinkware' make motions of hands that reach, grasp, carry,
    tilt, pour, drink, turn, pass and put down things, each in a file of its own, until there are
    enough frames at 60 a second. The same seed gives the same files, whatever the shards and
    workers; a run that was stopped goes on where it was. 'data show DIR' prints the tables again.

    Args:
        action: Make data, or show it.
        what: A set of shapes (primitives, drinkware), or the folder to show.
        frames: At least so many frames, over all shards. They are made in parts of 500 or more, at
            most eight, and each part ends with a whole motion, of some 400 frames.
        seed: Random seed.
        out: Folder for the motions; made if it is not there.
        shard: Part I of N, from 0, to share a run among machines; N is at most one for each 500
            frames, and at most 8.
        workers: Processes.
        split: Only motions of this split are made; the frames are those of it. About a tenth of a
            run is in the test split, so that a network can be tried in a tenth of the time.
    """
    from handwright.learning.data.motion import motion_files
    from handwright.learning.data.run import DataRun, run_all
    from handwright.learning.data.shapes import KINDS

    console = make_console()
    if action == "show":
        if not motion_files(what):
            raise InvalidValueError(
                f"There are no motions in '{what}'. Make some: handwright data make "
                f"{next(iter(KINDS))} -o {what}"
            )
        _show(Path(what), console)
        return
    if workers < 1:
        raise InvalidValueError(f"--workers is {workers}; expected 1 or more.")
    number, count = _shard_of(shard)
    run = DataRun(what, out, frames, seed, number, count, split=None if split == "all" else split)
    writable_folder(out)
    part = run.frames_a_strand * len(run.strands)
    run_all(
        run,
        num_workers=workers,
        tell=lambda outcome, done: console.print(
            f"{outcome.name}  {outcome.num_frames:4d} frames  {done} of {part}  {outcome.text}",
            soft_wrap=True,
            highlight=False,
        ),
    )
    _show(out, console)


def _shard_of(text: str) -> tuple[int, int]:
    """Part and number of parts."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal()):
        raise InvalidValueError(f"--shard is '{text}'; expected I/N, such as 0/2.")
    return int(number), int(count)


def _show(folder: Path, console: Console) -> None:
    from handwright.learning.data import composition_of, load_motions
    from handwright.learning.data.run import unsolved_rows

    found = composition_of(load_motions(folder), unsolved_rows(folder))
    found.save(folder)
    _print_frames(found, console)
    _print_acts(found, console)
    shares = ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in found.gaits.items())
    splits = ", ".join(f"{name} {count}" for name, count in found.splits.items())
    hands = ", ".join(f"{name} {count}" for name, count in found.num_hands.items())
    reasons = ", ".join(f"{name} {count}" for name, count in found.reasons.items())
    for line in (
        f"Frames: {found.total} ({splits}); by hands: {hands}.",
        f"Motions with contacts that are: {shares}.",
        f"Diversity: {found.num_different} of {found.num_postures} postures, one of each motion, "
        f"are 10 mm or more from all others; {1e3 * found.posture_distance:.0f} mm in the mean.",
        f"Tracks without certified fingers, by reason: {reasons or 'none'}.",
    ):
        console.print(line, soft_wrap=True, highlight=False)


def _print_frames(found: Composition, console: Console) -> None:
    from handwright.learning.data import ACTIVITIES

    table = make_table("shape", *(f">{name}" for name in ACTIVITIES), ">frames", ">motions")
    for shape, row in found.frames.items():
        tried = found.motions[shape] + found.unsolved.get(shape, 0)
        table.add_row(
            shape,
            *(str(row.get(name, "")) for name in ACTIVITIES),
            str(sum(row.values())),
            f"{found.motions[shape]}/{tried}",
        )
    sums = [sum(row.get(name, 0) for row in found.frames.values()) for name in ACTIVITIES]
    table.add_row("all", *map(str, sums), str(found.total), str(sum(found.motions.values())))
    console.print(table)


def _print_acts(found: Composition, console: Console) -> None:
    table = make_table("asked for", ">certified", ">tried", ">share")
    for what, (done, asked) in found.solved_acts.items():
        table.add_row(what, str(done), str(asked), f"{100.0 * done / max(1, asked):.0f} %")
    console.print(table)
