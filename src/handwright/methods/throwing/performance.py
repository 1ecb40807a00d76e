"""Tosses of a problem carried out in a simulation, and what comes of them as a clip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from handwright.core.clip import Clip
from handwright.core.events import Toss
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.methods.throwing.moments import Moment, clip_of, moment_of
from handwright.physics.throwing.aiming import aim_at_box, throw_for_height
from handwright.physics.throwing.arm import Arm, Gains
from handwright.physics.throwing.experience import Experience
from handwright.physics.throwing.machine import Machine, MachineSettings, Throw
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.targets import BoxPath

# Spread of heights, m, and of velocities, as a share, from try to try.
_TREMOR, _UNEVEN = 0.003, 0.01


class Performance(NamedTuple):
    """What came of the tosses."""

    clip: Clip | None
    cause: str
    """Why there is no clip, in a sentence; empty if there is."""
    errors: tuple[float, ...]
    """By how much each toss to a height was too high, m."""
    tries: int
    """Throws that were simulated, those of the practice included."""


def perform(
    problem: Problem,
    settings: MachineSettings,
    gains: Gains,
    *,
    rng: np.random.Generator,
    practice: int,
    nearest: float,
    tell: Callable[[int], None],
) -> Performance:
    """Throws and catches as a problem says.

    Args:
        problem: With tosses of one body by one hand.
        settings: Of the machine.
        gains: Of its joints.
        rng: Source of what differs between two tries.
        practice: How often a toss may be tried again.
        nearest: Error of a height up to which it is not, m.
        tell: Told the number of each toss.
    """
    first = problem.tosses[0]
    arm = Arm(first.hand, problem.hands[first.hand], problem.start[first.hand])
    boxes = [problem.environment[t.surface] for t in problem.tosses if t.surface is not None]
    box = boxes[0] if boxes and isinstance(boxes[0], EnvironmentBox) else None
    bodies = {first.body: problem.bodies[first.body]}
    simulation = Simulation([arm], bodies, gains=gains, box=box)
    machine = Machine(simulation, first.hand, first.body, settings)
    performer = _Performer(problem, machine, rng, practice, nearest)
    return performer.run(tell)


class _Performer:
    def __init__(
        self,
        problem: Problem,
        machine: Machine,
        rng: np.random.Generator,
        practice: int,
        nearest: float,
    ) -> None:
        self._problem, self._machine, self._rng = problem, machine, rng
        self._practice, self._nearest = practice, nearest
        self._frames: list[Moment] = []
        self._tries = 0
        self._experience = Experience()

    def run(self, tell: Callable[[int], None]) -> Performance:
        machine, problem = self._machine, self._problem
        errors: list[float] = []
        machine.take()
        machine.run(self._record)
        for number, toss in enumerate(problem.tosses):
            tell(number)
            error = self._up(toss) if toss.surface is None else self._at_box(toss)
            if isinstance(error, str):
                return Performance(None, f"Toss {number}: {error}", tuple(errors), self._tries)
            errors += [] if toss.surface is not None else [error]
        end = float(problem.times[-1] - problem.times[0])
        used = machine.simulation.time
        if used > end + 1e-9:
            return Performance(
                None,
                f"{len(problem.tosses)} tosses take {used:.2f} s and the problem lasts {end:.2f} "
                f"s; make it at least {used:.2f} s long, or ask for fewer.",
                tuple(errors),
                self._tries,
            )
        while machine.simulation.time < end + machine.simulation.timestep:
            self._record()
            machine.update()
            machine.simulation.step()
        clip = clip_of(problem, machine.arm, machine.name, self._frames)
        return Performance(clip, "", tuple(errors), self._tries)

    def _record(self) -> None:
        self._frames.append(moment_of(self._machine))

    def _thrown(self, throw: Throw) -> tuple[float, bool]:
        """Carries out a throw; returns how high the thing went, m, and whether it was caught."""
        self._tries += 1
        self._machine.throw(throw)
        top = self._machine.run(self._record)
        return top, self._machine.has_caught

    def _up(self, toss: Toss) -> float | str:
        """A toss to a height; returns its error, m, or why it failed."""
        assert toss.height is not None
        machine = self._machine
        machine.waits_for_box = False
        wanted = float(machine.home.position[2]) + toss.height
        saved, first = machine.snapshot(), len(self._frames)
        seat = machine.off_seat
        asked = self._experience.asked(toss.height, seat)
        best: tuple[float, float] | None = None
        for _ in range(self._practice + 1):
            top, is_caught = self._thrown(throw_for_height(machine, asked))
            error = top - wanted
            if is_caught:
                self._experience.learn(asked, seat, toss.height + error - asked)
            if is_caught and (best is None or abs(error) < abs(best[0])):
                best = error, asked
            if is_caught and abs(error) <= self._nearest:
                return error
            machine.restore(saved)
            del self._frames[first:]
            # Contacts make much of small differences: from the best on, by chance.
            start = toss.height if best is None else best[1] - best[0]
            asked = start + _TREMOR * float(self._rng.normal())
        if best is None:
            return (
                f"'{machine.name}' is dropped in each of {self._practice + 1} tries to throw it "
                f"{toss.height:g} m high. Ask for another height, or for a body that is easier to "
                "hold."
            )
        top, _ = self._thrown(throw_for_height(machine, best[1]))
        return top - wanted

    def _at_box(self, toss: Toss) -> float | str:
        """A toss at a box; returns 0, or why it failed."""
        machine = self._machine
        assert toss.surface is not None
        box = self._problem.environment[toss.surface]
        assert isinstance(box, EnvironmentBox)
        path = BoxPath.still(box.pose.position)
        machine.simulation.place_box(path)
        aim = aim_at_box(machine, path, float(box.half_extents[1]))
        if aim is None:
            place = ", ".join(f"{x:.2f}" for x in box.pose.position)
            return (
                f"no throw at the box at ({place}) m comes back into reach. Put it 0.3 to 0.6 m "
                "ahead of the palm and 0.3 to 0.9 m above it."
            )
        machine.waits_for_box = True
        if np.linalg.norm(aim.home.position - machine.home.position) > 1e-6:
            machine.move_home(aim.home)
            machine.run(self._record)
        saved, first = machine.snapshot(), len(self._frames)
        for number in range(self._practice + 1):
            scale = 1.0 + (_UNEVEN * float(self._rng.normal()) if number > 0 else 0.0)
            _, is_caught = self._thrown(replace(aim.throw, velocity=scale * aim.throw.velocity))
            if is_caught:
                return 0.0
            machine.restore(saved)
            del self._frames[first:]
        return (
            f"'{machine.name}' misses the box or the hand in each of {self._practice + 1} tries. "
            "Put the box nearer to straight ahead."
        )
