"""What the list of clips says of each, read from a file's document without building the clip."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from handwright.errors import FileFormatError
from handwright.io.clip.file import FORMAT
from handwright.io.clip.npy_archive import open_archive
from handwright.studio.labels import well_formed
from handwright.studio.library.folder import Found, clip_id
from handwright.studio.library.judged import JudgedClip
from handwright.studio.messages import ClipSummary

_DOCUMENT = "clip.json"
_MAX_TEXT = 200
_LEAST_FRAME = 1e-6
"""s; frames that are nearer to each other are no motion."""


class Headline(NamedTuple):
    """How a clip was made, and how long it is."""

    scene: str
    method: str
    seed: int
    num_frames: int
    duration: float
    """s."""

    @property
    def fps(self) -> float:
        """Mean frame rate, 1/s."""
        return (self.num_frames - 1) / self.duration if self.duration > 0.0 else 0.0


def read_headline(path: Path) -> Headline:
    """Reads what is needed for a list.

    Raises:
        FileFormatError: It is no clip file.
    """
    with open_archive(path, _DOCUMENT) as archive:
        document = archive.document
        headers, _ = archive.headers(_DOCUMENT)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise FileFormatError(f"{path.name}: {_DOCUMENT} is not that of a {FORMAT}.")
        if "times" not in headers:
            raise FileFormatError(f"{path.name}: the array 'times' is missing.")
        times = archive.array("times", headers["times"])
        try:
            made = document["clip"]["provenance"]
            scene, method, seed = str(made["scene"]), str(made["method"]), int(made["seed"])
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{path.name}: does not say how it was made.") from error
        if times.ndim != 1 or not len(times):
            raise FileFormatError(f"{path.name}: has no frames.")
        with np.errstate(all="ignore"):
            apart, span = np.diff(times), float(times[-1] - times[0])
        if not (np.isfinite([*times, span]).all() and np.all(apart >= _LEAST_FRAME)):
            raise FileFormatError(
                f"{path.name}: its frames are not at rising, finite times that are at least "
                f"{_LEAST_FRAME:g} s apart. Write it again with the times of a motion."
            )
        return Headline(scene, method, seed, len(times), span)


def summary_of(found: Found, head: Headline, judged: JudgedClip | None) -> ClipSummary:
    """What the wall says of a clip, from its file and what a judge found."""
    return ClipSummary(
        id=clip_id(found.file),
        file=well_formed(found.file),
        scene=well_formed(head.scene)[:_MAX_TEXT],
        method=well_formed(head.method)[:_MAX_TEXT],
        seed=head.seed,
        num_frames=head.num_frames,
        fps=head.fps,
        duration=head.duration,
        created=found.changed / 1e9,
        job=None,
        is_favourite=False,
        is_certified=None if judged is None else judged.is_certified,
        verdict=None if judged is None else judged.verdict,
        figures=None if judged is None else judged.figures,
        strategies=None if judged is None else judged.strategies,
        cluster=None,
        trouble=None,
    )
