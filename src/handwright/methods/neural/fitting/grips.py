"""The grips of all hands of a scene: hands with the same body hold it together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from handwright.methods.neural.fitting.grip import Grip, GripSettings
from handwright.methods.neural.fitting.holds import Asked, Holds, HoldSettings
from handwright.methods.neural.fitting.touches import Touches
from handwright.methods.neural.sensing.load import Load
from handwright.methods.neural.sensing.view import HandView

# Below it nothing is left to ask.
_LITTLE = 1e-2

Measure = Callable[[str], Touches]
"""Measures a hand by its name."""


class Grips:
    """What is asked of hands from frame to frame."""

    __slots__ = ("_counts", "_grips", "hold_settings", "settings")

    def __init__(
        self, settings: GripSettings | None = None, holds: HoldSettings | None = None
    ) -> None:
        self.settings = GripSettings() if settings is None else settings
        self.hold_settings = HoldSettings() if holds is None else holds
        self._grips: dict[tuple[str, ...], tuple[Grip, Holds]] = {}
        """By the names of the hands that hold a body together; capsules one hand after another."""
        self._counts: dict[str, int] = {}
        """Capsules of each hand."""

    def asked(
        self, views: Mapping[str, HandView], frame: int, shown: Measure, touches: Measure
    ) -> dict[str, Asked]:
        """What forces ask of the hands; nothing of those that carry nothing.

        Args:
            views: Of the hands.
            frame: Of the views.
            shown: Measures a hand as it was posed in the frame before.
            touches: Measures a hand in the posture that it would have in this frame without being
                asked; called only where something is carried, as is ``shown``.
        """
        together: dict[str, list[str]] = {}
        for name, view in views.items():
            if view.load is not None:
                together.setdefault(view.load.body, []).append(name)
        found: dict[str, Asked] = {}
        for names in together.values():
            key, load = tuple(names), views[names[0]].load
            assert load is not None
            if key in self._grips:
                grip, holds = self._grips[key]
                holds.follow(_joined([shown(name) for name in names]), grip.asked)
            if load.is_carried[frame]:
                parts = {name: touches(name) for name in names}
                self._counts |= {name: len(part.gap) for name, part in parts.items()}
                arms = [_arms(views[name], part) for name, part in parts.items()]
                self._carry(key, load, frame, _joined(list(parts.values())), np.concatenate(arms))
            elif key in self._grips:
                self._put_down(key)
            if key in self._grips:
                found |= self._parts(key)
        return found

    def _carry(
        self,
        key: tuple[str, ...],
        load: Load,
        frame: int,
        touches: Touches,
        arm: Float[np.ndarray, "C 3"],
    ) -> None:
        if key not in self._grips:
            count = len(touches.gap)
            self._grips[key] = Grip(count, self.settings), Holds(count, self.hold_settings)
        self._grips[key][0].carry(touches, arm, load.force[frame], load.friction)

    def _parts(self, key: tuple[str, ...]) -> dict[str, Asked]:
        """What is asked of each hand of a grip."""
        grip, holds = self._grips[key]
        ends = np.cumsum([self._counts[name] for name in key])[:-1]
        parts = [np.split(part, ends) for part in holds.asked(grip.asked, grip.missing)]
        return {name: Asked(*rows) for name, *rows in zip(key, *parts, strict=True)}

    def _put_down(self, key: tuple[str, ...]) -> None:
        grip, _ = self._grips[key]
        grip.put_down()
        if grip.asked.max(initial=0.0) < _LITTLE:
            del self._grips[key]


def _joined(parts: Sequence[Touches]) -> Touches:
    """Capsules of hands one after another."""
    return Touches(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))


def _arms(view: HandView, touches: Touches) -> Float[np.ndarray, "C 3"]:
    """From the centre of mass, in quarters of the diagonal of the body.

    So the sizes in which hands see their scenes drop out.
    """
    size = 0.25 * float(np.linalg.norm(view.body.high - view.body.low))
    return (touches.point - view.center_of_mass) / size
