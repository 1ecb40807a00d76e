"""Cans that are turned end over end and caught, until the first that is not."""

from __future__ import annotations

import time
from typing import Literal, NamedTuple, get_args

import numpy as np

from handwright.physics.throwing.arm import standing_arm
from handwright.physics.throwing.flip_feedback import FlipFeedback, lie
from handwright.physics.throwing.flips import (
    SCALES,
    Flip,
    flip_home,
    flip_throw,
    half_turns,
)
from handwright.physics.throwing.machine import Machine, MachineSettings
from handwright.physics.throwing.rehearsal import rehearsed
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.things import can

# Share of the scales by which no two throws are alike.
_NOISE = 0.03
# What is tried in a rehearsal is drawn apart from what differs from throw to throw.
_REHEARSING = 1

Flipping = Literal["alike", "feedback", "rehearsed"]
"""Whether all throws are alike, answer how the can lies, or are also rehearsed."""
FLIPPING: tuple[Flipping, ...] = get_args(Flipping)


class Flips(NamedTuple):
    """How long it went well."""

    in_a_row: int
    """Half turns until the first failure."""
    turned: list[float]
    """By how much the can turned in free flight, degrees; the last one may be the failure's."""
    seconds: float
    """Processor time."""


def flips_in_a_row(most: int, seed: int, how: Flipping = "rehearsed") -> Flips:
    """Half turns until the first failure.

    Args:
        most: After so many it ends.
        seed: Of what differs from throw to throw.
        how: What a throw answers to.
    """
    flip, rng = Flip(), np.random.default_rng(seed)
    mind = np.random.default_rng([seed, _REHEARSING])
    simulation = Simulation([standing_arm()], {"can": can()})
    thrower = Machine(simulation, "right", "can", flip.settings(MachineSettings()))
    thrower.home = flip_home(thrower, flip)
    thrower.take()
    thrower.run()
    begin = time.process_time()
    turned: list[float] = []
    for number in range(most):
        meant = flip
        if how == "feedback":
            meant = FlipFeedback().corrected(flip, lie(thrower))
        elif how == "rehearsed":
            meant = rehearsed(thrower, flip, mind)
        thrown = Flip.of(meant.vector + _NOISE * SCALES * rng.normal(size=len(SCALES)))
        axis = thrower.axis
        thrower.throw(flip_throw(thrower, thrown))
        thrower.run()
        turned.append(float(np.degrees(thrower.turned)))
        if half_turns(thrower, axis) != 1:
            return Flips(number, turned, time.process_time() - begin)
    return Flips(most, turned, time.process_time() - begin)
