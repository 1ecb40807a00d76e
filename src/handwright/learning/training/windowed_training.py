"""The teaching of the two passes, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Float16, Float32
from torch import Tensor

from handwright.core.problem import usual_posture
from handwright.learning.training.columns import (
    DISTANCES,
    POSE,
    finger_columns,
    fixed_columns,
)
from handwright.learning.training.frame_training import Tell
from handwright.learning.training.lessons.corpus import Corpus
from handwright.learning.training.lessons.corpus_normalisation import corpus_normalisation
from handwright.learning.training.lessons.states import Postures
from handwright.learning.training.lessons.windows import draw_windows, lasting_noise
from handwright.learning.training.loss import Loss
from handwright.learning.training.networks.architectures import as_tensor
from handwright.learning.training.networks.export import export_passes
from handwright.learning.training.networks.windowed import (
    MEMORY,
    FirstPass,
    SecondPass,
    empty_memory,
)
from handwright.learning.training.optimising import Optimiser, Randomness, mean_of
from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.fitting import Correction
from handwright.methods.neural.sensing.sensors import FINGER_SIZE

PassName = Literal["first", "second"]
_CHUNK = 1024


class WindowedTraining:
    """A two-pass network while it is taught: epochs of the first pass, then of the second.

    Args:
        recipe: How.
        corpus: What.
        seed: Of weights, order and noise.
    """

    def __init__(self, recipe: Recipe, corpus: Corpus, seed: int) -> None:
        self.recipe, self.corpus = recipe, corpus
        self.randomness = Randomness(seed)
        measured = corpus_normalisation(corpus)
        self.first = FirstPass(
            fixed_columns(recipe),
            measured.fixed,
            measured.outputs,
            width=recipe.width,
            dropout=recipe.dropout,
            distances=DISTANCES,
        )
        self.second = SecondPass(
            finger_columns(recipe),
            measured.finger,
            measured.outputs,
            width=recipe.width,
            dropout=recipe.dropout,
            pose=POSE if recipe.output == "change" else slice(0, 0),
            distances=DISTANCES,
        )
        self.loss = Loss(recipe, measured.outputs)
        self.num_epochs = 2 * recipe.epochs
        windows = sum(-(-len(lesson) // recipe.window) for lesson in corpus.lessons)
        steps = recipe.epochs * -(-windows // recipe.batch)
        self.optimisers = {
            "first": Optimiser(recipe, self.first, steps),
            "second": Optimiser(recipe, self.second, steps),
        }
        self._said: tuple[Float[np.ndarray, "N J"], Float16[np.ndarray, "N C"]] | None = None

    @property
    def can_be_exported(self) -> bool:
        """Whether the second pass has begun to learn."""
        return self.optimisers["second"].step_count > 0

    def run_epoch(self, epoch: int, tell: Tell) -> float:
        """Sees all frames once with one of the passes, and returns the mean loss.

        Args:
            epoch: From 0 on; the second half is that of the second pass.
            tell: Is told how much of the epoch is done, from 0 to 1.
        """
        name: PassName = "first" if epoch < self.recipe.epochs else "second"
        rng = self.randomness.rng
        windows = draw_windows(self.corpus, self.recipe.window, rng)
        finger = context = np.zeros((0, 0), dtype=np.float16)
        if name == "second":
            finger, context = self._second_inputs()
        self.first.train(name == "first")
        self.second.train()
        losses: list[Tensor] = []
        for start in range(0, len(windows), self.recipe.batch):
            rows = windows[start : start + self.recipe.batch]
            memory = empty_memory(len(rows), self.recipe.width)
            if name == "first":
                outputs = self.first(as_tensor(self.corpus.fixed[rows]), memory)[0]
            else:
                outputs = self.second(as_tensor(context[rows]), as_tensor(finger[rows]), memory)[0]
            outputs = outputs[:, MEMORY:]
            wanted = as_tensor(self.corpus.targets[rows[:, MEMORY:]])
            steps = torch.diff(outputs, dim=1), torch.diff(wanted, dim=1)
            loss = self.loss(outputs, wanted) + self.loss.of_steps(*steps)
            self.optimisers[name].step(loss)
            losses.append(loss.detach())
            tell(min((start + len(rows)) / len(windows), 1.0))
        return mean_of(losses)

    def _second_inputs(
        self,
    ) -> tuple[Float16[np.ndarray, "N F"], Float16[np.ndarray, "N C"]]:
        """Features read at noisy fingers of the first pass, and its context, of all frames.

        The first pass knows the frames that it was taught with better than any others. Noise makes
        its fingers as wrong as they will be elsewhere.
        """
        corpus = self.corpus
        if self._said is None:
            outputs, context = self._first_outputs(corpus)
            self._said = fitted_in_turn(corpus, outputs), context
        q, context = self._said
        noisy = q + lasting_noise(corpus, self.recipe.pose_noise, self.randomness.rng)
        finger = np.zeros((len(corpus), FINGER_SIZE), dtype=np.float16)
        for start in range(0, len(corpus), _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, len(corpus)))
            finger[rows] = corpus.finger_features(rows, corpus.within_limits(rows, noisy[rows]))
        return finger, context

    @torch.no_grad()
    def _first_outputs(
        self, corpus: Corpus
    ) -> tuple[Float32[np.ndarray, "N 220"], Float16[np.ndarray, "N C"]]:
        """Outputs and context of the first pass for all frames."""
        self.first.eval()
        outputs, contexts = [], []
        for start, lesson in zip(corpus.start, corpus.lessons, strict=True):
            rows = start + np.clip(np.arange(-MEMORY, len(lesson)), 0, None)
            memory = empty_memory(1, self.recipe.width)
            said, context, _ = self.first(as_tensor(corpus.fixed[rows])[None], memory)
            outputs.append(said[0, MEMORY:].numpy())
            contexts.append(context[0, MEMORY:].numpy().astype(np.float16))
        return np.concatenate(outputs), np.concatenate(contexts)

    @torch.no_grad()
    def roll_out(self, corpus: Corpus) -> Float[np.ndarray, "N J"]:
        """Joint values, rad, of all frames of other lessons.

        Args:
            corpus: The lessons.
        """
        said, context = self._first_outputs(corpus)
        if not self.can_be_exported:
            return fitted_in_turn(corpus, said, self.recipe.correction)
        q = fitted_in_turn(corpus, said)
        self.second.eval()
        finger = corpus.finger_features(np.arange(len(corpus)), q)
        outputs = []
        for start, lesson in zip(corpus.start, corpus.lessons, strict=True):
            rows = start + np.clip(np.arange(-MEMORY, len(lesson)), 0, None)
            memory = empty_memory(1, self.recipe.width)
            seen = as_tensor(context[rows])[None], as_tensor(finger[rows])[None]
            outputs.append(self.second(*seen, memory)[0][0, MEMORY:].numpy())
        return fitted_in_turn(corpus, np.concatenate(outputs), self.recipe.correction)

    def export(self, folder: Path, license_text: str) -> None:
        """Writes the passes as ``first_pass.onnx`` and ``second_pass.onnx``.

        Args:
            folder: Where.
            license_text: Kept in the files.
        """
        export_passes(self.first, self.second, self.recipe, folder, license_text)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on later."""
        return {
            "first": self.first.state_dict(),
            "second": self.second.state_dict(),
            "optimisers": {name: one.state() for name, one in self.optimisers.items()},
            "randomness": self.randomness.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.first.load_state_dict(state["first"])
        self.second.load_state_dict(state["second"])
        for name, one in self.optimisers.items():
            one.restore(state["optimisers"][name])
        self.randomness.restore(state["randomness"])
        self._said = None


def fitted_in_turn(
    corpus: Corpus, outputs: Float32[np.ndarray, "N 220"], mode: Correction = "none"
) -> Float[np.ndarray, "N J"]:
    """Joint values of all frames, rad, each fitted from the frame before it.

    Args:
        corpus: The lessons.
        outputs: Of a network, for every frame.
        mode: How contacts are set right.
    """
    q = np.array(corpus.q)
    lengths = np.array([len(lesson) for lesson in corpus.lessons])
    start = np.stack([usual_posture(lesson.view.model) for lesson in corpus.lessons])
    postures = Postures(corpus, start, mode)
    for frame in range(int(lengths.max())):
        going = np.flatnonzero(lengths > frame)
        rows = corpus.start[going] + frame
        postures.step(rows, outputs[rows], going)
        q[rows] = postures.q[going]
    return q
