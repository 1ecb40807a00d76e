"""From a number to a taught motion: script, tracks, fingers, and the certificate decides."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from handwright.core.problem import Problem
from handwright.core.result import Result, Status
from handwright.learning.data.choreography import stage_script
from handwright.learning.data.motion import TaughtMotion
from handwright.learning.data.play import Play
from handwright.learning.data.problems import problem_of
from handwright.learning.data.sampling import solve
from handwright.learning.data.script import Script, draw_script, generator
from handwright.learning.data.stage import UnnaturalError

# Plays that are thought out until one is natural.
_PLAYS = 8


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Tracks that got no certified fingers, and why: data, too."""

    name: str
    split: str
    shape: str
    acts: Sequence[str]
    """What should have been done."""
    num_frames: int
    """0 if no natural tracks were found."""
    reason: str
    """``unnatural``, a name of ``Status``, or the checks of the certificate that refused it."""
    message: str
    """In a sentence."""

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"acts": list(self.acts)}


def make_motion(set_name: str, seed: int, number: int) -> TaughtMotion | Unsolved:
    """The motion of a number, or why there is none.

    Args:
        set_name: Of the shapes.
        seed: Of the run.
        number: Of the motion.
    """
    script = draw_script(set_name, seed, number)
    name = f"{set_name}_s{seed}_{number:06d}"
    try:
        play, problem = thought_out(script, name, seed=seed, number=number)
    except UnnaturalError as error:
        return Unsolved(name, script.split, script.shape, script.acts, 0, "unnatural", str(error))
    result = solve(problem, play, seed=seed)
    if result.status is Status.CANCELLED:
        # The search was told to stop: that says nothing about these tracks, and ends the run.
        raise KeyboardInterrupt
    if not result.status.is_success:
        return _unsolved(script, name, problem, result)
    return _taught(script, name, play, result)


def thought_out(script: Script, name: str, *, seed: int, number: int) -> tuple[Play, Problem]:
    """The first natural play of a script, and the problem that it poses: fingers are wanted.

    Args:
        script: What happens.
        name: Of the problem.
        seed: Of the run.
        number: Of the motion: another one, other chances.

    Raises:
        UnnaturalError: If none of several plays is natural; says what is wrong with the last.
    """
    for part in range(1, _PLAYS):
        with suppress(UnnaturalError):
            return _staged(script, name, generator(seed, number, part))
    return _staged(script, name, generator(seed, number, _PLAYS))


def _staged(script: Script, name: str, rng: np.random.Generator) -> tuple[Play, Problem]:
    play = stage_script(script, rng)
    return play, problem_of(play, name)


def _unsolved(script: Script, name: str, problem: Problem, result: Result) -> Unsolved:
    refused = "+".join(sorted(result.refused))
    return Unsolved(
        name,
        script.split,
        script.shape,
        script.acts,
        len(problem.times),
        refused or result.status.name.lower(),
        result.message,
    )


def _taught(script: Script, name: str, play: Play, result: Result) -> TaughtMotion:
    things = {key: prop.thing for key, prop in play.props.items()}
    activity = tuple(play.activities())
    return TaughtMotion(name, result.best, activity, things, script.split, script.acts)
