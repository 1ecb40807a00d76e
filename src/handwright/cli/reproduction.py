"""What ``handwright reproduce`` does: a clip in, the same motion made again, and compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version

import numpy as np

from handwright.cli.progress import ProgressLine
from handwright.core.clip import Clip
from handwright.core.result import Result, Status
from handwright.io.clip.noun_codec import encode
from handwright.methods.reproducing import method_of
from handwright.synthesis import synthesize


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came out when a clip was made again."""

    clip: Clip
    result: Result
    number: int | None
    """Which motion of the result has the same bytes, from 0; None if none has."""

    def lines(self) -> list[str]:
        """The outcome in sentences."""
        made, now = self.clip.provenance, version("handwright")
        count = len(self.result.clips)
        told = [f"{made.method}, seed {made.seed}: made again from the problem in the clip."]
        if self.number is not None:
            told.append(f"Same bytes: motion {self.number + 1} of {count} is that of the clip.")
            return told
        told.append(f"Not reproduced: none of {count} motions has the bytes of the clip.")
        if made.version != now:
            told.append(f"The clip is by handwright {made.version or 'unknown'}, this is {now}.")
        if self.result.message:
            told.append(self.result.message)
        return told


def reproduce_clip(clip: Clip) -> Reproduction:
    """Makes a clip again from its provenance.

    Args:
        clip: What is to be made again; it holds its problem.
    """
    made = clip.provenance
    method = method_of(made)
    with ProgressLine(wanted=getattr(method, "num_solutions", None)) as line:
        result = synthesize(
            clip.problem, method, seed=made.seed, on_progress=line, certify=made.is_certified
        )
    if result.status is Status.CANCELLED:
        raise KeyboardInterrupt
    found = (n for n, other in enumerate(result.clips) if _same_bytes(clip, other))
    return Reproduction(clip, result, next(found, None))


def _same_bytes(clip: Clip, other: Clip) -> bool:
    """Whether two clips would give the same file, but for the note on how they were made.

    An earlier release may have noted the same settings under other names.
    """
    first: dict[str, np.ndarray] = {}
    second: dict[str, np.ndarray] = {}
    noted = replace(clip, provenance=other.provenance)
    is_same = encode(noted, Clip, "", first) == encode(other, Clip, "", second)
    return is_same and first.keys() == second.keys() and all(
        array.dtype == second[name].dtype
        and array.shape == second[name].shape
        and array.tobytes() == second[name].tobytes()
        for name, array in first.items()
    )  # fmt: skip
