"""Trained networks as models of live fingers: one frame after another, both hands at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Float32

from handwright.core.hand import HandModel
from handwright.methods.neural.fitting import (
    Asked,
    Correction,
    FittedHand,
    Grips,
    Touches,
    corrected,
    fit_posture,
    seen_at,
)
from handwright.methods.neural.live.finger_model import FingerModel
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.sensing.features import assembled, finger_features, fixed_features
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.taught_size import at_taught_size
from handwright.methods.neural.sensing.trajectory import HALF_WINDOW
from handwright.methods.neural.sensing.view import HandView

Postures = Mapping[str, Float[np.ndarray, " J"]]
"""Joint values by hand, rad."""


def finger_model(
    network: Network | WindowedNetwork, *, correction: Correction = "grip"
) -> FingerModel:
    """A trained network as a model of live fingers.

    Args:
        network: Of either kind.
        correction: What is done to its poses.
    """
    if isinstance(network, WindowedNetwork):
        return TwoPassFingers(network, correction)
    return FedBackFingers(network, correction)


class FittingHands:
    """Hands that follow what a network says."""

    def __init__(self, correction: Correction) -> None:
        """No hands yet.

        Args:
            correction: What is done to the network's poses.
        """
        self._correction = correction
        self._hands: dict[HandModel, FittedHand] = {}
        self._earlier: dict[str, Float[np.ndarray, " J"] | None] = {}
        """Postures two frames ago, by hand; None after a hand's first frame."""
        self._grips = Grips()

    def reset(self, hands: Mapping[str, HandModel]) -> None:
        """Forgets the past; what was made for a hand is kept."""
        taught = [at_taught_size(model) for model in hands.values()]
        self._hands = {model: self._hands.get(model) or FittedHand(model) for model in taught}
        self._earlier, self._grips = {}, Grips()

    def fitted(
        self, view: HandView, output: Float32[np.ndarray, " 220"], start: Float[np.ndarray, " J"]
    ) -> Float[np.ndarray, " J"]:
        """Joint values nearest to the network's pose, rad."""
        return fit_posture(self._hands[view.model], output, start)

    def settled(
        self,
        views: Mapping[str, HandView],
        frame: int,
        outputs: Mapping[str, Float32[np.ndarray, " 220"]],
        before: Postures,
    ) -> dict[str, Float[np.ndarray, " J"]]:
        """Joint values, rad, fitted and corrected; NaN where the network says nothing usable.

        Args:
            views: The hands and their objects.
            frame: Of the views, whose fingers these are.
            outputs: What the network says, by hand.
            before: Joint values of the frame before, as they were shown, rad.
        """
        usable = {name: row for name, row in outputs.items() if np.isfinite(row).all()}
        seen = {name: seen_at(views[name], np.array([frame])) for name in usable}
        pasts = {name: self._past(name, before[name]) for name in usable}

        def posed(name: str, asked: Asked | None) -> Float[np.ndarray, " J"]:
            hand, output = self._hands[views[name].model], usable[name][None]
            q = fit_posture(hand, output[0], before[name])[None]
            asks = None if asked is None else asked.in_rows(1)
            return corrected(hand, seen[name], output, q, self._correction, pasts[name], asks)[0]

        def shown(name: str) -> Touches:
            view = views[name]
            there = seen_at(view, np.array([frame - 1]))
            return self._hands[view.model].contact.touches(there, before[name])

        def touches(name: str) -> Touches:
            return self._hands[views[name].model].contact.touches(seen[name], posed(name, None))

        gripping = {name: views[name] for name in usable if self._correction == "grip"}
        asked = self._grips.asked(gripping, frame, shown, touches)
        return {
            name: posed(name, asked.get(name)) if name in usable else np.full_like(q, np.nan)
            for name, q in ((name, before[name]) for name in outputs)
        }

    def _past(self, name: str, before: Float[np.ndarray, " J"]) -> Float[np.ndarray, "1 2 J"]:
        """Postures of the last two frames, rad; NaN in the first frame of a hand."""
        past = np.full((1, 2, len(before)), np.nan)
        if name in self._earlier:
            earlier = self._earlier[name]
            # After its first frame a stream is at rest.
            past[0] = before, before if earlier is None else earlier
        self._earlier[name] = before if name in self._earlier else None
        return past


class FedBackFingers(FittingHands):
    """A network that measures the frame before, with the fingers that were shown then."""

    def __init__(self, network: Network, correction: Correction) -> None:
        super().__init__(correction)
        self._network = network
        self.look_back = HALF_WINDOW + 1
        self.look_ahead = round(network.facts.horizon * RATE) - 1

    def step(self, views: Mapping[str, HandView], before: Postures) -> dict[str, np.ndarray]:
        """Joint values of each hand at the present frame, rad; see ``FingerModel``."""
        now = self.look_back
        measured = np.array([now - 1])
        rows = [
            assembled(
                fixed_features(view, measured), finger_features(view, measured, before[name][None])
            )
            for name, view in views.items()
        ]
        if not rows:
            return {}
        # Both hands at once: reading the weights takes most of the time.
        outputs = self._network.predict(np.concatenate(rows))
        return self.settled(views, now, dict(zip(views, outputs, strict=True)), before)


class TwoPassFingers(FittingHands):
    """A network that says fingers twice, the second time with sensors at those of the first."""

    def __init__(self, network: WindowedNetwork, correction: Correction) -> None:
        super().__init__(correction)
        self._network = network
        self.look_back = HALF_WINDOW
        self.look_ahead = round(network.facts.horizon * RATE)
        self._memory: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        """What both passes have to know of the frames before, by hand."""
        self._rough: dict[str, np.ndarray] = {}
        """Fingers of the first pass at the frame before, by hand."""

    def reset(self, hands: Mapping[str, HandModel]) -> None:
        """Forgets the past; what was made for a hand is kept."""
        super().reset(hands)
        self._memory, self._rough = {}, {}

    def step(self, views: Mapping[str, HandView], before: Postures) -> dict[str, np.ndarray]:
        """Joint values of each hand at the present frame, rad; see ``FingerModel``."""
        said: dict[str, np.ndarray] = {}
        for is_known in (True, False):
            # Hands that have just come have no memory yet, and are asked apart.
            names = [name for name in views if (name in self._memory) == is_known]
            if names:
                some = {name: views[name] for name in names}
                said |= self._said(some, before, is_known=is_known)
        return self.settled(views, self.look_back, said, before)

    def _said(
        self, views: Mapping[str, HandView], before: Postures, *, is_known: bool
    ) -> dict[str, np.ndarray]:
        """What the network says in both passes, by hand."""
        now = np.array([self.look_back])
        kept = [self._memory[name] for name in views] if is_known else []
        fixed = np.stack([fixed_features(view, now) for view in views.values()])
        first = self._network.first(fixed, np.concatenate([m[0] for m in kept]) if kept else None)
        finger = []
        for (name, view), output in zip(views.items(), first.outputs[:, 0], strict=True):
            start = self._rough.get(name, before[name])
            usable = np.isfinite(output).all()
            self._rough[name] = self.fitted(view, output, start) if usable else start
            finger.append(finger_features(view, now, self._rough[name][None]))
        second = self._network.second(
            first.context,
            np.stack(finger),
            np.concatenate([m[1] for m in kept]) if kept else None,
        )
        for n, name in enumerate(views):
            memory = first.memory[n : n + 1], second.memory[n : n + 1]
            if all(np.isfinite(part).all() for part in memory):
                self._memory[name] = memory
            else:
                self._memory.pop(name, None)
        return dict(zip(views, second.outputs[:, 0], strict=True))
