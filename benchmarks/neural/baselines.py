"""Fingers without any learning, which learned ones have to beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from handwright.core.clip import Clip
from handwright.methods.neural.sensing.features import fixed_features
from handwright.methods.neural.sensing.view import hand_views

Fingers = dict[str, Float[np.ndarray, "T J"]]
"""Joint values of each hand, rad."""
_PARTS = 48
_MOST_ROWS = 60_000


def mean_pose(taught: Sequence[Clip], case: Clip) -> Fingers:
    """The mean of all postures that were taught, all the time."""
    mean = np.mean(np.concatenate([m.q for clip in taught for m in clip.hands.values()]), axis=0)
    return {
        name: np.tile(case.problem.hands[name].joints.clamp(mean), (case.num_frames, 1))
        for name in case.hands
    }


def first_pose(case: Clip) -> Fingers:
    """The teacher's posture of the first frame, all the time: it has seen what others have not."""
    return {name: np.tile(motion.q[0], (case.num_frames, 1)) for name, motion in case.hands.items()}


class NearestNeighbour:
    """The posture of the taught frame whose trajectories and surroundings are most alike.

    Features that do not depend on fingers are scaled to unit spread and reduced to their main
    parts; a tree over these finds the frame.

    Args:
        taught: Motions at 60 Hz.
    """

    def __init__(self, taught: Sequence[Clip]) -> None:
        rows, postures = [], []
        for clip in taught:
            views = hand_views(clip.problem)
            for name, view in views.items():
                rows.append(fixed_features(view))
                postures.append(clip.hands[name].q)
        features = np.concatenate(rows).astype(np.float64)
        keep = slice(None, None, max(1, len(features) // _MOST_ROWS))
        features, self._postures = features[keep], np.concatenate(postures)[keep]
        self._mean, spread = features.mean(axis=0), features.std(axis=0)
        # A cell that is nearly always empty must not count for more than the others.
        self._scale = 1.0 / np.maximum(spread, 0.1 * float(spread.max()))
        scaled = (features - self._mean) * self._scale
        values, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False))
        self._basis = vectors[:, np.argsort(values)[::-1][:_PARTS]]
        self._tree = cKDTree(scaled @ self._basis)

    def __call__(self, case: Clip) -> Fingers:
        """Postures for both hands of a motion at 60 Hz."""
        fingers = {}
        for name, view in hand_views(case.problem).items():
            scaled = (fixed_features(view) - self._mean) * self._scale
            nearest = self._tree.query(scaled @ self._basis)[1]
            fingers[name] = case.problem.hands[name].joints.clamp(self._postures[nearest])
        return fingers
