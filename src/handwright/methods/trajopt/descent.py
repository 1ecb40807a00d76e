"""Levenberg-Marquardt on the key states of a motion, with bounds on contact variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.math.packed import Packed
from handwright.methods.trajopt.block_solve import NotPositiveError, solve_blocks
from handwright.methods.trajopt.model import Model, Room, Weights
from handwright.methods.trajopt.quiet_terms import Quiet, Sums, phase_matrices, quiet_cost
from handwright.methods.trajopt.system import motion_cost, motion_system

_EASE, _STRAIN = 0.2, 4.0
_LEAST, _MOST = 1e-9, 1e8
# Largest change of a contact variable, of an origin (m) and of an angle (rad) in one step.
_CONTACT_STEP, _ORIGIN_STEP, _ANGLE_STEP = 0.05, 0.03, 0.4


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
            self.iterations += 1
            self._assemble(packed, matrices)
            held = self._held(weights.is_frozen)
            before = cost
            while damping < _MOST:
                step = self._step(held, damping)
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
        """Variables that this step leaves alone: contact variables at a bound that hold them."""
        held = self.fixed.copy()
        first = held.shape[1] - self.model.num_contacts
        if is_frozen:
            held[:, first:] = True
            return held
        c, slope = self.keys[:, first:], self.blocks.slope[:, first:]
        held[:, first:] |= ((c <= self.floor) & (slope > 0.0)) | ((c >= 1.0) & (slope < 0.0))
        return held

    def _step(self, held: np.ndarray, damping: float) -> np.ndarray | None:
        b = self.blocks
        diagonal, below, slope = b.diagonal.copy(), b.below.copy(), b.slope.copy()
        count = len(held)
        for k in range(count):
            stay = held[k]
            diagonal[k][stay, :] = 0.0
            diagonal[k][:, stay] = 0.0
            below[k][:, stay] = 0.0
            below[k][held[(k + 1) % count], :] = 0.0
            extra = np.where(stay, 1.0, damping / self.scale**2)
            diagonal[k].flat[:: diagonal.shape[1] + 1] += extra
        slope[held] = 0.0
        try:
            step = solve_blocks(diagonal, below, -slope, is_ring=self.model.is_cyclic)
        except NotPositiveError:
            return None
        return step if np.isfinite(step).all() else None

    def _bounded(self, step: np.ndarray, is_frozen: bool) -> np.ndarray:
        """The motion after a step that is shortened where it is too long."""
        nq, nc = self.model.num_coordinates, self.model.num_contacts
        angles = np.abs(step[:, :nq]).max()
        step = step * min(1.0, _ANGLE_STEP / max(angles, 1e-12))
        origins = step[:, 2 * nq + 3 * nc : 2 * nq + 6 * nc]
        np.clip(origins, -_ORIGIN_STEP, _ORIGIN_STEP, out=origins)
        keys = self.keys + step
        if not is_frozen:
            first = keys.shape[1] - nc
            c = self.keys[:, first:] + np.clip(step[:, first:], -_CONTACT_STEP, _CONTACT_STEP)
            keys[:, first:] = np.clip(c, self.floor, 1.0)
            keys[:, first:] = np.where(self.fixed[:, first:], self.keys[:, first:], keys[:, first:])
        return keys


def make_blocks(num_keys: int, size: int) -> Sums:
    """Room for the normal equations."""
    blocks = (num_keys, size, size)
    return Sums(np.zeros(blocks), np.zeros(blocks), np.zeros((num_keys, size)))
