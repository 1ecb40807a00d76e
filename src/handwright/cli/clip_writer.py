"""Files of motions, written while they are found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from handwright.cli.interrupts import Interrupts
from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.core.result import Progress, Watcher
from handwright.errors import InvalidValueError
from handwright.io.clip.file import save_clip

REFUSED = "refused"
"""Folder, in that of the clips, of the motions that the certificate refused."""


class Refusal(NamedTuple):
    """A motion that was refused and written all the same."""

    file: Path
    verdict: str


class ClipWriter:
    """A watcher that writes every clip as soon as it is certified, and never over another file.

    Args:
        folder: Where to.
        name: What the clips are called: NAME_sSEED_00.npz, and so on.
        seed: Random seed of the run.
        show: Told all progress in turn.
        interrupts: Held off while a clip is written.
        keep_refused: Whether refused motions are written, too, into a folder of their own.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        seed: int,
        show: Watcher,
        interrupts: Interrupts,
        *,
        keep_refused: bool = False,
    ) -> None:
        self._folder, self._stem = folder, f"{name}_s{seed}"
        self._show, self._interrupts = show, interrupts
        self._keep_refused = keep_refused
        self._written: list[tuple[Clip, Path]] = []
        self.refusals: list[Refusal] = []
        """Refused motions that were written."""

    def __call__(self, progress: Progress) -> None:
        """Writes the motions of some progress."""
        with self._interrupts.held():
            for clip, certificate in progress.judged_clips:
                self._written.append((clip, self._write(clip, certificate, self._folder)))
            for clip, certificate in progress.judged_refusals if self._keep_refused else ():
                file = self._write(clip, certificate, self._folder / REFUSED)
                verdict = "not judged" if certificate is None else certificate.verdict
                self.refusals.append(Refusal(file, verdict))
            self._show(progress)

    def file_of(self, clip: Clip) -> Path:
        """The file that a clip was written to."""
        return next(path for written, path in self._written if written is clip)

    def _write(self, clip: Clip, certificate: Certificate | None, folder: Path) -> Path:
        try:
            folder.mkdir(exist_ok=True)
            path = _reserved(folder, self._stem)
            try:
                save_clip(clip, path, certificate=certificate)
            except BaseException:
                path.unlink()
                raise
        except OSError as error:
            count = len(self._written) + len(self.refusals)
            raise InvalidValueError(
                f"{error.filename}: cannot be written ({error.strerror}). Motions of this run that "
                f"were written before: {count}. Make room, and ask for more of them."
            ) from error
        return path


def _reserved(folder: Path, stem: str) -> Path:
    """An empty file under the next free name, which no other run can take meanwhile."""
    number = 0
    while True:
        path = folder / f"{stem}_{number:02d}.npz"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path
