"""Optimisers, their learning rates, and randomness that can be stopped and taken up again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from handwright.learning.training.recipe import Recipe

_WARM_UP = 0.3
_FIRST_SHARE, _LAST_SHARE = 0.04, 1e-4
_LARGEST_GRADIENT = 1.0


def learning_rate(recipe: Recipe, progress: float) -> float:
    """At a share of all steps, from 0 to 1.

    One cycle is that of Smith & Topin 2019: up along a cosine in the first third, then down to
    nearly nothing.
    """
    if recipe.schedule == "constant":
        return recipe.learning_rate
    if progress < _WARM_UP:
        start, end, share = _FIRST_SHARE, 1.0, progress / _WARM_UP
    else:
        start, end, share = 1.0, _LAST_SHARE, (progress - _WARM_UP) / (1.0 - _WARM_UP)
    return recipe.learning_rate * (end + 0.5 * (start - end) * (1.0 + math.cos(math.pi * share)))


class Optimiser:
    """Changes the weights of a network step by step.

    Args:
        recipe: Which optimiser, and how fast.
        module: The network.
        num_steps: Steps in all, for the schedule.
    """

    def __init__(self, recipe: Recipe, module: nn.Module, num_steps: int) -> None:
        self._recipe, self._num_steps = recipe, max(num_steps, 1)
        self._parameters = list(module.parameters())
        self.step_count = 0
        decay = recipe.weight_decay if recipe.optimizer == "adamw" else 0.0
        kind = torch.optim.AdamW if recipe.optimizer == "adamw" else torch.optim.Adam
        self._inner = kind(self._parameters, lr=recipe.learning_rate, weight_decay=decay)

    def step(self, loss: Tensor) -> None:
        """Goes down a loss."""
        rate = learning_rate(self._recipe, min(self.step_count / self._num_steps, 1.0))
        for group in self._inner.param_groups:
            group["lr"] = rate
        self._inner.zero_grad(set_to_none=True)
        loss.backward()
        if self._recipe.schedule == "one-cycle":
            nn.utils.clip_grad_norm_(self._parameters, _LARGEST_GRADIENT)
        self._inner.step()
        self.step_count += 1

    def state(self) -> dict[str, Any]:
        """All that is needed to go on later."""
        return {"inner": self._inner.state_dict(), "step_count": self.step_count}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self._inner.load_state_dict(state["inner"])
        self.step_count = int(state["step_count"])


class Randomness:
    """Two generators from one seed: of numpy for what is drawn, of torch for what is dropped.

    Args:
        seed: Of both.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        torch.manual_seed(seed)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on later."""
        return {"numpy": json.dumps(self.rng.bit_generator.state), "torch": torch.get_rng_state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.rng.bit_generator.state = json.loads(state["numpy"])
        torch.set_rng_state(state["torch"])


def mean_of(losses: Iterable[Tensor]) -> float:
    """Mean of single numbers."""
    found = [float(loss) for loss in losses]
    return sum(found) / max(len(found), 1)
