"""The command: ``python -m tools.fuzz``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from handwright.folders import cache_dir
from tools.fuzz.kinds import Kind, make_kinds
from tools.fuzz.worker import Outcome, Worker, kind_and_data

GOOD = ("accepted", "clean")
OUTCOMES = (*GOOD, "unclean", "hang", "memory")
# Files between two notes of how far a run has come.
_EVERY = 200
# Files after which a process makes way for a fresh one, so that none grows for ever.
_RENEW = 5_000


def run(
    count: int,
    seed: int = 0,
    *,
    only: str | None = None,
    folder: Path | None = None,
    resume: bool = False,
    loud: bool = False,
) -> dict[str, dict[str, int]]:
    """Reads many damaged files.

    Args:
        count: How many.
        seed: Of the damage.
        only: Just this kind.
        folder: Where files are kept that were read neither well nor with a clean error.
        resume: Go on from what an earlier run has left in the folder.
        loud: Say on the way how far it has come.

    Returns:
        How many files of each kind had which outcome.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = make_kinds()
    if only is not None:
        kinds = {only: kinds[only]}
    tally = {name: Counter(dict.fromkeys(OUTCOMES, 0)) for name in kinds}
    seconds = dict.fromkeys(kinds, 0.0)
    start = 0
    note = folder / "progress.json" if folder is not None else None
    key = [seed, *kinds]
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    if note is not None and resume and note.is_file():
        kept = json.loads(note.read_text())
        if kept["of"] == key:
            start = kept["next"]
            for name, counts in kept["tally"].items():
                tally[name].update(counts)
    with tempfile.TemporaryDirectory() as cache:
        _borrow_cache(Path(cache))
        worker = Worker(kinds, seed, Path(cache))
        began = time.monotonic()
        for number in range(start, count):
            outcome = worker.run(number)
            name, data = outcome.kind, b""
            if outcome.what not in GOOD:
                name, data = kind_and_data(kinds, seed, number)
                if folder is not None:
                    _keep(folder, kinds[name], name, data, outcome)
            tally[name][outcome.what] += 1
            seconds[name] += outcome.seconds
            if (number + 1) % _RENEW == 0:
                worker.end()
            if (number + 1) % _EVERY == 0 or number + 1 == count:
                if note is not None:
                    state = {"of": key, "next": number + 1, "tally": tally}
                    note.write_text(json.dumps(state))
                if loud:
                    pace = (number + 1 - start) / (time.monotonic() - began)
                    bad = {what: sum(t[what] for t in tally.values()) for what in OUTCOMES[2:]}
                    print(f"{number + 1} of {count}, {pace:.0f} a second, {bad}", flush=True)
        worker.end()
    if loud:
        spent = ", ".join(f"{name} {used:.0f}" for name, used in seconds.items())
        print(f"Processor time, s: {spent}; {sum(seconds.values()):.0f} in all.")
    return {name: dict(counts) for name, counts in tally.items()}


def _borrow_cache(folder: Path) -> None:
    """Lets the skins of good hands be found; what is built for damaged ones goes away."""
    for path in cache_dir().glob("*.npz"):
        if path.name.startswith(("skin-", "field-")):
            (folder / path.name).symlink_to(path)


def _keep(folder: Path, kind: Kind, name: str, data: bytes, outcome: Outcome) -> None:
    stem = folder / f"{outcome.number:07d}-{name}-{outcome.what}"
    stem.with_suffix(kind.suffix).write_bytes(data)
    stem.with_suffix(".txt").write_text(outcome.text)


def main() -> int:
    """Prints a table; the exit code is 1 if any file was not read cleanly."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=3_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0, help="of the damage")
    parser.add_argument("--kind", help="just this kind")
    parser.add_argument("--folder", type=Path, help="where bad files and the progress are kept")
    parser.add_argument("--resume", action="store_true", help="go on with an earlier run")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    result = run(
        given.count,
        given.seed,
        only=given.kind,
        folder=given.folder,
        resume=given.resume,
        loud=not given.json,
    )
    if given.json:
        print(json.dumps(result))
    else:
        print(f"{'kind':14}" + "".join(f"{what:>10}" for what in OUTCOMES))
        for name, counts in result.items():
            print(f"{name:14}" + "".join(f"{counts[what]:>10}" for what in OUTCOMES))
    return int(any(counts[what] for counts in result.values() for what in OUTCOMES[2:]))


if __name__ == "__main__":
    sys.exit(main())
