"""The teaching of a network that goes from frame to frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from handwright.learning.training.columns import DISTANCES, POSE, frame_columns
from handwright.learning.training.lessons.corpus import Corpus
from handwright.learning.training.lessons.corpus_normalisation import corpus_normalisation
from handwright.learning.training.lessons.states import Chains, Postures, taught_states
from handwright.learning.training.loss import Loss
from handwright.learning.training.networks.architectures import FrameNetwork, as_tensor
from handwright.learning.training.networks.export import export_frame_network
from handwright.learning.training.optimising import Optimiser, Randomness, mean_of
from handwright.learning.training.recipe import Recipe

Tell = Callable[[float], None]


class FrameTraining:
    """A network of one of the paper's kinds while it is taught.

    Args:
        recipe: How.
        corpus: What.
        seed: Of weights, order, noise and roll-outs.
    """

    def __init__(self, recipe: Recipe, corpus: Corpus, seed: int) -> None:
        self.recipe, self.corpus = recipe, corpus
        self.randomness = Randomness(seed)
        measured = corpus_normalisation(corpus)
        is_change = recipe.output == "change"
        connections = recipe.architecture
        assert connections != "windowed"
        self.network = FrameNetwork(
            frame_columns(recipe),
            measured.features,
            measured.outputs,
            width=recipe.width,
            connections=connections,
            dropout=recipe.dropout,
            pose=POSE if is_change else slice(0, 0),
            distances=DISTANCES,
        )
        self.loss = Loss(recipe, measured.outputs)
        self.num_epochs = recipe.epochs
        steps = -(-len(corpus.has_next) // recipe.batch)
        self.optimiser = Optimiser(recipe, self.network, steps * recipe.epochs)
        self.chains = Chains(corpus, recipe, self.randomness.rng)

    @property
    def can_be_exported(self) -> bool:
        """Whether there is a whole network already."""
        return True

    def run_epoch(self, epoch: int, tell: Tell) -> float:
        """Sees all frames once, and returns the mean loss.

        Args:
            epoch: From 0 on.
            tell: Is told how much of the epoch is done, from 0 to 1.
        """
        rng, corpus = self.randomness.rng, self.corpus
        rows = rng.permutation(corpus.has_next)
        share = self.recipe.rollout_share if epoch > 0 else 0.0
        losses: list[Tensor] = []
        done = 0
        while done < len(rows):
            if rng.random() < share:
                here = self.chains.rows
                features = self.chains.features()
                self.chains.advance(self.predict(features), rng)
            else:
                # As many taught states at a time as there are chains, so that shares are shares.
                here = rows[done : done + max(self.recipe.chains, self.recipe.batch)]
                features = taught_states(corpus, here, self.recipe.pose_noise, rng)
            for part in np.array_split(
                rng.permutation(len(here)), -(-len(here) // self.recipe.batch)
            ):
                losses.append(self._step(features[part], here[part]))
            done += len(here)
            tell(min(done / len(rows), 1.0))
        return mean_of(losses)

    def _step(self, features: Float32[np.ndarray, "M 2356"], rows: Int[np.ndarray, " M"]) -> Tensor:
        """One step of the optimiser on states at some frames."""
        self.network.train()
        seen = as_tensor(features)
        wanted = as_tensor(self.corpus.targets[rows + 1])
        outputs = self.network(seen)
        loss = self.loss(outputs, wanted)
        if self.recipe.velocity_weight > 0.0:
            before = as_tensor(self.corpus.targets[rows])
            steps = outputs[:, POSE] - seen[:, POSE]
            loss = loss + self.loss.of_steps(steps, (wanted - before)[:, POSE])
        self.optimiser.step(loss)
        return loss.detach()

    @torch.no_grad()
    def predict(self, features: Float32[np.ndarray, "M 2356"]) -> Float32[np.ndarray, "M 220"]:
        """Outputs of the network as it is, with nothing dropped."""
        self.network.eval()
        found: np.ndarray = self.network(as_tensor(features)).numpy()
        return found

    def roll_out(self, corpus: Corpus) -> Float[np.ndarray, "N J"]:
        """Joint values, rad, of all frames of other lessons in closed loop.

        Every lesson starts from its first taught posture.

        Args:
            corpus: The lessons.
        """
        q = np.array(corpus.q)
        lengths = np.array([len(lesson) for lesson in corpus.lessons])
        postures = Postures(corpus, q[corpus.start], self.recipe.correction)
        for frame in range(int(lengths.max()) - 1):
            going = np.flatnonzero(lengths > frame + 1)
            rows = corpus.start[going] + frame
            outputs = self.predict(corpus.features(rows, q[rows]))
            postures.step(rows + 1, outputs, going)
            q[rows + 1] = postures.q[going]
        return q

    def export(self, folder: Path, license_text: str) -> None:
        """Writes the network as ``network.onnx``.

        Args:
            folder: Where.
            license_text: Kept in the file.
        """
        export_frame_network(self.network, self.recipe, folder, license_text)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on later."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state(),
            "randomness": self.randomness.state(),
            "chains": self.chains.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.network.load_state_dict(state["network"])
        self.optimiser.restore(state["optimiser"])
        self.randomness.restore(state["randomness"])
        self.chains.restore(state["chains"])
