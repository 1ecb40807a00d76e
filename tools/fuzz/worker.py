"""A process that reads damaged files one after the other, with limits on memory and time."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from handwright.errors import HandwrightError
from tools.fuzz.kinds import Kind

SECONDS = 10.0
"""Processor time that a file may take."""
MEMORY = 2 * 1024**3
"""Bytes that a process may have."""
# A file that has waited for so many seconds without working is given up.
_PATIENCE = 60.0
_TICK = os.sysconf("SC_CLK_TCK")


class Outcome(NamedTuple):
    """What came of one file."""

    number: int
    kind: str
    """Of the file; empty if its process had to be ended."""
    what: str
    """``accepted``, ``clean``, ``unclean``, ``hang`` or ``memory``."""
    text: str
    """The error, or the traceback of an unclean one."""
    seconds: float
    """Processor time."""


def kind_and_data(kinds: Mapping[str, Kind], seed: int, number: int) -> tuple[str, bytes]:
    """The damaged file with this number; always the same one."""
    rng = np.random.default_rng([seed, number])
    share = np.array([kind.share for kind in kinds.values()])
    name = list(kinds)[int(rng.choice(len(kinds), p=share / share.sum()))]
    return name, kinds[name].damaged(rng)


class Worker:
    """A child of this process that works through numbers; it is replaced when it must be ended."""

    def __init__(self, kinds: Mapping[str, Kind], seed: int, cache: Path) -> None:
        self._kinds, self._seed, self._cache = kinds, seed, cache
        self._context = multiprocessing.get_context("fork")
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def run(self, number: int) -> Outcome:
        """Reads one file."""
        if self._process is None:
            self._pipe, theirs = self._context.Pipe()
            self._process = self._context.Process(
                target=_work, args=(theirs, self._kinds, self._seed, self._cache), daemon=True
            )
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        before, used, idle_since = self._cpu(), 0.0, time.monotonic()
        self._pipe.send(number)
        while not self._pipe.poll(0.5):
            if not self._process.is_alive():
                break
            if self._cpu() - before > used:
                used, idle_since = self._cpu() - before, time.monotonic()
            if used > SECONDS or time.monotonic() - idle_since > _PATIENCE:
                self.end()
                return Outcome(number, "", "hang", f"{used:.1f} s of processor time", used)
        try:
            name, what, text = self._pipe.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self.end()
            what = "memory" if code == -signal.SIGKILL else "unclean"
            return Outcome(number, "", what, f"the process died with {code}", 0.0)
        except UnicodeDecodeError as error:
            # The message is no text: nobody could print it.
            self.end()
            return Outcome(number, "", "unclean", str(error), 0.0)
        return Outcome(number, name, what, text, self._cpu() - before)

    def end(self) -> None:
        """Ends the process; the next number starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _cpu(self) -> float:
        """Processor time that the child has had, s."""
        assert self._process is not None
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return 0.0
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK


def _work(pipe: Connection, kinds: Mapping[str, Kind], seed: int, cache: Path) -> None:
    # What damaged hands leave in a cache is no use to anybody.
    os.environ["HANDWRIGHT_CACHE"] = str(cache)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    with tempfile.TemporaryDirectory() as folder:
        while True:
            try:
                number = pipe.recv()
            except EOFError:
                return
            name, data = kind_and_data(kinds, seed, number)
            path = Path(folder) / f"damaged{kinds[name].suffix}"
            path.write_bytes(data)
            pipe.send((name, *_outcome(kinds[name], path, number)))


def _outcome(kind: Kind, path: Path, number: int) -> tuple[str, str]:
    try:
        kind.read(path, number)
    except HandwrightError as error:
        return "clean", str(error)
    except MemoryError:
        return "memory", traceback.format_exc()
    except Exception:
        return "unclean", traceback.format_exc()
    return "accepted", ""
