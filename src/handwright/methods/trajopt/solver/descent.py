"""Levenberg-Marquardt on the key states of a motion, with bounds on contact variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.workspace import NormalEquations, SampleWorkspace
from handwright.methods.trajopt.solver.block_solve import NotPositiveError, solve_blocks
from handwright.methods.trajopt.solver.system import motion_cost, motion_system
from handwright.methods.trajopt.terms.regularization import (
    RegularizationWeights,
    phase_matrices,
    regularization_cost,
)
from handwright.methods.trajopt.terms.time import LEAST_STRETCH, MOST_STRETCH

# Factors on the damping after a step that lowers the cost, and after one that does not.
_DAMPING_DECREASE, _DAMPING_INCREASE = 0.2, 4.0
_MIN_DAMPING, _MAX_DAMPING = 1e-9, 1e11
_FIRST_DAMPING = 1e-2
# Largest change of a contact variable, of an origin (m) and of a coordinate (rad or m) in one step.
_CONTACT_STEP, _ORIGIN_STEP, _COORDINATE_STEP = 0.05, 0.03, 0.4
# Largest change of the length of a phase in one step, relative to that with unshifted keys.
_STRETCH_STEP = 0.2


class _Reduced(NamedTuple):
    """Normal equations of some of the variables of every key."""

    free: list[np.ndarray]
    diagonal: list[np.ndarray]
    below: list[np.ndarray]
    right: list[np.ndarray]


def never() -> bool:
    """Says that the time is not up."""
    return False


@dataclass(slots=True)
class Descent:
    """A motion under optimisation: its model, its key states, and which of them may change."""

    model: Model
    work: SampleWorkspace
    keys: Float[np.ndarray, "K n"]
    fixed: Bool[np.ndarray, "K n"]
    """Variables that keep their values, besides those that a stage freezes."""
    floor: Float[np.ndarray, "K N"]
    """Lower bounds of contact variables."""
    equations: NormalEquations
    """Space for the normal equations."""
    scale: Float[np.ndarray, " n"]
    """Typical size of every variable; damping is relative to it."""
    iterations: int = 0
    """Number of iterations so far, in all stages."""
    is_over: Callable[[], bool] = never
    """Whether the time is up; steps end then."""

    def run(
        self,
        weights: ResidualWeights,
        regularization: RegularizationWeights,
        num_iterations: int,
        gain: float = 1e-4,
    ) -> float:
        """Descends until the cost falls by less than ``gain`` of itself three times running.

        Args:
            weights: Weights of the residuals.
            regularization: Weights of the quadratic terms.
            num_iterations: Largest number of iterations.
            gain: Relative gain below which an iteration counts as slow.

        Returns:
            The cost of the motion in the end.
        """
        packed = Packed(self.model), Packed(weights), Packed(self.work), Packed(regularization)
        matrices = phase_matrices(self.model.phase_time)
        damping, slow = _FIRST_DAMPING, 0
        cost = self._cost(packed, matrices, self.keys)
        for _ in range(num_iterations):
            if self.is_over():
                break
            self.iterations += 1
            self._assemble(packed, matrices)
            reduced = self._reduced(self._held(weights.is_frozen))
            before = cost
            while damping < _MAX_DAMPING:
                step = self._step(reduced, damping)
                if step is not None:
                    keys = self._bounded(step, weights.is_frozen)
                    trial = self._cost(packed, matrices, keys)
                    if trial < cost:
                        self.keys, cost = keys, trial
                        damping = max(damping * _DAMPING_DECREASE, _MIN_DAMPING)
                        break
                damping *= _DAMPING_INCREASE
            else:
                return cost
            slow = slow + 1 if before - cost < gain * before else 0
            if slow >= 3:
                break
        return cost

    def _cost(self, packed: tuple, matrices: tuple, keys: np.ndarray) -> float:
        m, w, work, regularization = packed
        quadratic = regularization_cost(m, regularization, keys, matrices, self.equations, False)
        return float(quadratic + motion_cost(m, w, keys, work))

    def _assemble(self, packed: tuple, matrices: tuple) -> None:
        """Writes the normal equations of the motion as it is."""
        m, w, work, regularization = packed
        for array in self.equations:
            array[:] = 0.0
        regularization_cost(m, regularization, self.keys, matrices, self.equations, True)
        motion_system(m, w, self.keys, work, self.equations)

    def _held(self, is_frozen: bool) -> np.ndarray:
        """Variables that this step does not change.

        Before rounding these are contact variables that a bound holds, changes under pushes, and
        shifts. After it they are contact variables, everything of contacts that are off on both
        sides of a key, changes at keys that no phase with pushes touches, and shifts of pinned
        keys.
        """
        held = self.fixed.copy()
        layout = self.model.layout
        c = self.keys[:, layout.contacts]
        if not is_frozen:
            gradient = self.equations.gradient[:, layout.contacts]
            is_kept = ((c <= self.floor) & (gradient > 0.0)) | ((c >= 1.0) & (gradient < 0.0))
            held[:, layout.contacts] |= is_kept
            held[:, layout.changes] = True
            held[:, layout.shift] = True
            return held
        held[:, layout.contacts] = True
        held[:, layout.shift] |= self.model.is_pinned
        idle = (c == 0.0) & (np.roll(c, 1, axis=0) == 0.0)
        threefold = np.repeat(idle, 3, axis=1)
        held[:, layout.forces] |= threefold
        held[:, layout.origins] |= threefold
        is_pushed = np.zeros(len(held), dtype=bool)
        is_pushed[: len(self.model.schedule.is_pushed)] = self.model.schedule.is_pushed
        is_pushed |= np.roll(is_pushed, 1)
        changes = held[:, layout.changes]
        changes |= np.tile(threefold, len(self.model.pushes.force)) | ~is_pushed[:, None]
        return held

    def _reduced(self, held: np.ndarray) -> _Reduced:
        """The normal equations of the variables that may move."""
        b, count = self.equations, len(held)
        free = [np.flatnonzero(~row) for row in held]
        return _Reduced(
            free,
            [b.diagonal[k][free[k][:, None], free[k]] for k in range(count)],
            [b.below[k][free[(k + 1) % count][:, None], free[k]] for k in range(count)],
            [-b.gradient[k][free[k]] for k in range(count)],
        )

    def _step(self, reduced: _Reduced, damping: float) -> np.ndarray | None:
        """The damped Gauss-Newton step; None if the equations have no usable solution."""
        diagonal = []
        for block, free in zip(reduced.diagonal, reduced.free, strict=True):
            damped = block.copy()
            damped.flat[:: len(block) + 1] += damping / self.scale[free] ** 2
            diagonal.append(damped)
        try:
            parts = solve_blocks(
                diagonal, reduced.below, reduced.right, is_ring=self.model.is_cyclic
            )
        except NotPositiveError:
            return None
        step = np.zeros_like(self.keys)
        for k, free in enumerate(reduced.free):
            step[k, free] = parts[k]
        return step if np.isfinite(step).all() else None

    def _bounded(self, step: np.ndarray, is_frozen: bool) -> np.ndarray:
        """Key states after a step that is shortened where it is too long."""
        layout = self.model.layout
        angles = np.abs(step[:, layout.coordinates]).max()
        step = step * min(1.0, _COORDINATE_STEP / max(angles, 1e-12))
        origins = step[:, layout.origins]
        np.clip(origins, -_ORIGIN_STEP, _ORIGIN_STEP, out=origins)
        step[:, layout.shift] *= self._share_of_shifts(step[:, layout.shift])
        keys = self.keys + step
        if not is_frozen:
            own = layout.contacts
            c = self.keys[:, own] + np.clip(step[:, own], -_CONTACT_STEP, _CONTACT_STEP)
            c = np.clip(c, self.floor, 1.0)
            keys[:, own] = np.where(self.fixed[:, own], self.keys[:, own], c)
        return keys

    def _share_of_shifts(self, shifts: np.ndarray) -> float:
        """Largest share of these shifts that keeps all phases within their bounds."""
        m = self.model
        if m.is_pinned.all():
            return 1.0
        now = np.diff(m.key_times(self.keys))
        longer = (np.roll(shifts, -1) - shifts)[: len(now)]
        most = max(float(np.abs(longer).max()) / m.phase_time / _STRETCH_STEP, 1.0)
        left = np.where(longer > 0.0, MOST_STRETCH, LEAST_STRETCH) * m.phase_time - now
        reached = np.divide(left, longer, out=np.full(len(now), np.inf), where=longer != 0.0)
        return float(np.clip(reached.min(), 0.0, 1.0 / most))
