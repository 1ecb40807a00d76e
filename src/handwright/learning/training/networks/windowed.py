"""The two-pass network: fingers of whole stretches of time, without feedback and hence no drift.

The first pass sees what does not depend on fingers, of the present frame and of about a second
before it, and says the fingers of the present frame. Sensors are then read at these fingers. The
second pass sees the readings, and what the first made of its frames, and says the fingers again.

Time is seen by layers that join a frame with one some frames before it, further and further apart.
What each has yet to see again is its memory: it goes in and comes out, so the same graph serves
whole tracks and streams of single frames, with equal results.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from handwright.learning.training.networks.architectures import Decoder, Encoder
from handwright.learning.training.networks.normalisation import Normalisation

STEPS_BACK = (1, 2, 4, 8, 16, 32)
"""Frames between the two that each layer joins."""
MEMORY = sum(STEPS_BACK)
"""Frames before the present one that the present output depends on."""


class PastStack(nn.Module):
    """Residual layers, each of which joins every frame with an earlier one.

    Args:
        width: Of what goes in and comes out.
        dropout: Share of what a layer sees that is dropped in training.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 * width, width) for _ in STEPS_BACK)
        self.drop = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden values and memory after some frames.

        Args:
            hidden: (B, T, width).
            memory: (B, MEMORY, width): what each layer saw before, layer after layer.
        """
        kept, start = [], 0
        for layer, steps in zip(self.layers, STEPS_BACK, strict=True):
            seen = torch.cat([memory[:, start : start + steps], torch.relu(hidden)], dim=1)
            pair = torch.cat([seen[:, :-steps], seen[:, steps:]], dim=-1)
            hidden = hidden + layer(self.drop(pair))
            kept.append(seen[:, -steps:])
            start += steps
        return hidden, torch.cat(kept, dim=1)


class FirstPass(nn.Module):
    """Fingers from tracks and the coarse shape alone.

    Args:
        groups: Columns of the fixed features that each encoder sees, by its name.
        inputs: Means and spreads of the fixed features.
        outputs: Means and spreads of the outputs.
        width: Of encoders and layers.
        dropout: Share dropped in training.
        distances: Columns of the outputs that are never negative; the last ones.
    """

    def __init__(
        self,
        groups: Mapping[str, Int[np.ndarray, " _"]],
        inputs: Normalisation,
        outputs: Normalisation,
        *,
        width: int,
        dropout: float,
        distances: slice,
    ) -> None:
        super().__init__()
        self.encoders = nn.ModuleDict(
            {name: Encoder(columns, inputs, width) for name, columns in groups.items()}
        )
        self.join = nn.Linear(width * len(groups), width)
        self.stack = PastStack(width, dropout)
        self.drop = nn.Dropout(dropout)
        self.decoder = Decoder(width, outputs, distances, slice(0, 0))

    def forward(self, fixed: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs (B, T, 220), context (B, T, 2 width) for the second pass, and memory.

        Args:
            fixed: (B, T, 1336) features that do not depend on fingers.
            memory: (B, MEMORY, width).
        """
        codes = torch.cat([encoder(fixed) for encoder in self.encoders.values()], dim=-1)
        frame = self.join(self.drop(torch.relu(codes)))
        hidden, memory = self.stack(frame, memory)
        outputs = self.decoder(self.drop(torch.relu(hidden)), fixed)
        return outputs, torch.cat([frame, hidden], dim=-1), memory


class SecondPass(nn.Module):
    """Fingers again, by what sensors read at those of the first pass.

    Args:
        groups: Columns of the finger features that each encoder sees, by its name.
        inputs: Means and spreads of the finger features.
        outputs: Means and spreads of the outputs.
        width: Of encoders and layers.
        dropout: Share dropped in training.
        pose: Columns of the finger features with the pose that outputs are changes of; empty if
            outputs are said as they are.
        distances: Columns of the outputs that are never negative; the last ones.
    """

    def __init__(
        self,
        groups: Mapping[str, Int[np.ndarray, " _"]],
        inputs: Normalisation,
        outputs: Normalisation,
        *,
        width: int,
        dropout: float,
        pose: slice,
        distances: slice,
    ) -> None:
        super().__init__()
        self.encoders = nn.ModuleDict(
            {name: Encoder(columns, inputs, width) for name, columns in groups.items()}
        )
        self.join = nn.Linear(width * (2 + len(groups)), width)
        self.stack = PastStack(width, dropout)
        self.drop = nn.Dropout(dropout)
        self.decoder = Decoder(width, outputs, distances, pose)

    def forward(self, context: Tensor, finger: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs (B, T, 220) and memory.

        Args:
            context: (B, T, 2 width) from the first pass.
            finger: (B, T, 1020) features measured at the fingers of the first pass.
            memory: (B, MEMORY, width).
        """
        codes = [encoder(finger) for encoder in self.encoders.values()]
        seen = torch.cat([context, *codes], dim=-1)
        hidden, memory = self.stack(self.join(self.drop(torch.relu(seen))), memory)
        return self.decoder(self.drop(torch.relu(hidden)), finger), memory


def empty_memory(num_tracks: int, width: int) -> Tensor:
    """Memory before any frame (B, MEMORY, width); filled by ``MEMORY`` frames or more."""
    return torch.zeros(num_tracks, MEMORY, width)
