"""What training makes small: squared errors of outputs, kind by kind."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from handwright.learning.training.columns import OUTPUT_GROUPS, POSE
from handwright.learning.training.networks.normalisation import Normalisation
from handwright.learning.training.recipe import Recipe

# What an error of velocity is measured by, as a share of what one of place is: roughly how far
# fingers move in a few frames.
_STEP_SHARE = 0.1


class Loss:
    """Mean squared errors of places, directions and distances, each in its spread, and weighted.

    Args:
        recipe: With the weights.
        outputs: With the spreads.
    """

    def __init__(self, recipe: Recipe, outputs: Normalisation) -> None:
        weights = {
            "joint_position": recipe.position_weight,
            "joint_rotation": recipe.rotation_weight,
            "distance": recipe.distance_weight,
        }
        scale = np.zeros(len(outputs.mean))
        for name, columns in OUTPUT_GROUPS.items():
            size = columns.stop - columns.start
            scale[columns] = np.sqrt(weights[name] / size) / outputs.spread[columns]
        self._scale = torch.as_tensor(scale, dtype=torch.float32)
        steps: Float[np.ndarray, " N"] = scale / _STEP_SHARE
        steps[POSE.stop :] = 0.0
        self._steps = np.sqrt(recipe.velocity_weight) * torch.as_tensor(steps, dtype=torch.float32)
        self._sees_steps = recipe.velocity_weight > 0.0

    def __call__(self, outputs: Tensor, wanted: Tensor) -> Tensor:
        """Of outputs (..., 220)."""
        return ((outputs - wanted) * self._scale).square().sum(dim=-1).mean()

    def of_steps(self, steps: Tensor, wanted: Tensor) -> Tensor:
        """Of changes (..., 220) from one frame to the next; distances do not count."""
        if not self._sees_steps:
            return torch.zeros(())
        return ((steps - wanted) * self._steps).square().sum(dim=-1).mean()
