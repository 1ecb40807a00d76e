"""Which capsules have to touch a body so that contact forces move it as it moves.

A network says from what it has seen where a hand touches. Whether that holds the body is a question
of forces, and forces can be asked: those that carry the body are looked for in the friction cones
of all capsules that touch it or could, each the dearer the farther it is off,

    minimise |W f - w|^2 + sum_k (price_k f_k)^2,   f >= 0,

with the edges of the cones in W and the load w of the body. Capsules that touch cost little, and
share the load; others get a force that counts only if those cannot do it alone, and the nearest
first. What has a force is asked to touch, of all hands that hold the body together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.methods.neural.fitting.touches import Touches

_EDGES = 4
_MAX_ITERATIONS, _MAX_HALVINGS = 60, 30
_ROUNDING = 1e-18


@dataclass(frozen=True, slots=True)
class GripSettings:
    """How capsules are asked to touch."""

    touching: float = 2e-3
    """Gap up to which a capsule counts as touching, m."""
    reach: float = 0.02
    """Gap from which on it is not asked, m."""
    shared: float = 0.03
    """Price of a unit of force of a capsule that touches, in units of load that is left."""
    asking: float = 0.2
    """Price of one that does not, however near it is."""
    price: float = 0.5
    """How much dearer that is at the reach."""
    friction_share: float = 0.75
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
    """How much dearer, in units of ``price``, a capsule gets with each frame in which it is asked
    in vain."""
    least_force: float = 0.02
    """Force up to which a capsule is not needed, weights of the body."""
    full_force: float = 0.06
    """Force from which on it is asked for sure; between the two asking fades."""

    def __post_init__(self) -> None:
        shares = (self.friction_share, self.loyalty, self.rise, self.fall, self.release)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise InvalidValueError(f"{self}: expected shares and speeds from 0 to 1.")
        amounts = (self.price, self.doubt, self.least_force)
        if not (0.0 < self.touching < self.reach and min(amounts) >= 0.0):
            raise InvalidValueError(
                f"{self}: expected touching above 0 and below reach, and nothing below 0."
            )
        if not (0.0 < self.shared <= self.asking and self.least_force < self.full_force):
            raise InvalidValueError(
                f"{self}: expected shared above 0 and no larger than asking, and least_force below "
                "full_force."
            )


class Grip:
    """What is asked of the capsules of one hand on a body, from frame to frame."""

    __slots__ = ("_doubt", "asked", "settings")

    def __init__(self, count: int, settings: GripSettings) -> None:
        """Nothing is asked yet.

        Args:
            count: Number of capsules.
            settings: How grips are looked for.
        """
        self.settings = settings
        self.asked = np.zeros(count)
        """How much each capsule is asked to touch, from 0 to 1."""
        self._doubt = np.zeros(count)

    def prices(self, touches: Touches) -> Float[np.ndarray, " C"]:
        """Of a unit of force of each capsule; infinite for those that cannot give any.

        Args:
            touches: Of the capsules, in the postures that the network wants.
        """
        chosen = self.settings
        share = (touches.gap - chosen.touching) / (chosen.reach - chosen.touching)
        touching = share <= 0.0
        prices = chosen.price * (share * (1.0 - chosen.loyalty * self.asked) + self._doubt)
        prices = np.where(touching, chosen.shared, chosen.asking + prices)
        prices[~touching & ((share >= 1.0) | ~touches.can_move)] = np.inf
        return prices

    def carry(self, touches: Touches, given: Float[np.ndarray, " C"]) -> None:
        """Asks those that carry a body to touch it.

        Args:
            touches: As of ``prices``.
            given: Normal force of each capsule, in weights of the body.
        """
        chosen = self.settings
        wanted = (given - chosen.least_force) / (chosen.full_force - chosen.least_force)
        self._ask(np.clip(wanted, 0.0, 1.0) * touches.can_move, chosen.fall)
        in_vain = (self.asked > 0.5) & (touches.gap > chosen.touching)
        self._doubt = np.where(
            in_vain, self._doubt + chosen.doubt, (1.0 - chosen.fall) * self._doubt
        )

    def put_down(self) -> None:
        """Asks for less and less."""
        self._ask(np.zeros(len(self.asked)), self.settings.release)
        self._doubt *= 1.0 - self.settings.release

    def _ask(self, wanted: Float[np.ndarray, " C"], fall: float) -> None:
        speed = np.where(wanted > self.asked, self.settings.rise, fall)
        self.asked = self.asked + speed * (wanted - self.asked)


@compiled
def normal_forces(
    arm: np.ndarray, outward: np.ndarray, prices: np.ndarray, friction: float, force: np.ndarray
) -> tuple[np.ndarray, float]:
    """Normal force that each capsule gives, and what is not carried, in weights; see above.

    Since forces have a price some of the load is always left, and more where they must be large: of
    a pinch that friction barely allows, a tenth.

    Args:
        arm: (C, 3) from the centre of mass to the capsules, in units of the body's size.
        outward: (C, 3) directions out of the body there.
        prices: (C,) of a unit of force, above 0; capsules with an infinite price give none.
        friction: Coefficient.
        force: (3,) what hands must give the body, in weights.
    """
    usable = np.flatnonzero(np.isfinite(prices))
    edges, load = np.zeros((_EDGES * len(usable), 6)), np.zeros(6)
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
            # In units in which every edge has the price 1.
            edges[_EDGES * n + edge, :3] = along / prices[c]
            edges[_EDGES * n + edge, 3:] = np.cross(arm[c], along) / prices[c]
    missing = _missing(edges, load)
    given = np.zeros(len(prices))
    for k in range(len(edges)):
        c = usable[k // _EDGES]
        given[c] += max(np.sum(edges[k] * missing), 0.0) / prices[c]
    return given, np.sqrt(np.sum(missing**2))


@compiled
def _missing(edges: np.ndarray, load: np.ndarray) -> np.ndarray:
    """What of a load is not carried where |W f - w|^2 + |f|^2 over f >= 0 is least.

    Each force is what is missing along its edge, if that is above 0, so that what is missing is the
    root of a function of six numbers, which is the gradient of a convex one.
    """
    found = np.zeros(6)
    cost, slope, bend = _dual(edges, load, found)
    for _ in range(_MAX_ITERATIONS):
        if np.sum(slope**2) < _ROUNDING * np.sum(load**2):
            break
        step = np.linalg.solve(bend, slope)
        way = 1.0
        for _ in range(_MAX_HALVINGS):
            trial = found - way * step
            trial_cost, trial_slope, trial_bend = _dual(edges, load, trial)
            if trial_cost <= cost - 0.25 * way * np.sum(step * slope):
                found, cost, slope, bend = trial, trial_cost, trial_slope, trial_bend
                break
            way *= 0.5
        else:
            # Rounding is all that is left.
            break
    return found


@compiled
def _dual(
    edges: np.ndarray, load: np.ndarray, missing: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and Hessian of |m|^2 / 2 + sum max(edge . m, 0)^2 / 2 - load . m."""
    cost = 0.5 * np.sum(missing**2) - np.sum(load * missing)
    slope, bend = missing - load, np.eye(6)
    for k in range(len(edges)):
        force = np.sum(edges[k] * missing)
        if force > 0.0:
            cost += 0.5 * force**2
            for i in range(6):
                slope[i] += force * edges[k, i]
                for j in range(6):
                    bend[i, j] += edges[k, i] * edges[k, j]
    return cost, slope, bend
