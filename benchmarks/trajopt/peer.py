"""Contact-invariant optimisation against the paper's own solver on the same cost.

The paper minimises by L-BFGS-B with gradients by finite differences. So does the peer here: that of
scipy, forward differences, the same compiled costs, weights, bounds and noisy static start. As in
the paper, a variable is tried only where it acts: one of a key state reaches the samples of the two
phases beside it, and no others are evaluated. Variables are counted in their natural sizes and the
step is smaller than the paper's: the peer comes further with both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.kernels.packed import Packed
from handwright.methods import ContactInvariant
from handwright.methods.trajopt.model.model import Model, ResidualWeights, Samples
from handwright.methods.trajopt.model.workspace import NormalEquations
from handwright.methods.trajopt.schedule.search import CONTINUATION
from handwright.methods.trajopt.schedule.stage_weights import (
    LOOSE,
    regularization_weights,
    stage_weights,
)
from handwright.methods.trajopt.schedule.start import static_start
from handwright.methods.trajopt.solver.descent import Descent
from handwright.methods.trajopt.solver.system import motion_cost
from handwright.methods.trajopt.terms.regularization import (
    RegularizationWeights,
    phase_matrices,
    regularization_cost,
)

EPSILON = 1e-6
"""Step of the differences, in natural sizes of the variables."""
_REPEATS = 3


class TrajoptPeer(NamedTuple):
    """Times to the same cost."""

    keys: int
    variables: int
    ms_per_iteration: float
    """Of ours, in its stages before rounding; mean of the fastest of some repeats."""
    peer_ms_per_gradient: float
    start_cost: float
    cost: float
    """The lowest that both came to; times are to this."""
    ours_s: float
    peer_s: float
    ratio: float
    ours_end: float
    """Cost of ours after its iterations."""
    peer_end: float
    """Cost of the peer after its time."""
    peer_reached: bool
    """Whether the peer came as low as ours did in the end."""
    ratio_to_end: float
    """Ratio of the times to the cost that ours ends at; a lower bound if the peer did not."""
    peer_ran_s: float
    """For so long the peer ran; it may give up before its time."""


class LbfgsRun(NamedTuple):
    """How L-BFGS-B went."""

    falls: list[tuple[float, float]]
    """Times, s, at which the lowest cost so far was met, with that cost."""
    gradients: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LocalCost:
    """Cost of a motion, whole and near single keys; for motions that are not cyclic."""

    whole: Packed
    near: tuple[Packed, ...]
    """For each key, the model with no samples but those of the phases beside it."""
    weights: Packed
    regularization: Packed
    work: Packed
    matrices: tuple[np.ndarray, ...]
    unused: NormalEquations

    @staticmethod
    def of(
        descent: Descent, stage: ResidualWeights, regularization: RegularizationWeights
    ) -> LocalCost:
        """The cost that a descent goes down."""
        m = descent.model
        if m.is_cyclic:
            raise InvalidValueError(
                "The peer was given a cyclic motion; expected one with a start and an end."
            )
        if regularization.rate.any():
            raise InvalidValueError(
                "The peer was given costs of rates by phase; expected those before contacts are "
                "known, which have none."
            )
        return LocalCost(
            Packed(m),
            tuple(Packed(_beside(m, k)) for k in range(m.num_keys)),
            Packed(stage),
            Packed(regularization),
            Packed(descent.work),
            phase_matrices(m.phase_time),
            descent.equations,
        )

    def total(self, keys: Float[np.ndarray, "K n"]) -> float:
        """Of the whole motion."""
        regularization = regularization_cost(
            self.whole, self.regularization, keys, self.matrices, self.unused, False
        )
        return float(regularization + motion_cost(self.whole, self.weights, keys, self.work))

    def around(self, k: int, keys: Float[np.ndarray, "K n"]) -> float:
        """All that changes with key ``k``, and something that does not."""
        few = keys[max(k - 1, 0) : k + 2]
        regularization = regularization_cost(
            self.whole, self.regularization, few, self.matrices, self.unused, False
        )
        return float(regularization + motion_cost(self.near[k], self.weights, keys, self.work))

    def gradient(
        self, keys: Float[np.ndarray, "K n"], steps: Float[np.ndarray, "K n"]
    ) -> Float[np.ndarray, "K n"]:
        """Forward differences; 0 for variables whose step is 0."""
        keys, gradient = keys.copy(), np.zeros_like(keys)
        for k in range(len(keys)):
            before = self.around(k, keys)
            for i in np.flatnonzero(steps[k]):
                kept = keys[k, i]
                keys[k, i] = kept + steps[k, i]
                gradient[k, i] = (self.around(k, keys) - before) / steps[k, i]
                keys[k, i] = kept
        return gradient


def _beside(m: Model, k: int) -> Model:
    mine = (m.samples.phase == k - 1) | (m.samples.phase == k)
    return m._replace(samples=Samples(*(column[mine] for column in m.samples)))


class _TimeIsUpError(Exception):
    """Leaves scipy's loop."""


def descend_by_lbfgs(
    cost: LocalCost, descent: Descent, *, allowed_s: float, epsilon: float = EPSILON
) -> LbfgsRun:
    """L-BFGS-B from the keys of a descent.

    Args:
        cost: What to lower.
        descent: Keys, bounds and natural sizes.
        allowed_s: Time of one processor after which it is stopped, s.
        epsilon: See ``EPSILON``.
    """
    from scipy.optimize import Bounds, minimize

    contacts = descent.model.layout.contacts
    low, high = np.full(descent.keys.shape, -np.inf), np.full(descent.keys.shape, np.inf)
    low[:, contacts], high[:, contacts] = descent.floor, 1.0
    free = ~descent.fixed
    scale = np.broadcast_to(descent.scale, descent.keys.shape)
    steps = np.where(free, epsilon * scale, 0.0)
    keys, count = descent.keys.copy(), 0
    falls: list[tuple[float, float]] = []
    begin = time.process_time()

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal count
        keys[free] = x * scale[free]
        value = cost.total(keys)
        passed = time.process_time() - begin
        if not falls or value < falls[-1][1]:
            falls.append((passed, value))
        if passed > allowed_s:
            raise _TimeIsUpError
        count += 1
        return value, cost.gradient(keys, steps)[free] * scale[free]

    with suppress(_TimeIsUpError):
        minimize(
            evaluate,
            descent.keys[free] / scale[free],
            method="L-BFGS-B",
            jac=True,
            bounds=Bounds(low[free] / scale[free], high[free] / scale[free]),
            options={"maxiter": 10**6, "maxfun": 10**6, "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        )
    return LbfgsRun(falls, count, time.process_time() - begin)


def measure_peer(problem: Problem, *, seed: int, allowed_s: float) -> TrajoptPeer:
    """Times both from the same start.

    Args:
        problem: Goals for a motion that is not cyclic.
        seed: Of the noise of the start.
        allowed_s: For the peer, s.
    """
    method = ContactInvariant()
    coarse = method.ready(problem)[0]

    def stage_of(laws: float) -> ResidualWeights:
        friction, squeeze = method.friction_margin, method.squeeze
        return stage_weights(LOOSE, laws=laws, is_frozen=False, friction=friction, squeeze=squeeze)

    stage, regularization = stage_of(1.0), regularization_weights(coarse)

    def fresh() -> Descent:
        return static_start(coarse, np.random.default_rng(seed), coarse.allowed)

    def continuation() -> tuple[int, float]:
        """Iterations of the stages before rounding, and the time of all, s."""
        descent, begin = fresh(), time.process_time()
        for laws in CONTINUATION:
            descent.run(stage_of(laws), regularization, method.attempt_settings.stage_iterations)
        return descent.iterations, time.process_time() - begin

    def descend(num_iterations: int) -> tuple[Descent, float, float]:
        """Ours after so many iterations, its cost, and the time, s."""
        descent, begin = fresh(), time.process_time()
        end = descent.run(stage, regularization, num_iterations, gain=0.0)
        return descent, end, time.process_time() - begin

    with threadpool_limits(limits=1, user_api="blas"):
        continuation()
        per_iteration = min(
            taken / made for made, taken in (continuation() for _ in range(_REPEATS))
        )
        most = method.attempt_settings.stage_iterations
        done, ours_end, _ = descend(most)
        whole_s = min(descend(most)[2] for _ in range(_REPEATS))
        descent = fresh()
        cost = LocalCost.of(descent, stage, regularization)
        start = cost.total(descent.keys)
        peer = descend_by_lbfgs(cost, descent, allowed_s=allowed_s)
        peer_end = peer.falls[-1][1]
        common = max(ours_end, peer_end)
        least = _least_count(lambda count: descend(count)[1] <= common, done.iterations)
        ours_s = min(descend(least)[2] for _ in range(_REPEATS))
    peer_s = next(passed for passed, value in peer.falls if value <= common)
    has_reached = peer_end <= ours_end
    return TrajoptPeer(
        keys=coarse.model.num_keys,
        variables=int(np.sum(~descent.fixed)),
        ms_per_iteration=1e3 * per_iteration,
        peer_ms_per_gradient=1e3 * peer.seconds / max(peer.gradients, 1),
        start_cost=start,
        cost=common,
        ours_s=ours_s,
        peer_s=peer_s,
        ratio=peer_s / ours_s,
        ours_end=ours_end,
        peer_end=peer_end,
        peer_reached=has_reached,
        ratio_to_end=(peer_s if has_reached else peer.seconds) / whole_s,
        peer_ran_s=peer.seconds,
    )


def _least_count(is_enough: Callable[[int], bool], most: int) -> int:
    """The least number of iterations that is enough, given that ``most`` is."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
