"""Motions that fingers are tried on, with the fingers of a teacher beside them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from handwright.core.clip import Clip
from handwright.errors import FileFormatError
from handwright.io.manipnet.dataset import Recording, read_recording

FPS = 60.0
TRAINED_SHARE = 0.8
"""Of each recording, from its start."""
GAP = 0.5
"""Between what is trained on and what is tried, s: features look so far ahead and back."""
WINDOW = 6.7
"""Longest stretch of a recording that is tried at once, s."""


class Case(NamedTuple):
    """One motion to try."""

    name: str
    group: str
    """Such as ``tails`` or ``hemisphere``: figures are means over a group."""
    teacher: Clip


def recordings_in(data: Path) -> list[Recording]:
    """All complete recordings of a folder."""
    paths = sorted((data / "sequences").glob("*.npz"))
    if not paths:
        raise FileFormatError(
            f"{data}: no recordings in {data / 'sequences'}. Pass --data FOLDER, the folder that "
            "holds sequences/ and objects/."
        )
    return [read_recording(path) for path in paths]


def trained_part(recording: Recording) -> Clip:
    """What of a recording may be trained on."""
    return recording.clip(recording.start, _split(recording), fps=FPS)


def tails(recording: Recording) -> list[Case]:
    """What of a recording is kept for trials, in windows."""
    first = _split(recording) + round(GAP * recording.fps)
    length = round(WINDOW * recording.fps)
    least = round(2.0 * recording.fps)
    cases = []
    while recording.stop - first >= least:
        last = min(first + length, recording.stop)
        clip = recording.clip(first, last, fps=FPS)
        cases.append(Case(f"{recording.name} {first}-{last}", "tails", clip))
        first = last
    return cases


def _split(recording: Recording) -> int:
    whole = recording.start + round(TRAINED_SHARE * (recording.stop - recording.start))
    # An even number of frames of the file, so that both parts lie on frames of 60 Hz.
    return whole - (whole - recording.start) % 2
