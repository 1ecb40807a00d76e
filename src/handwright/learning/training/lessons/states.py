"""Where a network that goes from frame to frame is asked: at taught poses, and where it got to."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int
from torch import Tensor

from handwright.learning.training.lessons.corpus import Corpus
from handwright.learning.training.lessons.measures import joint_errors
from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.fitting import Correction


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


class Postures:
    """Hands of some lessons that go from frame to frame as outputs of a network say.

    Args:
        corpus: The lessons.
        q: Joint values to start from, rad.
        mode: How contacts are set right.
    """

    def __init__(self, corpus: Corpus, q: Float[np.ndarray, "K J"], mode: Correction) -> None:
        self._corpus, self._mode = corpus, mode
        self.q = np.array(q)
        self.past: Float[np.ndarray, "K 2 J"] = np.full((len(q), 2, q.shape[1]), np.nan)

    def step(
        self,
        rows: Int[np.ndarray, " M"],
        outputs: Float32[np.ndarray, "M 220"],
        which: Int[np.ndarray, " M"] | slice = slice(None),
    ) -> None:
        """Goes to other frames.

        Args:
            rows: These frames.
            outputs: What the network says for them.
            which: Hands that go on; all if not given.
        """
        before, past = self.q[which], self.past[which]
        q = self._corpus.fitted(rows, outputs, before)
        q = self._corpus.corrected(rows, outputs, q, self._mode, past)
        # After its first frame a hand is at rest.
        last = np.where(np.isnan(past[:, 0]), q, before)
        self.q[which], self.past[which] = q, np.stack([q, last], axis=1)

    def restart(self, which: Bool[np.ndarray, " K"], q: Float[np.ndarray, "M J"]) -> None:
        """Sets hands to other joint values, rad, without a past."""
        self.q[which], self.past[which] = q, np.nan


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
        self._postures = Postures(corpus, corpus.q[self.rows], recipe.correction)

    def features(self) -> Float32[np.ndarray, "K 2356"]:
        """What the network is asked at the present frames."""
        return self._corpus.features(self.rows, self._postures.q)

    def advance(self, outputs: Float32[np.ndarray, "K 220"], rng: np.random.Generator) -> None:
        """Goes to the next frames, and begins again where a lesson ends, by chance, or far off.

        Args:
            outputs: What the network says at the present frames.
            rng: Of chances and new beginnings.
        """
        corpus, recipe = self._corpus, self._recipe
        self.rows = self.rows + 1
        self._postures.step(self.rows, outputs)
        poses = corpus.poses(self.rows, self._postures.q)
        again = rng.random(len(self.rows)) < recipe.restart_chance
        again |= joint_errors(poses, corpus.targets[self.rows]) > recipe.restart_error
        again |= corpus.is_last[self.rows]
        self.rows[again] = rng.choice(corpus.has_next, int(again.sum()))
        self._postures.restart(again, corpus.q[self.rows[again]])

    def state(self) -> dict[str, Tensor]:
        """All that is needed to go on later."""
        held = {"rows": self.rows, "q": self._postures.q, "past": self._postures.past}
        return {name: torch.from_numpy(array.copy()) for name, array in held.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from what ``state`` gave."""
        self.rows = state["rows"].numpy().copy()
        self._postures.q = state["q"].numpy().copy()
        self._postures.past = state["past"].numpy().copy()
