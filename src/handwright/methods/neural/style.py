"""Styles by chance: a network is shown fingers that are a little more bent or spread than they are.

Each joint is off by the same angle over the whole motion, as if its owner held it so. What the
network makes of that is fitted and corrected as always. Angles that change over time would make
hands tremble and contacts slide, and would be no style.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.methods.neural.sensing.view import HandView

Style = Mapping[str, Float[np.ndarray, " J"]]
"""What is added to the joint values that a network is shown, by hand, rad."""


def drawn_style(
    hands: Mapping[str, HandModel], amount: float, rng: np.random.Generator
) -> dict[str, Float[np.ndarray, " J"]]:
    """Angles by which the fingers that a network is shown are off, by hand, rad.

    Args:
        hands: By name.
        amount: Standard deviation, rad.
        rng: Source of chance.
    """
    return {name: amount * rng.standard_normal(model.num_joints) for name, model in hands.items()}


def shown(
    view: HandView, q: Float[np.ndarray, "*B J"], off: Float[np.ndarray, " J"] | None
) -> Float[np.ndarray, "*B J"]:
    """Postures as a network is shown them, rad.

    Args:
        view: The hand.
        q: Joint values, rad.
        off: Angles of its style, rad; None for no style.
    """
    return q if off is None else view.model.joints.clamp(q + off)
