"""What ``handwright reproduce`` does: a clip in, the same motion made again, and compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version

import numpy as np

from handwright.cli.progress import ProgressLine
from handwright.core.clip import Clip
from handwright.core.result import Progress, Result, Status
from handwright.io.clip.noun_codec import encode
from handwright.methods.provenance import method_of
from handwright.synthesis import synthesize


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came out when a clip was made again."""

    clip: Clip
    result: Result
    motions: tuple[Clip, ...]
    """What the clip was compared with: the motions of the result, or those that were refused."""
    number: int | None
    """Which of them has the same bytes, from 0; None if none has."""
    was_refused: bool = False
    """Whether the clip is one that the certificate had refused."""

    def lines(self) -> list[str]:
        """The outcome in sentences."""
        made, now = self.clip.provenance, version("handwright")
        count, kind = len(self.motions), "refused motion" if self.was_refused else "motion"
        told = [f"{made.method}, seed {made.seed}: made again from the problem in the clip."]
        if self.number is not None:
            told.append(f"Same bytes: {kind} {self.number + 1} of {count} is that of the clip.")
            return told
        told.append(f"Not reproduced: none of {count} {kind}s has the bytes of the clip.")
        if made.version != now:
            told.append(f"The clip is by handwright {made.version or 'unknown'}, this is {now}.")
        if self.result.message:
            told.append(self.result.message)
        return told


def reproduce_clip(clip: Clip, *, was_refused: bool = False) -> Reproduction:
    """Makes a clip again from its provenance.

    Args:
        clip: What is to be made again; it holds its problem.
        was_refused: Whether the certificate had refused it, so that no result holds it.
    """
    made = clip.provenance
    method = method_of(made)
    refused: list[Clip] = []
    with ProgressLine(wanted=getattr(method, "num_solutions", None)) as line:

        def watch(progress: Progress) -> None:
            if was_refused:
                refused.extend(progress.refused_clips)
            line(progress)

        is_judged = made.is_certified or was_refused
        result = synthesize(
            clip.problem, method, seed=made.seed, on_progress=watch, certify=is_judged
        )
    if result.status is Status.CANCELLED:
        raise KeyboardInterrupt
    # A stricter judge than the driver's may have refused a motion that it lets pass.
    motions = (*refused, *result.clips)
    found = (n for n, other in enumerate(motions) if _same_bytes(clip, other))
    return Reproduction(clip, result, motions, next(found, None), was_refused)


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
