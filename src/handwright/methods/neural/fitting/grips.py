"""The grips of all hands of a scene: hands with the same body hold it together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.neural.fitting.grip import Grip, GripSettings, normal_forces
from handwright.methods.neural.fitting.holds import Asked, Holds, HoldSettings
from handwright.methods.neural.fitting.touches import Touches
from handwright.methods.neural.sensing.body import SensedBody
from handwright.methods.neural.sensing.load import Load
from handwright.methods.neural.sensing.view import HandView

# Below it nothing is left to ask.
_LITTLE = 1e-2

Measure = Callable[[str], Touches]
"""Measures a hand by its name."""


class _Gripping(NamedTuple):
    """How one hand grips a body."""

    body: SensedBody
    grip: Grip
    holds: Holds


class Grips:
    """What is asked of hands from frame to frame."""

    __slots__ = ("_hands", "hold_settings", "settings")

    def __init__(
        self, settings: GripSettings | None = None, holds: HoldSettings | None = None
    ) -> None:
        self.settings = GripSettings() if settings is None else settings
        self.hold_settings = HoldSettings() if holds is None else holds
        self._hands: dict[str, _Gripping] = {}
        """By the name of the hand."""

    def asked(
        self, views: Mapping[str, HandView], frame: int, shown: Measure, touches: Measure
    ) -> dict[str, Asked]:
        """What forces ask of the hands; nothing of those that carry nothing.

        Hands may come and go, and so may bodies: a hand that is missing, or that has another body
        than before, begins anew.

        Args:
            views: Of all hands that are there.
            frame: Of the views.
            shown: Measures a hand as it was posed in the frame before; called only where something
                is carried, or has just been put down.
            touches: Measures a hand in the posture that it would have in this frame without being
                asked; called only where something is carried.
        """
        self._hands = {
            name: hand
            for name, hand in self._hands.items()
            if name in views and hand.body is views[name].body
        }
        together: dict[str, list[str]] = {}
        for name, view in views.items():
            if view.load is not None:
                together.setdefault(view.load.body, []).append(name)
            if name in self._hands:
                hand = self._hands[name]
                hand.holds.follow(shown(name), hand.grip.asked)
        missing: dict[str, float] = {}
        for names in together.values():
            load = views[names[0]].load
            assert load is not None
            if load.is_carried[frame]:
                left = self._carry({name: views[name] for name in names}, load, frame, touches)
                missing |= dict.fromkeys(names, left)
            else:
                self._put_down(names)
        return {
            name: hand.holds.asked(hand.grip.asked, missing.get(name, 0.0))
            for name, hand in self._hands.items()
        }

    def _carry(
        self, views: Mapping[str, HandView], load: Load, frame: int, touches: Measure
    ) -> float:
        """Has hands share a load; returns what is left of it, in weights."""
        parts = {name: touches(name) for name in views}
        for name, part in parts.items():
            if name not in self._hands:
                count = len(part.gap)
                self._hands[name] = _Gripping(
                    views[name].body,
                    Grip(count, self.settings),
                    Holds(count, self.hold_settings),
                )
        grips = {name: self._hands[name].grip for name in views}
        given, missing = normal_forces(
            np.concatenate([_arms(views[name], part) for name, part in parts.items()]),
            np.concatenate([part.outward for part in parts.values()]),
            np.concatenate([grips[name].prices(part) for name, part in parts.items()]),
            self.settings.friction_share * load.friction,
            load.force[frame],
        )
        ends = np.cumsum([len(part.gap) for part in parts.values()])[:-1]
        for (name, part), own in zip(parts.items(), np.split(given, ends), strict=True):
            grips[name].carry(part, own)
        return float(missing)

    def _put_down(self, names: Sequence[str]) -> None:
        for name in names:
            if name in self._hands:
                grip = self._hands[name].grip
                grip.put_down()
                if grip.asked.max(initial=0.0) < _LITTLE:
                    del self._hands[name]


def _arms(view: HandView, touches: Touches) -> Float[np.ndarray, "C 3"]:
    """From the centre of mass, in quarters of the diagonal of the body.

    So the sizes in which hands see their scenes drop out.
    """
    size = 0.25 * float(np.linalg.norm(view.body.high - view.body.low))
    return (touches.point - view.center_of_mass) / size
