"""What was shown, kept to become clips: one for each prop, as a clip's bodies stay the same."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.learning.data.stage import hand_model, work_table
from handwright.math.pose import Pose
from handwright.methods.neural.live import LiveFrame as Shown
from handwright.methods.neural.method import NeuralFingers
from handwright.methods.neural.sensing.motion import RATE
from handwright.studio.live.fingers.props import HandledProp
from handwright.studio.live.pieces import Pieces

# Frames below which a piece is not worth a clip.
_LEAST_FRAMES = 20


class Recording:
    """Frames, each with its prop."""

    def __init__(self, model: str) -> None:
        """Nothing yet.

        Args:
            model: Where the network is from, for the clips' record of how they were made.
        """
        self._model = model
        self._pieces: Pieces[HandledProp, Shown] = Pieces(RATE)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self._pieces.seconds

    def add(self, prop: HandledProp, frame: Shown) -> None:
        """Keeps a frame."""
        self._pieces.add(prop, frame)

    def clips(self) -> list[Clip]:
        """A clip for each prop, in the order in which they were there."""
        pieces = self._pieces.long_ones(_LEAST_FRAMES, "with one prop")
        return [self._clip(prop, frames) for prop, frames in pieces]

    def _clip(self, prop: HandledProp, frames: list[Shown]) -> Clip:
        name = prop.name
        times = np.arange(len(frames)) / RATE
        hands = {
            side: HandMotion(
                Pose.stack([frame.hands[side].wrist for frame in frames]),
                np.stack([frame.hands[side].q for frame in frames]),
            )
            for side in frames[0].hands
        }
        body = Pose.stack([frame.object_pose for frame in frames])
        tracks = {side: Track(times, hand.root) for side, hand in hands.items()}
        problem = Problem(
            name=f"learned_fingers_{name}",
            times=times,
            hands={side: hand_model(side) for side in hands},
            bodies={name: prop.body},
            tracks={**tracks, name: Track(times, body)},
            environment=(work_table(),),
        )
        made = NeuralFingers(finish="plain", model=self._model)
        stamp = Provenance(
            problem.name, made.name, dataclasses.asdict(made), 0, version("handwright")
        )
        return Clip(problem, times, hands, {name: body}, ContactTrack.empty(), stamp)
