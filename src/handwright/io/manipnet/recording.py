"""A recording of two hands and an object as the nouns of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.hand import HandModel, Side
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry import floor
from handwright.io.axes import to_z_up
from handwright.io.manipnet.hand import JointMotion, RecordedHand, reproduce
from handwright.io.manipnet.skin import RecordedSkin

SIDES: tuple[Side, ...] = ("left", "right")


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recording, or a part of it, in the axes and hands of this package (Z up, m, s).

    Frames are counted as in the file: the first that is held is ``start``.
    """

    name: str
    fps: float
    """Of the file, 1/s."""
    start: int
    """Number, in the file, of the first frame held."""
    body: RigidBody
    tracks: Mapping[str, Track]
    """Of the object, by the body's name, and of the wrists that were recorded, by side. Times
    are those of the file."""
    models: Mapping[str, HandModel]
    """Hands, by side: those of the subject where the fingers were recorded, else average ones."""
    fingers: Mapping[str, RecordedHand]
    """Recorded joints, by side; empty if only wrists were recorded."""
    skins: Mapping[str, RecordedSkin]
    """By side; for the hands whose fingers were recorded."""
    joints: Mapping[str, JointMotion]
    """Frames of the recorded skeleton in the world of the file, which is Y up, by side."""
    table: float | None
    """Height of the table, m; None if the object never rests."""
    repeated: int
    """Frames at the end of the file that only repeat the last one, and were left out."""

    def __str__(self) -> str:
        """What was recorded, in a few lines."""
        track = self.tracks[self.body.name]
        table = "none seen" if self.table is None else f"at {self.table:.3f} m"
        lines = [
            f"ManipNet recording {self.name}: frames {self.start} to {self.stop}, "
            f"{track.duration:.3f} s at {self.fps:g} Hz",
            f"body {self.body.name}: {len(self.body.faces)} faces",
        ]
        for side in self.sides:
            have = "wrist and fingers" if side in self.fingers else "wrist only"
            lines.append(f"hand {side}: {have}")
        lines.append(f"table: {table}")
        if self.repeated:
            lines.append(f"left out at the end: {self.repeated} frames that repeat the last one")
        return "\n".join(lines)

    def facts(self) -> dict[str, Any]:
        """What is in the recording, as JSON holds it."""
        return {
            "kind": "recording",
            "name": self.name,
            "start": self.start,
            "stop": self.stop,
            "fps": self.fps,
            "duration": self.tracks[self.body.name].duration,
            "body": {"name": self.body.name, "faces": len(self.body.faces)},
            "hands": {side: {"has_fingers": side in self.fingers} for side in self.sides},
            "table_height": self.table,
            "repeated_frames": self.repeated,
        }

    @property
    def stop(self) -> int:
        """Number, in the file, of the frame after the last one held."""
        return self.start + len(self.tracks[self.body.name])

    @property
    def sides(self) -> tuple[Side, ...]:
        """Hands whose wrists were recorded."""
        return tuple(side for side in SIDES if side in self.models)

    def frames(self, start: int | None, stop: int | None, fps: float) -> slice:
        """Where frames of the file are in the arrays held here, at a lower rate.

        Args:
            start: First frame, counted as in the file; the first held if None.
            stop: Frame after the last; that after the last held if None.
            fps: Wanted rate; must divide the file's.
        """
        first = self.start if start is None else start
        last = self.stop if stop is None else stop
        if not self.start <= first < last <= self.stop:
            raise InvalidValueError(
                f"{self.name}: frames {first} to {last} were asked for, but {self.start} to "
                f"{self.stop} are held. Choose a part of these; stop is not included."
            )
        stride = round(self.fps / fps) if 0.0 < fps <= self.fps else 0
        if stride < 1 or abs(stride * fps - self.fps) > 1e-6 * self.fps:
            raise InvalidValueError(
                f"{self.name}: recorded at {self.fps:g} Hz and asked for at {fps:g}; expected "
                f"{self.fps:g} divided by a whole number, such as {self.fps / 2:g}."
            )
        return slice(first - self.start, last - self.start, stride)

    def problem(
        self,
        start: int | None = None,
        stop: int | None = None,
        *,
        sides: Sequence[Side] | None = None,
        fps: float = 60.0,
    ) -> Problem:
        """Wrists and object as recorded, fingers to be found.

        Args:
            start: First frame, counted as in the file.
            stop: Frame after the last.
            sides: Which hands; all that were recorded if None.
            fps: Rate of the problem, 1/s.
        """
        chosen = self.sides if sides is None else tuple(sides)
        for side in chosen:
            if side not in self.models:
                raise UnknownNameError(f"hand of recording '{self.name}'", side, self.models)
        cut = self.frames(start, stop, fps)
        own = self.body.name
        times = self.tracks[own].times[cut]
        times = times - times[0]
        return Problem(
            f"{self.name} {cut.start + self.start}-{cut.stop + self.start}",
            times,
            {side: self.models[side] for side in chosen},
            {own: self.body},
            tracks={name: Track(times, self.tracks[name].pose[cut]) for name in (*chosen, own)},
            environment=() if self.table is None else (floor(self.table),),
        )

    def clip(
        self,
        start: int | None = None,
        stop: int | None = None,
        *,
        sides: Sequence[Side] | None = None,
        fps: float = 60.0,
    ) -> Clip:
        """The recorded motion, its fingers followed by inverse kinematics; without contacts.

        Args:
            start: First frame, counted as in the file.
            stop: Frame after the last.
            sides: Which hands; all that were recorded if None.
            fps: Rate of the clip, 1/s.
        """
        problem = self.problem(start, stop, sides=sides, fps=fps)
        without = [side for side in problem.hands if side not in self.fingers]
        if without:
            raise InvalidValueError(
                f"{self.name}: fingers of the {' and '.join(without)} hand were not recorded. "
                "Use problem() and a method that finds them."
            )
        cut = self.frames(start, stop, fps)
        motions = {
            side: HandMotion(
                problem.tracks[side].pose, reproduce(model, self.fingers[side].cut(cut))[0]
            )
            for side, model in problem.hands.items()
        }
        settings = {
            "start": cut.start + self.start,
            "stop": cut.stop + self.start,
            "fps": self.fps / cut.step,
        }
        own = self.body.name
        return Clip(
            problem,
            problem.times,
            motions,
            {own: problem.tracks[own].pose},
            ContactTrack.empty(),
            Provenance(self.name, "recording", settings, version=version("handwright")),
        )

    def skin_vertices(self, side: Side, frames: slice) -> Float[np.ndarray, "T V 3"]:
        """Vertices of the recorded skin in the world, m, at frames from ``frames()``."""
        if side not in self.skins:
            raise UnknownNameError(f"recorded skin of '{self.name}'", side, self.skins)
        motion = self.joints[side]
        return to_z_up(self.skins[side].posed(motion.rotations[frames], motion.positions[frames]))
