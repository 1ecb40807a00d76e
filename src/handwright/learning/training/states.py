"""Where a network that goes from frame to frame is asked: at taught poses, and where it got to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Int

from handwright.learning.training.corpus import Corpus
from handwright.learning.training.measures import joint_errors
from handwright.learning.training.recipe import Recipe

Predict = Callable[[Float32[np.ndarray, "M 2356"]], Float32[np.ndarray, "M 220"]]


def taught_states(
    corpus: Corpus, rows: Int[np.ndarray, " M"], noise: float, rng: np.random.Generator
) -> Float32[np.ndarray, "M 2356"]:
    """Features at taught poses to which noise is added, with sensors read at what comes out.

    Args:
        corpus: What is taught.
        rows: Frames of it.
        noise: Standard deviation for each joint, rad.
        rng: Of the noise.
    """
    if noise == 0.0:
        return corpus.features(rows)
    taught = corpus.q[rows]
    q = corpus.within_limits(rows, taught + noise * rng.standard_normal(taught.shape))
    return corpus.features(rows, q)


class Chains:
    """Roll-outs that go on through the whole training, each led by the network as it is.

    Args:
        corpus: Their tracks, and where they begin.
        recipe: How many there are, and when they begin again.
        rng: Of their beginnings.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe, rng: np.random.Generator) -> None:
        self._corpus, self._recipe = corpus, recipe
        self.rows: Int[np.ndarray, " K"] = rng.choice(corpus.has_next, recipe.chains)
        self.q: Float[np.ndarray, "K J"] = corpus.q[self.rows]

    def features(self) -> Float32[np.ndarray, "K 2356"]:
        """What the network is asked at the present frames."""
        return self._corpus.features(self.rows, self.q)

    def advance(self, outputs: Float32[np.ndarray, "K 220"], rng: np.random.Generator) -> None:
        """Goes to the next frames, and begins again where a lesson ends, by chance, or far off.

        Args:
            outputs: What the network says at the present frames.
            rng: Of chances and new beginnings.
        """
        corpus, recipe = self._corpus, self._recipe
        self.rows = self.rows + 1
        self.q = corpus.fitted(self.rows, outputs, self.q)
        errors = joint_errors(corpus.poses(self.rows, self.q), corpus.targets[self.rows])
        again = rng.random(len(self.rows)) < recipe.restart_chance
        again |= errors > recipe.restart_error
        again |= ~np.isin(self.rows, corpus.has_next)
        fresh = rng.choice(corpus.has_next, int(again.sum()))
        self.rows[again] = fresh
        self.q[again] = corpus.q[fresh]

    def state(self) -> dict[str, Any]:
        """All that is needed to go on later."""
        return {"rows": self.rows.tolist(), "q": self.q.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.rows = np.array(state["rows"])
        self.q = np.array(state["q"])
