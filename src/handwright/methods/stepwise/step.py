"""One frame: velocities of hands and bodies and contact forces, by one quadratic program."""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.body_turns import middle_turn
from handwright.methods.stepwise.cost_to_go import Errors, Quadratic, cost_to_go
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.touches import Touch, TouchRows
from handwright.methods.stepwise.world import BodyState, HandState, World

# Limits give way all together, by kind, where they must: a frame can then always be solved. The
# price of a slack, s^2/m^2, is far above all others.
_NUM_SLACKS, _SLACK_PRICE = 3, 1e9
# Flags of the solver for a solution.
_SOLVED = (1, 2)
# Added to the diagonal, which is 1, where rounding keeps the solver from a solution.
_RIDGES = (0.0, 1e-8, 1e-5)
# Torques of joints count as limited from this share of their strength on, once any is over it.
_STRAINED, _NO_TORQUE = 0.5, 1e-6


class InfeasibleStepError(Exception):
    """The solver did not solve a frame; ``flag`` is what it said."""

    def __init__(self, flag: int) -> None:
        super().__init__(f"solver flag {flag}")
        self.flag = flag


class Rows(NamedTuple):
    """Objectives on velocities: rows with errors and prices."""

    matrix: Float[np.ndarray, "M N"]
    error: Float[np.ndarray, " M"]
    """Now, in the unit of what the rows are the velocity of."""
    price: Float[np.ndarray, " M"]
    wish: Float[np.ndarray, " M"]
    """Velocity that is wished for."""


class Limits(NamedTuple):
    """What velocities may not do: ``matrix @ v >= low``."""

    matrix: Float[np.ndarray, "M N"]
    low: Float[np.ndarray, " M"]
    kind: np.ndarray
    """(M,) which of the slacks gives way if it must: 0 for hands, 1 for bodies, 2 for slip."""


class ForceWish(NamedTuple):
    """A sum of contact forces that is wished for (eq. 8, and responses of muscles)."""

    touches: np.ndarray
    """(K,) whether a contact counts."""
    total: Float[np.ndarray, "3"]
    """N, on the body."""
    price: float
    """1/N^2."""


class Solved(NamedTuple):
    """What a frame's problem gave."""

    velocity: Float[np.ndarray, " N"]
    force: Float[np.ndarray, "K 3"]
    """On the bodies, N."""
    torque: Float[np.ndarray, " H"]
    """Without what carries the hands' own weight, N m."""
    cost: float
    """Of the frame, up to what does not depend on it."""
    flag: int
    """Of the solver: 1 solved, 2 with a limit that had to give way."""


class Mechanics(NamedTuple):
    """The equations of motion of a frame."""

    mass: Float[np.ndarray, "H H"]
    """Of all hands."""
    bias: Float[np.ndarray, " H"]
    """Velocity forces of hands, N m."""
    inertia: Float[np.ndarray, "B B"]
    """Mass matrix of all bodies, kg and the like."""
    inverse: Float[np.ndarray, "B B"]
    """Its inverse; zero for bodies whose motion is known."""
    free: Float[np.ndarray, " B"]
    """Velocities of bodies after the frame if nothing touched them."""


def mechanics(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
    external: Float[np.ndarray, "B 6"],
    step: float,
) -> Mechanics:
    """Mass matrices and free motion.

    Args:
        world: What does not change.
        hands: Now.
        bodies: Now.
        external: Force and moment about the centre of mass on every body, gravity left out.
        step: s.
    """
    count = world.num_hand_velocities
    mass, bias = np.zeros((count, count)), np.zeros(count)
    for hand, state in zip(world.hands, hands, strict=True):
        own = hand.slice
        mass[own, own], bias[own] = hand.dynamics.at(
            state.q, state.velocity, state.place, state.wxyz
        )
    inertia, inverse = np.zeros((2, 6 * len(bodies), 6 * len(bodies)))
    free = np.zeros(6 * len(bodies))
    for n, (body, now) in enumerate(zip(world.bodies, bodies, strict=True)):
        middle = middle_turn(now.wxyz, now.rate, step)
        at = 6 * n
        inertia[at : at + 3, at : at + 3] = np.eye(3) * body.body.mass
        turned = middle @ body.body.inertia @ middle.T
        inertia[at + 3 : at + 6, at + 3 : at + 6] = turned
        turned = middle @ body.inverse @ middle.T
        inverse[at : at + 3, at : at + 3] = np.eye(3) / body.body.mass
        inverse[at + 3 : at + 6, at + 3 : at + 6] = turned
        force = external[n, :3] / body.body.mass + world.gravity
        free[at : at + 3] = now.velocity + step * force
        free[at + 3 : at + 6] = turned @ (now.spin + step * external[n, 3:])
    return Mechanics(mass, bias, inertia, inverse, free)


def solve_step(
    world: World,
    laws: Mechanics,
    touches: list[Touch],
    rows: TouchRows,
    *,
    before: Float[np.ndarray, " N"],
    torque: Float[np.ndarray, " H"],
    goals: Rows,
    posture: Rows,
    forces: list[ForceWish],
    limits: Limits,
    bounds: tuple[Float[np.ndarray, " H"], Float[np.ndarray, " H"]],
    strength: tuple[Float[np.ndarray, " H"], Float[np.ndarray, " H"]],
    weights: Settings,
    torque_price: float,
    lean: float,
    step: float,
) -> Solved:
    """Velocities and forces of a frame.

    Args:
        world: What does not change.
        laws: Equations of motion.
        touches: Contacts.
        rows: The same as arrays.
        before: Velocities now.
        torque: Of the last frame.
        goals: Kinematic objectives.
        posture: Objectives on postures.
        forces: Objectives on sums of forces.
        limits: What may not meet.
        bounds: Lowest and highest velocities of hands.
        strength: Lowest and highest torques that contacts may ask of hands, N m.
        weights: Prices.
        torque_price: In place of that in ``weights``.
        lean: Price of forces that no hand gives, 1/N^2.
        step: s.
    """
    nh, n = world.num_hand_velocities, world.num_velocities
    nl = len(rows.edges)
    # Forces on bodies and on hands by coefficient: transposed velocities.
    push = np.einsum("kin,ki->nk", -rows.relative[rows.owner], rows.edges)
    to_body, to_hand = push[nh:], push[:nh]
    stiffness, errors = _stiffness(touches, rows, goals, posture, weights, n, step)
    effort = _effort(laws, rows, world, touches, torque_price / step**2)
    value = _value(world, touches, stiffness, effort, errors, before, step)
    # All velocities from coefficients and velocities of hands.
    spread = np.zeros((n, nl + nh))
    spread[:nh, nl:] = np.eye(nh)
    spread[nh:, :nl] = step * laws.inverse @ to_body
    fixed = np.concatenate([np.zeros(nh), laws.free])
    # The hand gets the opposite of what the body gets: its torques must make up for it.
    change = np.concatenate([-to_hand, laws.mass / step], axis=1)
    start = laws.bias - laws.mass @ before[:nh] / step - torque
    price = np.concatenate([np.zeros(0), *(hand.weights for hand in world.hands)])
    price *= torque_price / step**2
    hessian = spread.T @ value.hessian @ spread + change.T @ (price[:, None] * change)
    gradient = spread.T @ (value.hessian @ fixed + value.gradient) + change.T @ (price * start)
    price_of_force = np.array([lean if t.hand < 0 else weights.force for t in touches])
    diagonal = np.concatenate([price_of_force[rows.owner], np.full(nh, weights.speed)])
    hessian[np.diag_indices(nl + nh)] += diagonal
    for wish in forces:
        counted = rows.edges.T * wish.touches[rows.owner]
        hessian[:nl, :nl] += wish.price * counted.T @ counted
        gradient[:nl] -= wish.price * counted.T @ wish.total
    caps = np.array([0.0 if touch.is_parted else touch.cap for touch in touches])
    capped = np.flatnonzero((caps > 0.0) & np.isfinite(caps))
    # Every edge has a unit along the normal.
    sums = rows.owner == capped[:, None]
    most = np.where(caps[rows.owner] > 0.0, np.inf, 0.0)
    size, num_caps, num_limits = nl + nh, len(capped), len(limits.low)
    matrix = np.zeros((num_caps + num_limits, size + _NUM_SLACKS))
    matrix[:num_caps, :nl] = sums
    matrix[num_caps:, :size] = limits.matrix @ spread
    matrix[np.arange(num_caps, num_caps + num_limits), size + limits.kind] = 1.0
    low = limits.low - limits.matrix @ fixed
    lower = np.concatenate([np.zeros(nl), bounds[0], np.zeros(_NUM_SLACKS + num_caps), low])
    endless = np.full(_NUM_SLACKS, np.inf)
    upper = np.concatenate([most, bounds[1], endless, caps[capped], np.full(num_limits, np.inf)])
    whole = np.zeros((size + _NUM_SLACKS,) * 2)
    whole[:size, :size] = hessian
    whole[np.arange(size, size + _NUM_SLACKS), np.arange(size, size + _NUM_SLACKS)] = _SLACK_PRICE
    scale = 1.0 / np.sqrt(whole.diagonal())
    bound = size + _NUM_SLACKS
    lower[:bound] /= scale
    upper[:bound] /= scale
    scaled = whole * np.outer(scale, scale)
    slope = np.concatenate([gradient, np.zeros(_NUM_SLACKS)]) * scale
    found, cost, flag = _solve(scaled, slope, matrix * scale, upper, lower)
    asked = -to_hand @ (found * scale)[:nl]
    if ((asked < strength[0] - _NO_TORQUE) | (asked > strength[1] + _NO_TORQUE)).any():
        # Forces that are none ask nothing, so these limits can always be met.
        strained = np.flatnonzero(
            (asked < _STRAINED * strength[0]) | (asked > _STRAINED * strength[1])
        )
        torques = np.zeros((len(strained), bound))
        torques[:, :nl] = -to_hand[strained]
        found, cost, flag = _solve(
            scaled,
            slope,
            np.concatenate([matrix, torques]) * scale,
            np.concatenate([upper, strength[1][strained]]),
            np.concatenate([lower, strength[0][strained]]),
        )
    found = (found * scale)[:size]
    force = np.zeros((len(touches), 3))
    np.add.at(force, rows.owner, found[:nl, None] * rows.edges)
    return Solved(spread @ found + fixed, force, change @ found + start + torque, cost, flag)


def _solve(
    hessian: np.ndarray, slope: np.ndarray, matrix: np.ndarray, upper: np.ndarray, lower: np.ndarray
) -> tuple[np.ndarray, float, int]:
    """Solution, cost and flag of a scaled program."""
    for ridge in _RIDGES:
        hessian[np.diag_indices(len(slope))] += ridge
        found, cost, flag, _ = daqp.solve(hessian, slope, matrix, upper, lower)
        if flag in _SOLVED and np.isfinite(found).all():
            return found, cost, flag
    raise InfeasibleStepError(flag)


def _stiffness(
    touches: list[Touch],
    rows: TouchRows,
    goals: Rows,
    posture: Rows,
    weights: Settings,
    n: int,
    step: float,
) -> tuple[np.ndarray, Errors]:
    """Cost of positions, and the gradients that errors and wishes give."""
    kept, off, price = [], [], []
    for k, touch in enumerate(touches):
        if touch.is_surrounding:
            continue
        normal = rows.normal[k]
        squash = np.eye(3)
        if touch.mode == touch.mode.SLIDING:
            along = np.outer(normal, normal)
            squash = along + (0.0 if touch.is_let_go else weights.sliding) * (squash - along)
        kept.append(squash @ rows.relative[k])
        off.append(squash @ (rows.offset[k] + step * rows.curve[k]))
        price.append(np.full(3, weights.keep))
    matrix = np.concatenate([*kept, goals.matrix, posture.matrix])
    error = np.concatenate([*off, goals.error, posture.error])
    prices = np.concatenate([*price, goals.price, posture.price])
    wish = np.concatenate([np.zeros(3 * len(kept)), goals.wish, posture.wish])
    priced = prices[:, None] * matrix
    stiffness = matrix.T @ priced
    stiffness[np.diag_indices(n)] += 1e-3
    return stiffness, Errors(priced.T @ error, priced.T @ wish)


# Added to the inertia of every joint in the price of accelerations, kg m^2; like a rotor's.
_ROTOR = 3e-3


def _effort(
    laws: Mechanics, rows: TouchRows, world: World, touches: list[Touch], price: float
) -> np.ndarray:
    """Cost of changes of acceleration: the changes of torque that they take.

    Contact forces are chosen so that bodies accelerate as asked and torques change least.
    """
    nh, n = world.num_hand_velocities, world.num_velocities
    held = [k for k, touch in enumerate(touches) if touch.hand >= 0]
    count = 3 * len(held)
    own = rows.relative[held].reshape(count, n)
    to_hand, to_body = own[:, :nh], -own[:, nh:]
    size = count + n - nh
    system = np.zeros((size, size))
    system[:count, :count] = to_hand @ to_hand.T
    system[np.diag_indices(count)] += 1e-6
    system[:count, count:] = to_body
    system[count:, :count] = to_body.T
    # Bodies that nobody holds accelerate for nothing.
    system[range(count, size), range(count, size)] -= 1e-9
    wanted = np.zeros((size, n))
    wanted[:count, :nh] = -to_hand @ laws.mass
    wanted[count:, nh:] = laws.inertia
    force = np.linalg.solve(system, wanted)[:count]
    torque = to_hand.T @ force
    torque[:, :nh] += laws.mass
    effort = torque.T @ torque
    effort[np.diag_indices(n)] += _ROTOR**2
    return price * effort


def _value(
    world: World,
    touches: list[Touch],
    stiffness: np.ndarray,
    effort: np.ndarray,
    errors: Errors,
    before: np.ndarray,
    step: float,
) -> Quadratic:
    """The cost to go of all groups of hands and bodies that hold each other, each for itself."""
    n = world.num_velocities
    hessian, gradient = np.zeros((n, n)), np.zeros(n)
    for own in _groups(world, touches):
        block = np.ix_(own, own)
        part = cost_to_go(
            stiffness[block],
            effort[block],
            Errors(errors.position[own], errors.velocity[own]),
            before[own],
            step,
        )
        hessian[block], gradient[own] = part
    return Quadratic(hessian, gradient)


def _groups(world: World, touches: list[Touch]) -> list[np.ndarray]:
    """Velocities of hands and bodies that are joined by contacts of hands."""
    count = len(world.hands)
    group = list(range(count + len(world.bodies)))
    for touch in touches:
        if touch.hand >= 0:
            one, two = group[touch.hand], group[count + touch.body]
            group = [one if g == two else g for g in group]
    slices = [part.slice for part in world.hands] + [part.slice for part in world.bodies]
    return [
        np.concatenate(
            [
                np.arange(own.start, own.stop)
                for own, g in zip(slices, group, strict=True)
                if g == one
            ]
        )
        for one in sorted(set(group))
    ]
