"""Networks that see one frame and say the next one (Zhang et al. 2021, section 6).

Means and spreads of the teaching data are inside, so that features go in and poses come out in the
units of the feature table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from handwright.learning.training.networks.normalisation import Normalisation

Connections = Literal["dense", "resnet", "mlp"]
LARGEST_INPUT = 10.0
"""Features further from their mean, in spreads, are seen at this distance: no training set has
them, and a network would make anything of them."""
_NUM_BLOCKS = 2


class Encoder(nn.Module):
    """A dense layer on some of the features, in like units."""

    mean: Tensor
    scale: Tensor
    columns: Tensor

    def __init__(
        self, columns: Int[np.ndarray, " C"], normalisation: Normalisation, width: int
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(len(columns), width)
        self.register_buffer("columns", torch.as_tensor(columns, dtype=torch.int64))
        mean, spread = normalisation.mean[columns], normalisation.spread[columns]
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(1.0 / spread, dtype=torch.float32))

    def forward(self, features: Tensor) -> Tensor:
        """Codes (..., width) of features (..., N)."""
        seen = features.index_select(-1, self.columns)
        seen = (seen - self.mean) * self.scale
        return self.dense(seen.clamp(-LARGEST_INPUT, LARGEST_INPUT))


class Decoder(nn.Module):
    """A dense layer that says poses and distances in their own units.

    Args:
        width: Of what it decodes.
        normalisation: Of the outputs.
        distances: Columns of the outputs that are never negative; the last ones.
        pose: Columns of the features with the pose that outputs, from the first on, are changes
            of; empty if outputs are said as they are.
    """

    mean: Tensor
    spread: Tensor

    def __init__(
        self, width: int, normalisation: Normalisation, distances: slice, pose: slice
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(width, len(normalisation.mean))
        self.distances, self.pose = distances, pose
        self.num_changes = pose.stop - pose.start
        mean = torch.as_tensor(normalisation.mean, dtype=torch.float32)
        mean[: self.num_changes] = 0.0
        self.register_buffer("mean", mean)
        spread = torch.as_tensor(normalisation.spread, dtype=torch.float32)
        self.register_buffer("spread", spread)
        # An untrained network leaves the fingers nearly where they are.
        with torch.no_grad():
            self.dense.weight[: self.num_changes] *= 0.1
            self.dense.bias[: self.num_changes] = 0.0

    def forward(self, hidden: Tensor, features: Tensor) -> Tensor:
        """Outputs (..., N) from hidden values (..., width) and what the network sees (..., F)."""
        said = self.mean + self.spread * self.dense(hidden)
        count = self.num_changes
        if count:
            said = torch.cat([said[..., :count] + features[..., self.pose], said[..., count:]], -1)
        if self.training:
            return said
        # Distances are never negative (section 6.4); a clamp has no slope to learn from.
        first = self.distances.start
        return torch.cat([said[..., :first], said[..., first:].clamp(min=0.0)], dim=-1)


class ResidualBlock(nn.Module):
    """Two dense layers of one width, with the connections of the paper or fewer.

    Args:
        width: Of both layers.
        connections: ``dense`` as in the equations of section 6.2; ``resnet`` without the outer
            one; ``mlp`` without any.
        dropout: Share of what a layer sees that is dropped in training.
    """

    def __init__(self, width: int, connections: Connections, dropout: float) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.connections = connections
        self.drop = nn.Dropout(dropout)

    def forward(self, before: Tensor) -> Tensor:
        """Hidden values (..., width) from those of the block before."""
        entering = torch.relu(before)
        hidden = self.first(self.drop(entering))
        if self.connections != "mlp":
            hidden = hidden + entering
        between = torch.relu(hidden)
        hidden = self.second(self.drop(between))
        if self.connections != "mlp":
            hidden = hidden + between
        if self.connections == "dense":
            hidden = hidden + entering
        return hidden


class FrameNetwork(nn.Module):
    """Encoders, residual blocks and a decoder: features of a frame to outputs of the next.

    Args:
        groups: Columns of the features that each encoder sees, by its name.
        inputs: Means and spreads of the features.
        outputs: Means and spreads of the outputs.
        width: Of the blocks; encoders share it, a third each in the paper.
        connections: Of the blocks.
        dropout: Share dropped in training.
        pose: Columns of the features with the pose that outputs are changes of; empty if outputs
            are said as they are.
        distances: Columns of the outputs that are never negative; the last ones.
    """

    def __init__(
        self,
        groups: Mapping[str, Int[np.ndarray, " _"]],
        inputs: Normalisation,
        outputs: Normalisation,
        *,
        width: int,
        connections: Connections,
        dropout: float,
        pose: slice,
        distances: slice,
    ) -> None:
        super().__init__()
        share = width // 3
        self.encoders = nn.ModuleDict(
            {name: Encoder(columns, inputs, share) for name, columns in groups.items()}
        )
        width = share * len(groups)
        self.blocks = nn.Sequential(
            *(ResidualBlock(width, connections, dropout) for _ in range(_NUM_BLOCKS))
        )
        self.drop = nn.Dropout(dropout)
        self.decoder = Decoder(width, outputs, distances, pose)

    def forward(self, features: Tensor) -> Tensor:
        """Outputs (B, 220) for features (B, 2356)."""
        codes = [encoder(features) for encoder in self.encoders.values()]
        hidden = self.blocks(torch.cat(codes, dim=-1))
        return self.decoder(self.drop(hidden), features)


def count_parameters(modules: Sequence[nn.Module]) -> int:
    """How many numbers training sets."""
    return sum(part.numel() for module in modules for part in module.parameters())


def as_tensor(rows: Float[np.ndarray, "*B N"]) -> Tensor:
    """Rows as torch takes them, in single precision."""
    return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
