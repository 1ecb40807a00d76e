"""Cans that are turned end over end and caught, until the first that is not."""

from __future__ import annotations

import numpy as np

from handwright.physics.throwing.arm import standing_arm
from handwright.physics.throwing.flips import (
    SCALES,
    Flip,
    flip_home,
    flip_throw,
    half_turns,
)
from handwright.physics.throwing.machine import Machine, MachineSettings
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.things import can

# Share of the scales by which no two throws are alike.
_NOISE = 0.03


def flips_in_a_row(most: int, seed: int) -> tuple[int, list[float]]:
    """Half turns until the first failure, and by how much the can turned in free flight, degrees.

    Args:
        most: After so many it ends.
        seed: Of what differs from throw to throw.
    """
    flip, rng = Flip(), np.random.default_rng(seed)
    simulation = Simulation([standing_arm()], {"can": can()})
    thrower = Machine(simulation, "right", "can", flip.settings(MachineSettings()))
    thrower.home = flip_home(thrower, flip)
    thrower.take()
    thrower.run()
    turned: list[float] = []
    for number in range(most):
        varied = Flip.of(flip.vector + _NOISE * SCALES * rng.normal(size=len(SCALES)))
        axis = thrower.axis
        thrower.throw(flip_throw(thrower, varied))
        thrower.run()
        turned.append(float(np.degrees(thrower.turned)))
        if half_turns(thrower, axis) != 1:
            return number, turned
    return most, turned
