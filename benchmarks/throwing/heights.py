"""Throws to random heights, with known balls and with unknown ones."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from handwright.core.body import RigidBody
from handwright.physics.throwing.aiming import throw_for_height
from handwright.physics.throwing.arm import Drive, Gains, standing_arm
from handwright.physics.throwing.experience import Experience
from handwright.physics.throwing.machine import Machine
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.things import ball, target_box

LOW, HIGH = 0.4, 1.0
"""Target heights above the palm, m."""
# Loops with the usual ball before others are thrown; loops with each of them in which it is got to
# know, and those that are judged.
_PRACTICE, _GET_TO_KNOW, _JUDGED = 100, 3, 7


def machine(
    drive: Drive = "computed_torque", *, box: bool = False, thing: RigidBody | None = None
) -> Machine:
    """A right arm that takes what it throws for the thesis' ball."""
    usual = ball()
    target = target_box() if box else None
    bodies = {"ball": thing or usual}
    simulation = Simulation([standing_arm()], bodies, gains=Gains(drive=drive), box=target)
    return Machine(simulation, "right", "ball", believed=usual)


class _Loops:
    """Throws to random heights, one after the other."""

    def __init__(self, thrower: Machine, rng: np.random.Generator) -> None:
        self.thrower, self._rng = thrower, rng
        self.dropped = 0
        thrower.take()
        thrower.run()

    def throw(self, experience: Experience | None) -> float:
        """A loop; returns the error of the height, mm, and takes a lost ball up again."""
        thrower = self.thrower
        height = float(self._rng.uniform(LOW, HIGH))
        seat = thrower.off_seat
        asked = height if experience is None else experience.asked(height, seat)
        thrower.throw(throw_for_height(thrower, asked))
        reached = thrower.run() - float(thrower.home.position[2])
        if experience is not None:
            experience.learn(asked, seat, reached - asked)
        if not thrower.has_caught:
            self.dropped += 1
            thrower.take()
            thrower.run()
        return 1e3 * abs(reached - height)


def heights(drive: Drive, loops: int, seed: int, *, learns: bool = True) -> dict[str, Any]:
    """Loops in a row with the thesis' ball.

    Args:
        drive: Of the arm.
        loops: How many.
        seed: Of the heights.
        learns: Whether the hand learns from throw to throw, knowing nothing at first.
    """
    experience = Experience() if learns else None
    run = _Loops(machine(drive), np.random.default_rng(seed))
    start, begin = run.thrower.simulation.time, time.process_time()
    errors = np.array([run.throw(experience) for _ in range(loops)])
    simulated = run.thrower.simulation.time - start
    return {
        "drive": drive,
        "learns": learns,
        "seed": seed,
        "loops": loops,
        "errors_mm": errors,
        "mean_mm": float(np.mean(errors)),
        "p95_mm": float(np.percentile(errors, 95)),
        "dropped": run.dropped,
        "times_real_time": simulated / (time.process_time() - begin),
    }


def unknown_balls(count: int, seed: int) -> dict[str, Any]:
    """Balls of 60 to 200 g, 25 to 40 mm and frictions of 0.5 to 1.0.

    The hand knows nothing of them: it takes them for the usual one, with which it has practised.

    Args:
        count: Of balls.
        seed: Of balls and heights.
    """
    rng = np.random.default_rng(seed)
    usual, run = Experience(), _Loops(machine(), rng)
    for _ in range(_PRACTICE):
        run.throw(usual)
    errors, rows, dropped = [], [], 0
    for _ in range(count):
        mass, radius, friction = rng.uniform([0.06, 0.025, 0.5], [0.2, 0.04, 1.0])
        thing = ball(float(radius), float(mass), float(friction))
        run, experience = _Loops(machine(thing=thing), rng), usual.of_another_thing()
        found = [run.throw(experience) for _ in range(_GET_TO_KNOW + _JUDGED)]
        errors += found[_GET_TO_KNOW:]
        dropped += run.dropped
        rows.append(
            {
                "mass_g": round(1e3 * float(mass), 1),
                "radius_mm": round(1e3 * float(radius), 1),
                "friction": round(float(friction), 2),
                "errors_mm": np.round(found, 2).tolist(),
                "dropped": run.dropped,
            }
        )
    loops = count * (_GET_TO_KNOW + _JUDGED)
    return {
        "balls": rows,
        "mean_mm": float(np.mean(errors)),
        "caught_share": 1.0 - dropped / loops,
    }
