"""A small disk that can be filled up and freed again."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterable
from pathlib import Path

_SMALLEST = 1 << 20
"""Bytes of the pieces that fill the disk."""
_TOO_LARGE = 4096
"""Bytes beyond which nothing can be written while a limit stands for a full disk."""


class SmallDisk:
    """A folder in memory of limited size or, where nobody may mount one, a limit on files."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        """Makes the folder.

        Args:
            folder: Where it shall be.
            megabytes: How much it holds.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._filler = folder, folder / "filler"
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
            self.is_mounted = done.returncode == 0
        except OSError:
            self.is_mounted = False

    @property
    def share_used(self) -> float:
        """How full it is, from 0 to 1; 0 if it is no disk of its own."""
        if not self.is_mounted:
            return 0.0
        at = os.statvfs(self.folder)
        return 1.0 - at.f_bavail / at.f_blocks

    def fill(self, processes: Iterable[int]) -> None:
        """Leaves no room; without a disk of its own, for the given processes and their children."""
        if not self.is_mounted:
            _limit(processes, _TOO_LARGE)
            return
        with self._filler.open("ab", buffering=0) as file:
            for size in (_SMALLEST, 4096, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass  # This is what was wanted.

    def free(self, processes: Iterable[int]) -> None:
        """Takes away what fills it."""
        self._filler.unlink(missing_ok=True)
        if not self.is_mounted:
            _limit(processes, None)

    def close(self) -> None:
        """Gives it back."""
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)


def _limit(processes: Iterable[int], most: int | None) -> None:
    for pid in processes:
        try:
            hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if most is None else most, hard))
        except OSError:
            continue  # It has ended meanwhile.
