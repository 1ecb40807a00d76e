"""A part of a motion that is kept while the rest is made anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class KeptDigit:
    """One digit over N frames of a motion; ``ContactSampling.keeping`` makes it from a clip."""

    hand: str
    digit: str
    times: Float[np.ndarray, " N"]
    """Times of the frames, s."""
    q: Float[np.ndarray, "N J"]
    """Joint values of the whole hand, rad; those of the digit count."""
    body: tuple[str, ...]
    """What the digit touches in each frame, or an empty name."""
    link: Int[np.ndarray, " N"]
    """Link of its foremost contact."""
    local: Float[np.ndarray, "N 3"]
    """Position of that contact in the link's frame, m."""
    point: Float[np.ndarray, "N 3"]
    """Position of that contact in the body's frame, m."""
    normal: Float[np.ndarray, "N 3"]
    """Normal of that contact in the body's frame, pointing out of the body."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
