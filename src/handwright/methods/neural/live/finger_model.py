"""What live fingers ask of a model, of whichever kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.methods.neural.sensing.view import HandView


class FingerModel(Protocol):
    """Says the fingers of one frame after another, at 60 frames a second."""

    @property
    def look_back(self) -> int:
        """Frames before the present one that it is shown."""
        ...

    @property
    def look_ahead(self) -> int:
        """Frames after the present one that it is shown: fingers come that much later."""
        ...

    def reset(self, hands: Mapping[str, HandModel]) -> None:
        """Forgets what was, and makes ready for these hands.

        Args:
            hands: By name.
        """
        ...

    def step(
        self,
        views: Mapping[str, HandView],
        before: Mapping[str, Float[np.ndarray, " J"]],
    ) -> Mapping[str, Float[np.ndarray, " J"]]:
        """Joint values of each hand at the present frame, rad.

        Args:
            views: Each hand that is tracked and its object, from ``look_back`` frames before the
                present one to ``look_ahead`` frames after it.
            before: Joint values at the frame before, as they were shown.
        """
        ...
