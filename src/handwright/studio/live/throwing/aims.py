"""What throws are to be, as a page asks for it, within what an arm can do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.methods.throwing.what_is_lacking import HIGHEST, LOWEST
from handwright.physics.throwing.arm import Arm, standing_arm
from handwright.physics.throwing.flips import Flip
from handwright.physics.throwing.machine import MachineSettings
from handwright.studio.live.throwing.things import thing_of
from handwright.studio.live_messages import LiveCommand

HAND: Literal["right"] = "right"
HEIGHTS = (LOWEST, HIGHEST)
"""To which balls can be thrown, above the hollow of the palm at rest, m."""
# Middle of the room of the box from that hollow, and how far from there it may be, m: every ball
# was thrown at the box in each corner and came back five times out of five.
_MIDDLE, _HALF = np.array([0.0, 0.45, 0.62]), np.array([0.25, 0.20, 0.20])
_SLACK = 1e-6
Goal = Literal["height", "box", "half_turns"]


@cache
def throwing_arm() -> Arm:
    """The arm that throws."""
    return standing_arm(HAND)


def palm_at_rest() -> Float[np.ndarray, "3"]:
    """Where the hollow of the palm is between two throws up, m."""
    return throwing_arm().beside(MachineSettings().home)


def box_room() -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """Opposite corners of the room in which the box may have its centre, m."""
    middle = palm_at_rest() + _MIDDLE
    return middle - _HALF, middle + _HALF


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """What the next throws are for."""

    thing: str
    target: Literal["height", "box"]
    """Of balls."""
    height: float
    """m."""
    half_turns: int
    """Of what is turned end over end."""
    box: Float[np.ndarray, "3"]
    """Centre of the box, m."""

    @staticmethod
    def usual(thing: str) -> Aim:
        """To a height in the middle of what can be reached."""
        low, high = box_room()
        return Aim(thing, "height", 0.5 * (LOWEST + HIGHEST), 1, 0.5 * (low + high))

    @property
    def flip(self) -> Flip | None:
        """The throw that turns the thing end over end; None for a ball."""
        return thing_of(self.thing).flips.get(self.half_turns)

    @property
    def goal(self) -> Goal:
        """What the thing is thrown for."""
        return self.target if self.flip is None else "half_turns"


def changed(aim: Aim, command: LiveCommand) -> Aim:
    """What a page asks for from now on; raises, and changes nothing, if it cannot be done."""
    thing = aim.thing if command.prop is None else command.prop
    flips = thing_of(thing).flips
    return replace(
        aim,
        thing=thing,
        target=_target(aim, command, thing),
        height=aim.height if command.height is None else _height(command.height),
        half_turns=_half_turns(aim, command, thing) if flips else aim.half_turns,
        box=_box(aim, command),
    )


def _target(aim: Aim, command: LiveCommand, thing: str) -> Literal["height", "box"]:
    flips = thing_of(thing).flips
    if command.half_turns is not None and not flips:
        raise InvalidValueError(
            f"The {_words(thing)} has no ends to be told apart, so its turns cannot be asked for. "
            "Choose the can."
        )
    if command.target is None:
        return aim.target
    if flips:
        raise InvalidValueError(
            f"The {_words(thing)} is turned end over end, not thrown to a {command.target}. "
            "Choose a ball."
        )
    return command.target


def _height(height: float) -> float:
    if not LOWEST <= height <= HIGHEST:
        raise InvalidValueError(
            f"A throw {height:g} m above the palm is out of reach; expected {LOWEST:g} to "
            f"{HIGHEST:g} m."
        )
    return height


def _half_turns(aim: Aim, command: LiveCommand, thing: str) -> int:
    flips = thing_of(thing).flips
    asked = command.half_turns
    if asked is None:
        return aim.half_turns if aim.half_turns in flips else next(iter(flips))
    if asked not in flips:
        known = " or ".join(map(str, flips))
        raise InvalidValueError(
            f"{asked} half turns of the {_words(thing)} are not known; expected {known}."
        )
    return asked


def _box(aim: Aim, command: LiveCommand) -> Float[np.ndarray, "3"]:
    low, high = box_room()
    if command.place is not None:
        place = np.array(command.place)
        if np.any(place < low - _SLACK) or np.any(place > high + _SLACK):
            raise InvalidValueError(
                f"A box at {in_words(place)} m is out of reach; expected its centre between "
                f"{in_words(low)} and {in_words(high)} m."
            )
    elif command.shift is not None:
        place = aim.box + np.array(command.shift)
    else:
        return aim.box
    return np.clip(place, low, high)


def in_words(place: Float[np.ndarray, "3"]) -> str:
    """A place, without its unit."""
    return f"({', '.join(f'{x:.2f}' for x in place)})"


def _words(thing: str) -> str:
    return thing.replace("_", " ")
