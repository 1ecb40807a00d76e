"""What the list of clips says of each, read from a file's document without building the clip."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from handwright.errors import FileFormatError
from handwright.io.clip.file import FORMAT
from handwright.io.clip.npy_archive import open_archive

_DOCUMENT = "clip.json"


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
        return Headline(scene, method, seed, len(times), float(times[-1] - times[0]))
