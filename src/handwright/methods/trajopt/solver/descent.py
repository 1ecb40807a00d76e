"""Levenberg-Marquardt on the key states of a motion, with bounds on contact variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.model import Model, Room, Weights
from handwright.methods.trajopt.model.timing import key_times
from handwright.methods.trajopt.solver.block_solve import NotPositiveError, solve_blocks
from handwright.methods.trajopt.solver.system import motion_cost, motion_system
from handwright.methods.trajopt.terms.regularization import Quiet, Sums, phase_matrices, quiet_cost
from handwright.methods.trajopt.terms.time import LEAST_STRETCH, MOST_STRETCH

_EASE, _STRAIN = 0.2, 4.0
_LEAST, _MOST = 1e-9, 1e11
# Largest change of a contact variable, of an origin (m) and of an angle (rad) in one step.
_CONTACT_STEP, _ORIGIN_STEP, _ANGLE_STEP = 0.05, 0.03, 0.4
# Of the length of a phase, in lengths without shifts.
_STRETCH_STEP = 0.2


def _never() -> bool:
    return False


class _Reduced(NamedTuple):
    """Normal equations of some of the variables of every key."""

    free: list[np.ndarray]
    diagonal: list[np.ndarray]
    below: list[np.ndarray]
    right: list[np.ndarray]


@dataclass(slots=True)
class Descent:
    """A motion under optimisation: its model, its key states and the cost so far."""

    model: Model
    room: Room
    keys: Float[np.ndarray, "K n"]
    fixed: Bool[np.ndarray, "K n"]
    """Variables that stay, beyond what a stage freezes."""
    floor: Float[np.ndarray, "K N"]
    """Least values of contact variables."""
    blocks: Sums
    scale: Float[np.ndarray, " n"]
    """Natural size of every variable."""
    iterations: int = 0
    """So far, in all stages."""
    is_over: Callable[[], bool] = _never
    """Whether the time is up; steps end then."""

    def run(self, weights: Weights, quiet: Quiet, num_iterations: int, gain: float = 1e-4) -> float:
        """Descends until the cost falls by less than ``gain`` of itself three times running.

        Args:
            weights: Of the residuals.
            quiet: Weights of the quadratic terms.
            num_iterations: At most.
            gain: See above.

        Returns:
            The cost.
        """
        packed = Packed(self.model), Packed(weights), Packed(self.room), Packed(quiet)
        matrices = phase_matrices(self.model.phase_time)
        damping, slow = 1e-2, 0
        cost = self._cost(packed, matrices, self.keys)
        for _ in range(num_iterations):
            if self.is_over():
                break
            self.iterations += 1
            self._assemble(packed, matrices)
            reduced = self._reduced(self._held(weights.is_frozen))
            before = cost
            while damping < _MOST:
                step = self._step(reduced, damping)
                if step is not None:
                    keys = self._bounded(step, weights.is_frozen)
                    trial = self._cost(packed, matrices, keys)
                    if trial < cost:
                        self.keys, cost = keys, trial
                        damping = max(damping * _EASE, _LEAST)
                        break
                damping *= _STRAIN
            else:
                return cost
            slow = slow + 1 if before - cost < gain * before else 0
            if slow >= 3:
                break
        return cost

    def cost(self, weights: Weights, quiet: Quiet) -> float:
        """Cost of the motion as it is."""
        packed = Packed(self.model), Packed(weights), Packed(self.room), Packed(quiet)
        return self._cost(packed, phase_matrices(self.model.phase_time), self.keys)

    def _cost(self, packed: tuple, matrices: tuple, keys: np.ndarray) -> float:
        m, w, room, quiet = packed
        return quiet_cost(m, quiet, keys, matrices, self.blocks, False) + motion_cost(
            m, w, keys, room
        )

    def _assemble(self, packed: tuple, matrices: tuple) -> None:
        m, w, room, quiet = packed
        for array in self.blocks:
            array[:] = 0.0
        quiet_cost(m, quiet, self.keys, matrices, self.blocks, True)
        motion_system(m, w, self.keys, room, self.blocks)

    def _held(self, is_frozen: bool) -> np.ndarray:
        """Variables that this step leaves alone.

        They are contact variables at a bound that hold them, changes for pushes and shifts; with
        frozen ones, everything of contacts that are off on both sides of a key, changes at keys
        that no phase with pushes touches, and shifts of keys that stay.
        """
        held = self.fixed.copy()
        nq, nc = self.model.num_coordinates, self.model.num_contacts
        c = self.keys[:, -nc:]
        if not is_frozen:
            slope = self.blocks.slope[:, -nc:]
            held[:, -nc:] |= ((c <= self.floor) & (slope > 0.0)) | ((c >= 1.0) & (slope < 0.0))
            held[:, 2 * nq + 6 * nc : self.model.first_share] = True
            return held
        held[:, -nc:] = True
        held[:, self.model.shift] |= self.model.is_pinned
        idle = (c == 0.0) & (np.roll(c, 1, axis=0) == 0.0)
        threefold = np.repeat(idle, 3, axis=1)
        held[:, 2 * nq : 2 * nq + 6 * nc] |= np.tile(threefold, 2)
        is_pushed = np.zeros(len(held), dtype=bool)
        is_pushed[: len(self.model.is_pushed)] = self.model.is_pushed
        is_pushed |= np.roll(is_pushed, 1)
        changes = held[:, 2 * nq + 6 * nc : self.model.shift]
        changes |= np.tile(threefold, len(self.model.pushes.force)) | ~is_pushed[:, None]
        return held

    def _reduced(self, held: np.ndarray) -> _Reduced:
        """The normal equations of the variables that may move."""
        b, count = self.blocks, len(held)
        free = [np.flatnonzero(~row) for row in held]
        return _Reduced(
            free,
            [b.diagonal[k][free[k][:, None], free[k]] for k in range(count)],
            [b.below[k][free[(k + 1) % count][:, None], free[k]] for k in range(count)],
            [-b.slope[k][free[k]] for k in range(count)],
        )

    def _step(self, reduced: _Reduced, damping: float) -> np.ndarray | None:
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
        """The motion after a step that is shortened where it is too long."""
        nq, nc = self.model.num_coordinates, self.model.num_contacts
        angles = np.abs(step[:, :nq]).max()
        step = step * min(1.0, _ANGLE_STEP / max(angles, 1e-12))
        origins = step[:, 2 * nq + 3 * nc : 2 * nq + 6 * nc]
        np.clip(origins, -_ORIGIN_STEP, _ORIGIN_STEP, out=origins)
        step[:, self.model.shift] *= self._share_of_shifts(step[:, self.model.shift])
        keys = self.keys + step
        if not is_frozen:
            first = keys.shape[1] - nc
            c = self.keys[:, first:] + np.clip(step[:, first:], -_CONTACT_STEP, _CONTACT_STEP)
            keys[:, first:] = np.clip(c, self.floor, 1.0)
            keys[:, first:] = np.where(self.fixed[:, first:], self.keys[:, first:], keys[:, first:])
        return keys

    def _share_of_shifts(self, shifts: np.ndarray) -> float:
        """How far keys may be shifted so for all phases to stay within their bounds."""
        m = self.model
        if m.is_pinned.all():
            return 1.0
        now = np.diff(key_times(m, self.keys))
        longer = (np.roll(shifts, -1) - shifts)[: len(now)]
        most = max(float(np.abs(longer).max()) / m.phase_time / _STRETCH_STEP, 1.0)
        room = np.where(longer > 0.0, MOST_STRETCH, LEAST_STRETCH) * m.phase_time - now
        reached = np.divide(room, longer, out=np.full(len(now), np.inf), where=longer != 0.0)
        return float(np.clip(reached.min(), 0.0, 1.0 / most))


def make_blocks(num_keys: int, size: int) -> Sums:
    """Room for the normal equations."""
    blocks = (num_keys, size, size)
    return Sums(np.zeros(blocks), np.zeros(blocks), np.zeros((num_keys, size)))
