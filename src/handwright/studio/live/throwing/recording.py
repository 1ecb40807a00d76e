"""What was shown, kept to become clips: what nobody changed, from throw to throw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.math.pose import Pose
from handwright.methods.provenance import provenance_of
from handwright.methods.throwing.method import CatchThrow
from handwright.methods.throwing.moments import clip_of
from handwright.physics.throwing.things import target_box
from handwright.studio.live.pieces import Pieces
from handwright.studio.live.throwing.aims import HAND, throwing_arm
from handwright.studio.live.throwing.things import thing_of
from handwright.studio.live.throwing.thrower import RATE, Seen

# Frames below which a piece is not worth a clip.
_LEAST_FRAMES = RATE


class Recording:
    """Frames in which the thing has not fallen."""

    def __init__(self, seed: int) -> None:
        """Nothing yet.

        Args:
            seed: Of the throws, for the clips' record of how they were made.
        """
        self._seed = seed
        self._pieces: Pieces[int, Seen] = Pieces(RATE)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self._pieces.seconds

    def add(self, seen: Seen) -> None:
        """Keeps a frame; what lies on the floor is left out."""
        if not seen.is_lost:
            self._pieces.add(seen.piece, seen)

    def clips(self) -> list[Clip]:
        """A clip of each piece in which nothing was dropped, swapped or put elsewhere."""
        what = "in which nothing falls, and neither the thing nor the box is changed"
        return [self._clip(frames) for _, frames in self._pieces.long_ones(_LEAST_FRAMES, what)]

    def _clip(self, frames: list[Seen]) -> Clip:
        arm, name, place = throwing_arm(), frames[0].thing, frames[0].box
        box = None if place is None else _box_at(place)
        problem = Problem(
            name=f"throwing_{name}",
            times=np.arange(len(frames)) / RATE,
            hands={HAND: arm.model},
            bodies={name: thing_of(name).body},
            start={HAND: arm.base},
            environment=() if box is None else (box,),
            tosses=tuple(seen.toss for seen in frames if seen.toss is not None),
        )
        clip = clip_of(problem, arm, name, [seen.moment for seen in frames])
        return replace(clip, provenance=provenance_of(problem, CatchThrow(), self._seed))


def _box_at(place: np.ndarray) -> EnvironmentBox:
    return replace(target_box(), pose=Pose(place, Pose.identity().wxyz))
