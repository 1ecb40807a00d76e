"""The grips of all hands of a scene: hands with the same body hold it together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

from handwright.methods.neural.fitting.grip import Grip, GripSettings
from handwright.methods.neural.fitting.touches import Touches
from handwright.methods.neural.sensing.view import HandView

# Below it nothing is left to ask.
_LITTLE = 1e-2

Asked = Mapping[str, Float[np.ndarray, " C"]]
"""How much each capsule of a hand is asked to touch, from 0 to 1, by hand."""


class Grips:
    """What is asked of hands from frame to frame."""

    __slots__ = ("_counts", "_grips", "settings")

    def __init__(self, settings: GripSettings | None = None) -> None:
        self.settings = GripSettings() if settings is None else settings
        self._grips: dict[tuple[str, ...], Grip] = {}
        """By the names of the hands that hold a body together."""
        self._counts: dict[str, int] = {}
        """Capsules of each hand."""

    def asked(
        self, views: Mapping[str, HandView], frame: int, touches: Callable[[str], Touches]
    ) -> Asked:
        """What forces ask of the hands; nothing of those that carry nothing.

        Args:
            views: Of the hands.
            frame: Of the views.
            touches: Measures a hand by its name, in the posture that it would have without being
                asked; called only where something is carried.
        """
        together: dict[str, list[str]] = {}
        for name, view in views.items():
            if view.load is not None:
                together.setdefault(view.load.body, []).append(name)
        found: dict[str, Float[np.ndarray, " C"]] = {}
        for names in together.values():
            key, load = tuple(names), views[names[0]].load
            if load is not None and load.is_carried[frame]:
                self._carry(key, views, frame, {name: touches(name) for name in names})
            elif key in self._grips:
                self._put_down(key)
            if key in self._grips:
                ends = np.cumsum([self._counts[name] for name in names])[:-1]
                found |= zip(names, np.split(self._grips[key].asked, ends), strict=True)
        return found

    def _carry(
        self,
        key: tuple[str, ...],
        views: Mapping[str, HandView],
        frame: int,
        parts: Mapping[str, Touches],
    ) -> None:
        self._counts |= {name: len(part.gap) for name, part in parts.items()}
        whole = Touches(*(np.concatenate(rows) for rows in zip(*parts.values(), strict=True)))
        arms = [_arms(views[name], part) for name, part in parts.items()]
        if key not in self._grips:
            self._grips[key] = Grip(len(whole.gap), self.settings)
        load = views[key[0]].load
        assert load is not None
        self._grips[key].carry(whole, np.concatenate(arms), load.force[frame], load.friction)

    def _put_down(self, key: tuple[str, ...]) -> None:
        grip = self._grips[key]
        grip.put_down()
        if grip.asked.max(initial=0.0) < _LITTLE:
            del self._grips[key]


def _arms(view: HandView, touches: Touches) -> Float[np.ndarray, "C 3"]:
    """From the centre of mass, in quarters of the diagonal of the body.

    So the sizes in which hands see their scenes drop out.
    """
    size = 0.25 * float(np.linalg.norm(view.body.high - view.body.low))
    return (touches.point - view.center_of_mass) / size
