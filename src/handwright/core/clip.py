"""The one output of every method: a motion, its contacts, and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from handwright.core.contact import ContactTrack
from handwright.core.frozen import freeze_arrays
from handwright.core.problem import Problem
from handwright.core.track import place_problems, time_problems
from handwright.errors import refuse
from handwright.math.pose import Pose

# Of a joint, rad; m for a slide.
_LARGEST_ANGLE = 1e4


@dataclass(frozen=True, slots=True, eq=False)
class KeptDigit:
    """One digit over N frames of a motion; ``ContactSampling.keeping`` makes it from a clip."""

    hand: str
    digit: str
    times: Float[np.ndarray, " N"]
    """Times of the frames, s."""
    q: Float[np.ndarray, "N J"]
    """Joint values of the whole hand, rad; those of the digit count."""
    body: tuple[str, ...]
    """What the digit touches in each frame, or an empty name."""
    link: Int[np.ndarray, " N"]
    """Link of its foremost contact."""
    local: Float[np.ndarray, "N 3"]
    """Position of that contact in the link's frame, m."""
    point: Float[np.ndarray, "N 3"]
    """Position of that contact in the body's frame, m."""
    normal: Float[np.ndarray, "N 3"]
    """Normal of that contact in the body's frame, pointing out of the body."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class GuideHand:
    """One hand over N frames of a guide; ``ContactSampling.guided_by`` makes it from a clip."""

    hand: str
    bodies: tuple[str, ...]
    """Names of the bodies of the clip."""
    times: Float[np.ndarray, " N"]
    """Times of the frames, s."""
    wrist: Float[np.ndarray, "N 3"]
    """Positions of the hand's root in the world, m: a guide is for the same tracks."""
    q: Float[np.ndarray, "N J"]
    """Joint values, rad."""
    weight: float
    """How much the guide counts, 1 for as usual."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """How a clip was made, so that it can be made again."""

    scene: str
    """Name of the scene, or of the problem."""
    method: str
    """Name of the method in ``METHODS``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the method; plain values that JSON can hold."""
    seed: int = 0
    version: str = ""
    """Of this package."""
    kept: tuple[KeptDigit, ...] = ()
    """Parts of an earlier motion that the method was told to keep. They are arrays, and therefore
    not among its settings."""
    guide: tuple[GuideHand, ...] = ()
    """The motion that the method was told to stay near to, for each hand."""
    is_certified: bool = False
    """Whether ``synthesize`` judged the motion and let it pass. False if it was asked not to judge
    (``certify=False``, for research), for motions that the certificate refused, and for those that
    were made in other ways."""


@dataclass(frozen=True, slots=True, eq=False)
class HandMotion:
    """A hand over the frames of a clip."""

    root: Pose
    """(T,) poses of the root link in the world."""
    q: Float[np.ndarray, "T J"]
    """Joint values, rad."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """A motion of the hands and bodies of a problem."""

    problem: Problem
    """What it answers: models, shapes, surroundings; its own tracks need not be followed."""
    times: Float[np.ndarray, " T"]
    """s."""
    hands: Mapping[str, HandMotion]
    """By the names of the problem's hands."""
    bodies: Mapping[str, Pose]
    """(T,) poses in the world, by the names of the problem's bodies."""
    contacts: ContactTrack
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze_arrays(self)
        object.__setattr__(self, "hands", MappingProxyType(dict(self.hands)))
        object.__setattr__(self, "bodies", MappingProxyType(dict(self.bodies)))
        problems = self._problems()
        refuse(f"Clip of '{self.problem.name}'", problems)

    def _problems(self) -> list[str]:
        problems = time_problems(self.times)
        count = len(self.times)
        for kind, have, want in (
            ("hands", set(self.hands), set(self.problem.hands)),
            ("bodies", set(self.bodies), set(self.problem.bodies)),
        ):
            if have != want:
                problems.append(f"{kind} are {sorted(have)}, expected {sorted(want)}")
        for name, motion in self.hands.items():
            if motion.root.shape != (count,):
                problems.append(f"hand '{name}' has {motion.root.shape} roots for {count} frames")
            model = self.problem.hands.get(name)
            if model is not None and motion.q.shape != (count, model.num_joints):
                problems.append(
                    f"hand '{name}' has joint values of shape {motion.q.shape}, "
                    f"expected ({count}, {model.num_joints})"
                )
            # Not "above", so that NaN is a problem too.
            if not (np.abs(motion.q) <= _LARGEST_ANGLE).all():
                problems.append(
                    f"hand '{name}' has joint values that are NaN or infinite, or above "
                    f"{_LARGEST_ANGLE:g}"
                )
            problems += place_problems(f"hand '{name}'", motion.root)
        for name, pose in self.bodies.items():
            problems += place_problems(f"body '{name}'", pose)
        problems += [
            f"body '{name}' has {pose.shape} poses for {count} frames"
            for name, pose in self.bodies.items()
            if pose.shape != (count,)
        ]
        if len(self.contacts) and int(self.contacts.frame[-1]) >= count:
            problems.append(f"a contact is in frame {int(self.contacts.frame[-1])} of {count}")
        return problems

    def __repr__(self) -> str:
        made = self.provenance
        return (
            f"Clip({made.scene!r} by {made.method!r}, {self.num_frames} frames, "
            f"{self.fps:.3g} a second, hands {list(self.hands)}, bodies {list(self.bodies)}, "
            f"{len(self.contacts)} contacts)"
        )

    @property
    def middle(self) -> Float[np.ndarray, "3"]:
        """Mean place of hands and bodies over all frames, m."""
        poses = [*(motion.root for motion in self.hands.values()), *self.bodies.values()]
        return np.mean([pose.position.mean(axis=0) for pose in poses], axis=0)

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.times)

    @property
    def fps(self) -> float:
        """Mean frame rate, 1/s; 0 for a single frame."""
        span = float(self.times[-1] - self.times[0])
        return (self.num_frames - 1) / span if span > 0 else 0.0
