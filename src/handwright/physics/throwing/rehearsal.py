"""Flips that are rehearsed in the mind before they are thrown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.physics.throwing.flip_feedback import FlipFeedback, lie
from handwright.physics.throwing.flips import SCALES, Flip, flip_index, flip_throw, half_turns
from handwright.physics.throwing.machine import Machine

_TRIED = ("aside", "ahead", "up", "roll_by", "roll_rate", "pitch", "yaw", "opening", "stroke")
# A flip that is not caught costs so much, and one that is caught but not turned as it should be.
_LOST, _NOT_TURNED = 60.0, 20.0


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How a flip is rehearsed: in a copy of the simulation, from where the hand is now.

    The copy knows the world as it is, but not by how much the throw will differ from what is meant:
    each rehearsal differs by chance as throws do.
    """

    tries: int = 10
    """Most flips that are rehearsed before the best is thrown."""
    repeats: int = 3
    """How often one is rehearsed; what counts is the worst. The first time it is as meant."""
    noise: float = 0.03
    """By how much throws differ from what is meant, as a share of the constants' scales."""
    first_step: float = 0.1
    """By how much the second flip that is tried differs from the first, in the same shares."""
    more: float = 0.04
    """By how much more each further one does."""
    turn: float = 2.86
    """Free turn that is liked best, rad."""
    turn_spread: float = 0.19
    """How far off costs one, rad."""
    lie: tuple[float, ...] = (2.0e-3, 8.7e-3, -15.8e-3, 0.14, -0.02)
    """How the thing best lies after the catch: the next throw begins with it."""
    lie_spread: tuple[float, ...] = (4.5e-3, 2.5e-3, 4.5e-3, 0.12, 0.09)
    """How far off costs one, by the number that is furthest off."""
    good: float = 2.5
    """A flip that costs less than this is thrown without trying others."""

    def cost(self, machine: Machine, half: int | None) -> float:
        """How little a flip is liked that has just been rehearsed.

        Args:
            machine: After it.
            half: Half turns that it made, if they were whole and it was caught.
        """
        found = ((machine.turned - self.turn) / self.turn_spread) ** 2
        if not machine.has_caught:
            return found + _LOST
        off = (lie(machine) - np.array(self.lie)) / np.array(self.lie_spread)
        return float(found + np.max(off**2)) + (0.0 if half == 1 else _NOT_TURNED)


def rehearsed(
    machine: Machine,
    flip: Flip,
    rng: np.random.Generator,
    *,
    feedback: FlipFeedback | None = None,
    rehearsal: Rehearsal | None = None,
) -> Flip:
    """The flip to throw from where the hand is now; the hand stays as it is.

    Args:
        machine: Ready to throw.
        flip: For any lie.
        rng: Source of what is tried.
        feedback: How lies are answered.
        rehearsal: How much is tried.
    """
    feedback = FlipFeedback() if feedback is None else feedback
    rehearsal = Rehearsal() if rehearsal is None else rehearsal
    best, least = feedback.corrected(flip, lie(machine)), np.inf
    rows = flip_index(_TRIED)
    before, axis = machine.snapshot(), machine.axis
    for number in range(rehearsal.tries):
        vector = best.vector
        if number > 0:
            step = rehearsal.first_step + rehearsal.more * number
            vector[rows] += step * SCALES[rows] * rng.normal(size=len(rows))
        worst = -np.inf
        for repeat in range(rehearsal.repeats):
            chance = rehearsal.noise * rng.normal(size=len(SCALES)) if repeat > 0 else 0.0
            machine.throw(flip_throw(machine, Flip.of(vector + SCALES * chance)))
            machine.run()
            worst = max(worst, rehearsal.cost(machine, half_turns(machine, axis)))
            machine.restore(before)
            if worst >= least:
                break
        if worst < least:
            best, least = Flip.of(vector), worst
        if least < rehearsal.good:
            break
    return best
