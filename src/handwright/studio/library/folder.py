"""The folder whose clips are shown, and what is kept beside them.

Clips are the ``.npz`` files of the folder and of folders in it. All that the studio itself keeps is
in the hidden folder ``.handwright``: results of judging, uploads, scenes, favourites, and clips
that were deleted. Only deleting ``uploads``, ``scenes`` and ``favourites.json`` loses anything.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HIDDEN = ".handwright"
_MAX_DEPTH = 4
_MAX_CLIPS = 5000


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a clip."""

    file: str
    """Path in the folder, with forward slashes."""
    size: int
    """Bytes."""
    changed: int
    """ns since 1970."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of clips."""

    root: Path

    @property
    def hidden(self) -> Path:
        """What the studio keeps."""
        return self.root / HIDDEN

    def part(self, name: str) -> Path:
        """A folder of what the studio keeps; made if it is not there."""
        path = self.hidden / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def path(self, file: str) -> Path:
        """Where a file of ``listed`` is."""
        return self.root / file

    def listed(self) -> list[Found]:
        """Every file that may be a clip; links that lead out of the folder are left out."""
        found = []
        for path in self._files():
            try:
                stat = path.stat()
            except OSError:
                continue  # It went away meanwhile, or leads nowhere.
            found.append(
                Found(path.relative_to(self.root).as_posix(), stat.st_size, stat.st_mtime_ns)
            )
            if len(found) >= _MAX_CLIPS:
                break
        return found

    def _files(self) -> Iterator[Path]:
        for place, folders, files in os.walk(self.root, followlinks=False):
            depth = len(Path(place).relative_to(self.root).parts)
            folders[:] = sorted(n for n in folders if not n.startswith(".")) * (depth < _MAX_DEPTH)
            for name in sorted(files):
                path = Path(place) / name
                if name.startswith(".") or path.suffix.lower() != ".npz":
                    continue
                if path.is_symlink() and not path.resolve().is_relative_to(self.root):
                    continue
                yield path


def clip_id(file: str) -> str:
    """What a clip is called in addresses: the same as long as its file keeps its name."""
    return hashlib.sha256(file.encode()).hexdigest()[:16]


def content_digest(path: Path, salt: str) -> str:
    """What results of judging are kept under: another for other content, or another judge."""
    digest = hashlib.sha256(salt.encode())
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:32]
