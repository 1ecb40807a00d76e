"""Windows of successive frames, each with the frames before it that it depends on."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.signal import lfilter

from handwright.learning.training.lessons.corpus import Corpus
from handwright.learning.training.networks.windowed import MEMORY
from handwright.methods.neural.sensing.motion import RATE

# How long errors of a first pass last, s: those of a frame are much like those of the frame before.
_NOISE_TIME = 0.25


def draw_windows(corpus: Corpus, length: int, rng: np.random.Generator) -> Int[np.ndarray, "W L"]:
    """Windows that cover every lesson about once, in random order.

    Args:
        corpus: The lessons.
        length: Frames of a window.
        rng: Of their beginnings and order.

    Returns:
        Numbers of frames, those of the past first; before a lesson begins its first frame is held,
        and after its end the last.
    """
    windows = []
    offsets = np.arange(-MEMORY, length)
    for start, lesson in zip(corpus.start, corpus.lessons, strict=True):
        count = -(-len(lesson) // length)
        drawn = rng.integers(-(length // 2), max(len(lesson) - length // 2, 1), size=count)
        begins = np.clip(drawn, 0, max(len(lesson) - length, 0))
        frames = np.clip(begins[:, None] + offsets, 0, len(lesson) - 1)
        windows.append(start + frames)
    return rng.permutation(np.concatenate(windows))


def lasting_noise(
    corpus: Corpus, deviation: float, rng: np.random.Generator
) -> Float[np.ndarray, "N J"]:
    """Noise for every frame of every lesson that changes slowly, rad.

    Args:
        corpus: The lessons.
        deviation: Standard deviation, rad.
        rng: Of the noise.
    """
    keep = np.exp(-1.0 / (RATE * _NOISE_TIME))
    gain = np.sqrt(1.0 - keep**2)
    parts = []
    for lesson in corpus.lessons:
        white = rng.standard_normal(np.shape(lesson.q))
        # The first value has the full deviation, as all later ones do.
        white[0] /= gain
        parts.append(deviation * lfilter([gain], [1.0, -keep], white, axis=0))
    return np.concatenate(parts)
