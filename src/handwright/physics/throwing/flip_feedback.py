"""Throws that turn a thing end over end, corrected by how it lies in the hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.physics.throwing.flips import SCALES, Flip, flip_index
from handwright.physics.throwing.machine import Machine

# Constants that are corrected, and for each the correction of the usual lie and what each of the
# five numbers of a lie adds, as shares of the constant's scale.
_CORRECTED = ("aside", "ahead", "up", "roll_by", "roll_rate", "pitch", "yaw", "opening", "stroke")
_CORRECTIONS = (
    (0.026, 0.063, -0.028, -0.004, -0.044, -0.012),
    (-0.040, 0.104, 0.090, 0.065, 0.088, 0.073),
    (-0.002, 0.160, -0.044, -0.104, -0.084, -0.042),
    (0.073, 0.148, -0.046, 0.036, 0.204, 0.154),
    (0.108, -0.089, -0.090, -0.179, -0.407, -0.393),
    (0.022, 0.065, 0.012, 0.074, 0.317, 0.219),
    (0.052, -0.197, 0.135, -0.067, 0.220, -0.135),
    (-0.041, -0.082, 0.061, 0.029, -0.030, -0.036),
    (-0.030, 0.059, -0.007, 0.044, 0.040, 0.101),
)


def lie(machine: Machine) -> Float[np.ndarray, "5"]:
    """How a long thing lies in a hand.

    Args:
        machine: That holds it.

    Returns:
        Where its centre is from its seat (ahead, to the arm's own side, towards the back of the
        hand, m), and how far the end at the thumb leans ahead and towards the back of the hand,
        as parts of the axis' unit vector.
    """
    side = machine.arm.across
    palm = machine.simulation.palm(machine.hand)
    axis = rotation.rotate(rotation.conjugate(palm.wxyz), machine.axis)
    axis = axis if side * axis[1] >= 0.0 else -axis
    ahead, aside, back = machine.off_seat
    return np.array([ahead, side * aside, back, axis[0], axis[2]])


@dataclass(frozen=True, slots=True)
class FlipFeedback:
    """A linear answer to lies; its defaults are for the flip whose constants are the defaults.

    Least squares over random throws gave how velocity and spin at release depend on lie and
    constants; the corrections bring both back to what they usually are.
    """

    usual: tuple[float, ...] = (2.5e-3, 8.5e-3, -16e-3, 0.15, -0.02)
    """The lie that it is linear about, as ``lie`` has it."""
    spread: tuple[float, ...] = (4e-3, 2e-3, 3e-3, 0.1, 0.05)
    """By how much lies differ."""
    furthest: float = 2.5
    """Lies further off than so many spreads are answered as if they were that far."""
    most: float = 1.2
    """Largest correction of a constant, in its scale."""
    corrections: tuple[tuple[float, ...], ...] = _CORRECTIONS
    """For each corrected constant what is added at the usual lie and per spread, in its scale."""

    def corrected(self, flip: Flip, found: Float[np.ndarray, "5"]) -> Flip:
        """The flip for a lie.

        Args:
            flip: For any lie.
            found: How the thing lies.
        """
        off = (found - np.array(self.usual)) / np.array(self.spread)
        off = np.clip(off, -self.furthest, self.furthest)
        table = np.array(self.corrections)
        vector = flip.vector
        rows = flip_index(_CORRECTED)
        share = np.clip(table[:, 0] + table[:, 1:] @ off, -self.most, self.most)
        vector[rows] += share * SCALES[rows]
        return Flip.of(vector)
