"""The folder whose clips are shown, and what is kept beside them.

Clips are the ``.npz`` files of the folder and of folders in it. What the studio keeps of its user's
is in the hidden folder ``.handwright``: uploads, scenes, favourites, and clips that were deleted.
Results of judging are in the user's own cache: whoever can write into the folder could forge them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handwright.folders import cache_dir

HIDDEN = ".handwright"
_LEFTOVERS = (
    ".*.part.*",
    *(f"{HIDDEN}/{name}" for name in ("uploads/.*.part", "exports/*", "live/*")),
)
_MAX_DEPTH = 4
_MAX_CLIPS = 5000
_HOUR, _DAY = 3600.0, 86400.0
_KEPT_DAYS = 60
"""Days after which results of judging that nobody has looked at are dropped."""


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
    judged: Path = field(default_factory=lambda: cache_dir() / "judged")
    """Results of judging, in a folder for each content of a clip file."""

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

    def drop_leftovers(self) -> None:
        """Deletes what a killed server has left half done, and results that nobody wants."""
        now = time.time()
        for pattern in _LEFTOVERS:
            for path in self.root.glob(pattern):
                # Another server may be at work on what is younger.
                if now - path.stat().st_mtime > _HOUR:
                    path.unlink(missing_ok=True)
        for path in self.judged.glob("*"):
            if now - path.stat().st_mtime > _KEPT_DAYS * _DAY:
                shutil.rmtree(path, ignore_errors=True)

    def listed(self) -> list[Found]:
        """Every file that may be a clip; links that lead out of the folder are left out."""
        found = []
        for path in self._files():
            try:
                is_ = path.stat()
            except OSError:
                continue  # It went away meanwhile, or leads nowhere.
            if not stat.S_ISREG(is_.st_mode):
                continue  # Whoever read a pipe would wait for ever.
            found.append(
                Found(path.relative_to(self.root).as_posix(), is_.st_size, is_.st_mtime_ns)
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
    return hashlib.sha256(os.fsencode(file)).hexdigest()[:16]


def content_digest(path: Path, salt: str) -> str:
    """What results of judging are kept under: another for other content, or another judge."""
    digest = hashlib.sha256(os.fsencode(salt))
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:32]
