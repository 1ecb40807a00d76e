"""Means and spreads of the features and targets of a corpus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.learning.training.columns import (
    FEATURE_GROUPS,
    FINGER_GROUPS,
    FIXED_GROUPS,
    OUTPUT_GROUPS,
)
from handwright.learning.training.lessons.corpus import Corpus
from handwright.learning.training.networks.normalisation import (
    Moments,
    Normalisation,
    column_normalisation,
    group_normalisation,
)
from handwright.methods.neural.sensing.sensors import FINGER_SIZE, POSE_SIZE
from handwright.methods.neural.sensing.table import FIXED_SIZE, NUM_FEATURES, NUM_OUTPUTS

# Frames that are measured, evenly over all: a mean needs no more.
_NUM_MEASURED = 30_000
_CHUNK = 1024


class CorpusNormalisation(NamedTuple):
    """Of everything that goes into networks and comes out of them."""

    features: Normalisation
    """Of all features, in the order of the table."""
    fixed: Normalisation
    """Of those that do not depend on fingers."""
    finger: Normalisation
    """Of those that do."""
    outputs: Normalisation


def corpus_normalisation(corpus: Corpus) -> CorpusNormalisation:
    """Measured at the taught fingers.

    Args:
        corpus: What is taught.
    """
    features, fixed, finger = Moments(NUM_FEATURES), Moments(FIXED_SIZE), Moments(FINGER_SIZE)
    outputs = Moments(NUM_OUTPUTS)
    chosen = np.arange(0, len(corpus), -(-len(corpus) // _NUM_MEASURED))
    for start in range(0, len(chosen), _CHUNK):
        rows = chosen[start : start + _CHUNK]
        seen = corpus.features(rows, corpus.q[rows])
        features.add(seen)
        fixed.add(seen[:, POSE_SIZE : POSE_SIZE + FIXED_SIZE])
        finger.add(np.delete(seen, np.s_[POSE_SIZE : POSE_SIZE + FIXED_SIZE], axis=1))
        outputs.add(corpus.targets[rows])
    return CorpusNormalisation(
        column_normalisation(features, FEATURE_GROUPS),
        column_normalisation(fixed, FIXED_GROUPS),
        column_normalisation(finger, FINGER_GROUPS),
        group_normalisation(outputs, OUTPUT_GROUPS),
    )
