"""What is served: a model, objects, and the hands of the client that is or was there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import floor
from handwright.hands.human.model import human
from handwright.methods.neural.live import FingerModel, LiveFingers
from handwright.methods.neural.live.prop_motion import PropMotion
from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.motion import RATE

# Frames with which everything is compiled and in memory.
_NUM_REHEARSED = 5


class LiveStage:
    """A model and objects that clients use one after another."""

    def __init__(self, model: FingerModel, bodies: Mapping[str, RigidBody]) -> None:
        """Makes distance grids of all objects, which takes seconds if they are not in the cache.

        Args:
            model: Says the fingers.
            bodies: Objects by name; the first is shown at first.
        """
        if not bodies:
            raise InvalidValueError("There is no object; expected one or more.")
        self._model = model
        self.objects: dict[str, SensedBody] = {
            name: sensed_body(body) for name, body in bodies.items()
        }
        self.shown = next(iter(bodies))
        """Name of the object that is sensed."""
        self._live: LiveFingers | None = None
        self._key: tuple[object, ...] = ()
        """Sides and size of its hands, and the height of its table."""

    def enter(
        self,
        sides: Sequence[Literal["right", "left"]],
        *,
        length: float | None,
        breadth: float | None,
        table: float | None,
        clock: Callable[[], float],
    ) -> LiveFingers:
        """Live fingers for a client; those of the one before if its hands and table are the same.

        Args:
            sides: Of its hands.
            length: Of the hands, m; an average man's if None.
            breadth: Of the palms, m; an average man's if None.
            table: Height of the level table or floor that fingers stay out of, m; None for none.
            clock: The server's, s.
        """
        key = (tuple(sides), length, breadth, table)
        if self._live is not None and key == self._key:
            self._live.restart()
        else:
            hands: dict[str, HandModel] = {
                side: human(side, length=length, breadth=breadth) for side in sides
            }
            body = self.objects[self.shown]
            level = () if table is None else (floor(table),)
            self._live = LiveFingers(self._model, hands, body, environment=level, clock=clock)
            self._key = key
        return self._live

    def rehearse(self) -> None:
        """Runs some frames, so that nothing is compiled once a client is there."""
        motion = PropMotion()
        # The prop is off the table by then: what carries it is looked for, too.
        begin = now = 0.4 * motion.period
        hands = {"right": human("right"), "left": human("left")}
        live = LiveFingers(self._model, hands, self.objects[self.shown], clock=lambda: now)
        for number in range(self._model.look_ahead + _NUM_REHEARSED):
            now = begin + number / RATE
            live.feed(now, wrists=motion.wrists(now), object=motion.object_pose(now))
            for _ in live.frames():
                pass
