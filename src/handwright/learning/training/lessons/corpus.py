"""Motions as a network is taught by them: every hand as a right one, with features and targets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Float16, Float32, Int

from handwright.core.clip import Clip
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.methods.neural.fitting import Correction, FittedHand, corrected, seen_at
from handwright.methods.neural.sensing.features import (
    assembled,
    finger_features,
    fixed_features,
    pose_of,
    targets,
)
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.sensors import FINGER_SIZE, POSE_SIZE
from handwright.methods.neural.sensing.view import HandView, clip_views

_CHUNK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """One hand of one motion."""

    name: str
    view: HandView
    q: Float[np.ndarray, "T J"]
    """Joint values to learn, rad."""

    def __len__(self) -> int:
        return len(self.view)


def lessons_of(clip: Clip) -> list[Lesson]:
    """The hands of a motion, each seen as a right one.

    A motion and its mirror image give the same lessons, so there is nothing to be doubled.

    Args:
        clip: A motion at 60 frames a second.
    """
    if abs(clip.fps - RATE) > 1e-3 * RATE:
        raise InvalidValueError(
            f"Clip of '{clip.problem.name}' has {clip.fps:.4g} frames a second; expected "
            f"{RATE:g}. Resample it first: handwright.io.clip.resample."
        )
    name = clip.provenance.scene or clip.problem.name
    return [
        Lesson(f"{name} {hand}", view, clip.hands[hand].q)
        for hand, view in clip_views(clip).items()
    ]


class Corpus:
    """Lessons of one split, with all that does not change while a network learns.

    Frames of all lessons are numbered one after the other. Fixed features are kept in half
    precision: they are by far the largest part, and their unit in the last place is far below what
    sensors and trackers resolve.

    Args:
        lessons: At least one.
    """

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        if not lessons:
            raise InvalidValueError("A corpus has no lessons; expected one motion or more.")
        self.lessons = tuple(lessons)
        counts = {lesson.view.model.num_joints for lesson in lessons}
        if len(counts) != 1:
            raise InvalidValueError(
                f"Hands have {sorted(counts)} joints; expected one kind of hand in all motions. "
                "Train one network for each."
            )
        lengths = np.array([len(lesson) for lesson in lessons])
        self.owner: Int[np.ndarray, " N"] = np.repeat(np.arange(len(lessons)), lengths)
        self.start: Int[np.ndarray, " L"] = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self.frame: Int[np.ndarray, " N"] = np.arange(lengths.sum()) - self.start[self.owner]
        self.q: Float[np.ndarray, "N J"] = np.concatenate([lesson.q for lesson in lessons])
        self.fixed: Float16[np.ndarray, "N 1336"] = np.concatenate(
            [fixed_features(lesson.view).astype(np.float16) for lesson in lessons]
        )
        self.targets: Float32[np.ndarray, "N 220"] = np.concatenate(
            [targets(lesson.view, np.arange(len(lesson)), np.array(lesson.q)) for lesson in lessons]
        )
        # Motions from files have hands of their own; those that are alike are fitted together.
        models = {_shape_of(lesson.view.model): lesson.view.model for lesson in lessons}
        self._hands = [FittedHand(model) for model in models.values()]
        kinds = {shape: number for number, shape in enumerate(models)}
        self._hand: Int[np.ndarray, " L"] = np.array(
            [kinds[_shape_of(lesson.view.model)] for lesson in lessons]
        )

    def __len__(self) -> int:
        """Frames of all lessons."""
        return len(self.owner)

    @cached_property
    def is_last(self) -> Bool[np.ndarray, " N"]:
        """Whether each frame is the last of its lesson."""
        found = np.zeros(len(self), dtype=bool)
        found[self.start[1:] - 1] = found[-1] = True
        return found

    @cached_property
    def has_next(self) -> Int[np.ndarray, " M"]:
        """Frames that are not the last of their lessons."""
        return np.flatnonzero(~self.is_last)

    @cached_property
    def taught_finger(self) -> Float16[np.ndarray, "N 1020"]:
        """Features of the taught fingers, measured once."""
        found = np.zeros((len(self), FINGER_SIZE), dtype=np.float16)
        for start in range(0, len(self), _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, len(self)))
            found[rows] = self.finger_features(rows, self.q[rows])
        return found

    @cached_property
    def digest(self) -> str:
        """Of all that is learned: equal for equal data."""
        text = hashlib.sha256()
        for array in (self.fixed, self.q, self.targets, self.start):
            text.update(np.ascontiguousarray(array).tobytes())
        return text.hexdigest()[:16]

    def finger_features(
        self, rows: Int[np.ndarray, " M"], q: Float[np.ndarray, "M J"]
    ) -> Float32[np.ndarray, "M 1020"]:
        """Sensors of frames, read at joint values.

        Args:
            rows: Numbers of the frames.
            q: Joint values, rad.
        """
        found = np.zeros((len(rows), FINGER_SIZE), dtype=np.float32)
        for owner, chosen in _grouped(self.owner[rows]):
            view = self.lessons[owner].view
            found[chosen] = finger_features(view, self.frame[rows[chosen]], q[chosen])
        return found

    def features(
        self, rows: Int[np.ndarray, " M"], q: Float[np.ndarray, "M J"] | None = None
    ) -> Float32[np.ndarray, "M 2356"]:
        """All features of frames.

        Args:
            rows: Numbers of the frames.
            q: Joint values, rad; the taught ones if None.
        """
        measured = self.taught_finger[rows] if q is None else self.finger_features(rows, q)
        return assembled(self.fixed[rows].astype(np.float32), measured.astype(np.float32))

    def fitted(
        self,
        rows: Int[np.ndarray, " M"],
        outputs: Float32[np.ndarray, "M 220"],
        start: Float[np.ndarray, "M J"],
    ) -> Float[np.ndarray, "M J"]:
        """Joint values that come nearest to outputs, rad.

        Args:
            rows: Frames, which tell the hands.
            outputs: Of a network.
            start: Joint values to start from, rad.
        """
        q = np.array(start)
        for hand, chosen in _grouped(self._hand[self.owner[rows]]):
            q[chosen] = self._hands[hand].fit(outputs[chosen].astype(float), q[chosen])
        return q

    def corrected(
        self,
        rows: Int[np.ndarray, " M"],
        outputs: Float32[np.ndarray, "M 220"],
        q: Float[np.ndarray, "M J"],
        mode: Correction,
        past: Float[np.ndarray, "M 2 J"],
    ) -> Float[np.ndarray, "M J"]:
        """Fitted joint values with their contacts set right, rad.

        Args:
            rows: Frames, which tell hands and objects.
            outputs: Of a network.
            q: Joint values that were fitted to them, rad.
            mode: How.
            past: Of the last frame and the one before it, rad; NaN where there is none.
        """
        if mode == "none":
            return q
        found = np.zeros_like(q)
        for owner, chosen in _grouped(self.owner[rows]):
            hand = self._hands[self._hand[owner]]
            view = seen_at(self.lessons[owner].view, self.frame[rows[chosen]])
            said = outputs[chosen].astype(float)
            found[chosen] = corrected(hand, view, said, q[chosen], mode, past[chosen])
        return found

    def poses(
        self, rows: Int[np.ndarray, " M"], q: Float[np.ndarray, "M J"]
    ) -> Float32[np.ndarray, "M 198"]:
        """Places and directions of the joints at joint values, rad."""
        found = np.zeros((len(rows), POSE_SIZE), dtype=np.float32)
        for hand, chosen in _grouped(self._hand[self.owner[rows]]):
            found[chosen] = pose_of(self._hands[hand].model, q[chosen])
        return found

    def within_limits(
        self, rows: Int[np.ndarray, " M"], q: Float[np.ndarray, "M J"]
    ) -> Float[np.ndarray, "M J"]:
        """The nearest joint values that the hands of frames can have, rad."""
        found = np.zeros_like(q)
        for hand, chosen in _grouped(self._hand[self.owner[rows]]):
            found[chosen] = self._hands[hand].model.joints.clamp(q[chosen])
        return found


def _shape_of(model: HandModel) -> tuple[object, ...]:
    """Equal for hands that fits cannot tell apart."""
    tree = model.joints
    arrays = (tree.offset, tree.axis, tree.lower, tree.upper, model.frames.position)
    return (model.side, *(array.tobytes() for array in arrays))


def _grouped(keys: Int[np.ndarray, " M"]) -> list[tuple[int, Int[np.ndarray, " _"]]]:
    """Places of equal keys, key by key."""
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    return [(int(keys[part[0]]), part) for part in np.split(order, cuts) if len(part)]
