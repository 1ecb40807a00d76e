"""A run of the data maker: numbers one after the other until there are enough frames.

Numbers are dealt to strands, each of which goes on until it has its part of the frames. How many
there are depends on the frames that are asked for alone. Shards and workers share out strands, so
that neither changes what is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from handwright.errors import InvalidValueError
from handwright.io.atomic import written_whole
from handwright.learning.data.motion import count_frames, save_motion
from handwright.learning.data.script import Split, split_of
from handwright.learning.data.shapes import kinds_of
from handwright.learning.data.solving import Unsolved, make_motion
from handwright.methods.workers import started_workers

MAX_STRANDS = 8
"""Independent parts of a large run, and therefore the largest number of shards."""
_STRAND_FRAMES = 500
"""Asked of a strand at least, so that a small run has fewer: a strand ends with a whole motion, of
some 400 frames, and makes that much too many."""
UNSOLVED = "unsolved"
"""Folder of the notes on tracks without fingers."""


class Outcome(NamedTuple):
    """What became of a number."""

    name: str
    """Of the motion."""
    num_frames: int
    """0 without a certified motion."""
    text: str
    """What it shows, or why there is none."""


_NOTHING = Outcome("", 0, "")
Watcher = Callable[[Outcome, int], None]
"""Called with each outcome and the frames of this shard so far."""


@dataclass(frozen=True, slots=True)
class DataRun:
    """What to make."""

    set_name: str
    """Of the shapes."""
    folder: Path
    num_frames: int
    """At least so many frames over all shards."""
    seed: int = 0
    shard: int = 0
    """Which part of the run this is."""
    num_shards: int = 1
    split: Split | None = None
    """Only motions of this split are made; all if not given."""

    def __post_init__(self) -> None:
        kinds_of(self.set_name)
        problems = []
        if self.num_frames < 1:
            problems.append(f"frames is {self.num_frames}, expected 1 or more")
        if self.seed < 0:
            problems.append(f"seed is {self.seed}, expected 0 or more")
        most = self.num_strands
        if not 1 <= self.num_shards <= most or not 0 <= self.shard < self.num_shards:
            problems.append(
                f"shard is {self.shard}/{self.num_shards}, expected i/n with i from 0 to n - 1 and "
                f"n at most {most} for {self.num_frames} frames"
            )
        if problems:
            raise InvalidValueError(f"Data of '{self.set_name}': {'; '.join(problems)}.")

    @property
    def num_strands(self) -> int:
        """Of all shards together."""
        return min(max(self.num_frames // _STRAND_FRAMES, 1), MAX_STRANDS)

    @property
    def strands(self) -> list[int]:
        """Those of this shard."""
        return list(range(self.shard, self.num_strands, self.num_shards))

    @property
    def frames_a_strand(self) -> int:
        """Frames after which a strand is done."""
        return -(-self.num_frames // self.num_strands)

    def name(self, number: int) -> str:
        """Of a motion."""
        return f"{self.set_name}_s{self.seed}_{number:06d}"

    def is_wanted(self, number: int) -> bool:
        """Whether the motion is of the split that is made."""
        return self.split in (None, split_of(self.seed, number))

    def known(self, number: int) -> Outcome | None:
        """What an earlier run has come to; None if it has not come so far."""
        name = self.name(number)
        motion, note = self.folder / f"{name}.npz", self.folder / UNSOLVED / f"{name}.json"
        if motion.exists():
            return Outcome(name, count_frames(motion), "known")
        if note.exists():
            return Outcome(name, 0, "known")
        return None

    def make(self, number: int) -> Outcome:
        """Makes the motion of a number and writes its file, or the note on why there is none."""
        made = make_motion(self.set_name, self.seed, number)
        name = self.name(number)
        if isinstance(made, Unsolved):
            with written_whole(self.folder / UNSOLVED / f"{name}.json") as file:
                file.write(json.dumps(made.as_row(), indent=1).encode())
            return Outcome(name, 0, f"{made.shape}: {', '.join(made.acts)}: {made.reason}")
        save_motion(made, self.folder / f"{name}.npz")
        done = ", ".join(dict.fromkeys(made.activity))
        return Outcome(name, made.num_frames, f"{made.shape}: {done}")


def run_all(run: DataRun, *, num_workers: int = 1, tell: Watcher | None = None) -> int:
    """Makes what is missing of a run's shard; returns the number of its frames.

    Args:
        run: What to make, and where.
        num_workers: Processes that make motions.
        tell: Told of every motion that is made.
    """
    (run.folder / UNSOLVED).mkdir(parents=True, exist_ok=True)
    frames = dict.fromkeys(run.strands, 0)
    numbers = {strand: _unknown(run, strand, frames) for strand in run.strands}
    with started_workers(num_workers, _take, (run,)) as pool:
        waiting: dict[Future[Outcome], int] = {}
        open_strands = list(run.strands)
        while open_strands or waiting:
            # A strand has one motion in work at a time, since how it goes on depends on it.
            while open_strands and len(waiting) < num_workers:
                strand = open_strands.pop(0)
                number = next(numbers[strand], None)
                if number is None:
                    continue
                if pool is None:
                    _count(run.make(number), strand, frames, tell)
                    open_strands.append(strand)
                else:
                    waiting[pool.submit(_make, number)] = strand
            if waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    strand = waiting.pop(future)
                    _count(future.result(), strand, frames, tell)
                    open_strands.append(strand)
    return sum(frames.values())


def _count(outcome: Outcome, strand: int, frames: dict[int, int], tell: Watcher | None) -> None:
    frames[strand] += outcome.num_frames
    if tell is not None:
        tell(outcome, sum(frames.values()))


def _unknown(run: DataRun, strand: int, frames: dict[int, int]) -> Iterator[int]:
    """Numbers of a strand that have to be made, until it has its frames."""
    number = strand
    while frames[strand] < run.frames_a_strand:
        known = run.known(number) if run.is_wanted(number) else _NOTHING
        if known is None:
            yield number
        else:
            frames[strand] += known.num_frames
        number += run.num_strands


class _Own:
    """What a worker works on."""

    run: DataRun | None = None


def _take(run: DataRun) -> None:
    _Own.run = run


def _make(number: int) -> Outcome:
    assert _Own.run is not None
    return _Own.run.make(number)


def unsolved_rows(folder: str | Path) -> list[dict[str, Any]]:
    """Notes on the tracks of a folder, or of those in it, that got no fingers, by their names."""
    here = Path(folder)
    notes = [*here.glob(f"{UNSOLVED}/*.json"), *here.glob(f"*/{UNSOLVED}/*.json")]
    return [json.loads(path.read_bytes()) for path in sorted(notes)]
