"""Which capsules have to touch a body so that contact forces move it as it moves.

A network says from what it has seen where a hand touches. Whether that holds the body is a question
of forces, and forces can be asked: those that carry the body are looked for in the friction cones
of all capsules that touch it or could, each the dearer the farther it is off,

    minimise |W f - w|^2 + (price . f)^2,   f >= 0,

with the edges of the cones in W and the load w of the body. Capsules that touch cost nothing; so
others get a force only if those cannot do it alone, and the nearest first. What has a force is
asked to touch, of all hands that hold the body together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.mechanics.nnls import nnls_of
from handwright.methods.neural.fitting.touches import Touches

_EDGES = 4
_MAX_ITERATIONS = 60


@dataclass(frozen=True, slots=True)
class GripSettings:
    """How capsules are asked to touch."""

    touching: float = 2e-3
    """Gap up to which a capsule counts as touching, m."""
    reach: float = 0.02
    """Gap from which on it is not asked, m."""
    price: float = 0.3
    """Of a unit of force at the reach, in units of load that is left."""
    friction_share: float = 0.5
    """Share of the body's friction that forces are looked for with, so that grips have something
    left."""
    loyalty: float = 0.7
    """How much cheaper a capsule is that has been asked already."""
    rise: float = 0.5
    """How fast asking sets in: share of what is missing to it, a frame."""
    fall: float = 0.05
    """How fast it ends while the body is carried."""
    release: float = 0.25
    """How fast it ends once the body is put down."""
    doubt: float = 0.1
    """How much dearer, in prices at the reach, a capsule gets with each frame in which it is asked
    in vain."""
    least_force: float = 1e-3
    """Force up to which a capsule is not needed, weights of the body."""

    def __post_init__(self) -> None:
        shares = (self.friction_share, self.loyalty, self.rise, self.fall, self.release)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise InvalidValueError(f"{self}: expected shares and speeds from 0 to 1.")
        amounts = (self.price, self.doubt, self.least_force)
        if not (0.0 < self.touching < self.reach and min(amounts) >= 0.0):
            raise InvalidValueError(
                f"{self}: expected touching above 0 and below reach, and nothing below 0."
            )


class Grip:
    """What is asked of the capsules of all hands on one body, from frame to frame."""

    __slots__ = ("_doubt", "asked", "settings")

    def __init__(self, count: int, settings: GripSettings) -> None:
        """Nothing is asked yet.

        Args:
            count: Number of capsules.
            settings: How they are asked.
        """
        self.settings = settings
        self.asked = np.zeros(count)
        """How much each capsule is asked to touch, from 0 to 1."""
        self._doubt = np.zeros(count)

    def carry(
        self,
        touches: Touches,
        arm: Float[np.ndarray, "C 3"],
        force: Float[np.ndarray, "3"],
        friction: float,
    ) -> None:
        """Asks for what carries the body.

        Args:
            touches: Of all capsules, in the postures that hands would have without being asked.
            arm: Of their forces, from the body's centre of mass, in units of its size, so that
                moments and forces can be compared.
            force: What hands must give the body, in its frame, in weights.
            friction: Of the body.
        """
        chosen = self.settings
        touching = touches.gap <= chosen.touching
        share = (touches.gap - chosen.touching) / (chosen.reach - chosen.touching)
        prices = chosen.price * (share * (1.0 - chosen.loyalty * self.asked) + self._doubt)
        prices[touching] = 0.0
        prices[~touching & ((share >= 1.0) | ~touches.can_move)] = np.inf
        friction = chosen.friction_share * friction
        given = normal_forces(arm, touches.outward, prices, friction, force)
        self._ask((given > chosen.least_force) & touches.can_move, chosen.fall)
        in_vain = (self.asked > 0.5) & ~touching
        self._doubt = np.where(
            in_vain, self._doubt + chosen.doubt, (1.0 - chosen.fall) * self._doubt
        )

    def put_down(self) -> None:
        """Asks for less and less."""
        self._ask(np.zeros(len(self.asked), dtype=bool), self.settings.release)
        self._doubt *= 1.0 - self.settings.release

    def _ask(self, wanted: np.ndarray, fall: float) -> None:
        speed = np.where(wanted, self.settings.rise, fall)
        self.asked = self.asked + speed * (wanted - self.asked)


@compiled
def normal_forces(
    arm: np.ndarray, outward: np.ndarray, prices: np.ndarray, friction: float, force: np.ndarray
) -> np.ndarray:
    """Normal force that each capsule gives, in weights; see the top of this file.

    Args:
        arm: (C, 3) from the centre of mass to the capsules, in units of the body's size.
        outward: (C, 3) directions out of the body there.
        prices: (C,) of a unit of force; capsules with an infinite price give none.
        friction: Coefficient.
        force: (3,) what hands must give the body, in weights.
    """
    usable = np.flatnonzero(np.isfinite(prices))
    columns, load = np.zeros((7, _EDGES * len(usable))), np.zeros(7)
    load[:3] = force
    for n in range(len(usable)):
        c = usable[n]
        inward = -outward[c] / max(np.sqrt(np.sum(outward[c] ** 2)), 1e-9)
        # The axis that is least along the normal gives a first direction across it.
        axis = np.zeros(3)
        axis[np.argmin(np.abs(inward))] = 1.0
        first = np.cross(inward, axis)
        first /= max(np.sqrt(np.sum(first**2)), 1e-9)
        second = np.cross(inward, first)
        for edge in range(_EDGES):
            side = first if edge < 2 else second
            along = inward + (friction if edge % 2 == 0 else -friction) * side
            k = _EDGES * n + edge
            columns[:3, k] = along
            columns[3:6, k] = np.cross(arm[c], along)
            columns[6, k] = prices[c]
    # Where this does not settle, what it has come to is still a force for the load.
    levels, _ = nnls_of(columns, load, _MAX_ITERATIONS)
    given = np.zeros(len(prices))
    for n in range(len(usable)):
        given[usable[n]] = np.sum(levels[_EDGES * n : _EDGES * (n + 1)])
    return given
