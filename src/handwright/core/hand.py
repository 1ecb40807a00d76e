"""The hand as data: a joint tree, and everything that rides on its links.

Link 0 is the root (the wrist, or the shoulder when the model has an arm); joint ``j`` moves link
``j + 1``. With every joint at zero all link frames are parallel to the root's, so a joint is an
offset, an axis and nothing else, and a point of a link has the coordinates of the flat hand
relative to that link's origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.frozen import freeze_arrays, read_only_copy
from handwright.core.skin import SkinShape
from handwright.errors import InvalidValueError, UnknownNameError, refuse

Side = Literal["right", "left", "none"]
LARGEST_LENGTH = 100.0
"""Of anything in a hand or its arm, m."""
LIMIT_SLACK = 1e-9
"""How far a named pose or a posture may be over a joint's limit, rad (m for a slide)."""


@dataclass(frozen=True, slots=True, eq=False)
class JointTree:
    """Hinges and slides in an order in which parents come first."""

    names: tuple[str, ...]
    parent: Int[np.ndarray, " J"]
    """Link that each joint is mounted on, 0 <= parent[j] <= j."""
    offset: Float[np.ndarray, "J 3"]
    """Joint origin in the parent link's frame, m."""
    axis: Float[np.ndarray, "J 3"]
    """Unit direction of a positive turn (right-hand rule) or slide, in the link's frame."""
    lower: Float[np.ndarray, " J"]
    """Lower limit, rad (m for a slide)."""
    upper: Float[np.ndarray, " J"]
    """Upper limit, rad (m for a slide)."""
    is_slide: Bool[np.ndarray, " J"]
    """True for a joint that slides instead of turning."""
    leader: Int[np.ndarray, " J"]
    """Joint that this one follows, or -1 for a joint of its own."""
    ratio: Float[np.ndarray, " J"]
    """A follower's value is ratio * leader + bias."""
    bias: Float[np.ndarray, " J"]
    """See ``ratio``; rad (m for a slide)."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        count = len(self.names)
        problems = [
            f"{item.name} has {len(getattr(self, item.name))} rows"
            for item in fields(self)
            if len(getattr(self, item.name)) != count
        ]
        if problems:
            raise InvalidValueError(
                f"JointTree with {count} names: {'; '.join(problems)}; expected {count} each."
            )
        numbers = (self.offset, self.axis, self.lower, self.upper, self.ratio, self.bias)
        if not all(np.isfinite(array).all() for array in numbers):
            raise InvalidValueError(
                "JointTree: an offset, axis, limit, ratio or bias is NaN or infinite; "
                "expected numbers. Give joints without limits half a turn either way."
            )
        order = np.arange(count)
        if np.any(self.parent < 0) or np.any(self.parent > order):
            raise InvalidValueError(
                "JointTree: parents must come before their children "
                f"(0 <= parent[j] <= j); got {self.parent.tolist()}."
            )
        if np.any(self.lower > self.upper):
            bad = [self.names[j] for j in np.flatnonzero(self.lower > self.upper)]
            raise InvalidValueError(f"JointTree: lower limit above upper limit at {bad}.")
        if np.any(np.abs(np.linalg.norm(self.axis, axis=-1) - 1.0) > 1e-9):
            raise InvalidValueError("JointTree: every axis must have length 1 within 1e-9.")
        if np.any(self.leader < -1) or np.any(self.leader >= count):
            raise InvalidValueError(
                f"JointTree: leaders are {self.leader.tolist()}; expected joints 0 to {count - 1}, "
                "or -1 for a joint of its own."
            )
        followers = self.leader >= 0
        if np.any(self.leader[self.leader[followers]] >= 0):
            raise InvalidValueError("JointTree: a joint may not follow a follower.")

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Index of the joint with this name."""
        if name not in self.names:
            raise UnknownNameError("joint", name, self.names)
        return self.names.index(name)

    def clamp(self, q: Float[np.ndarray, "*B J"]) -> Float[np.ndarray, "*B J"]:
        """Nearest joint values that obey the limits, with followers set from their leaders."""
        clamped = np.clip(q, self.lower, self.upper)
        follows = self.leader >= 0
        led = clamped[..., self.leader] * self.ratio + self.bias
        return np.where(follows, np.clip(led, self.lower, self.upper), clamped)

    def random(
        self, rng: np.random.Generator, shape: tuple[int, ...] = ()
    ) -> Float[np.ndarray, "*B J"]:
        """Joint values drawn uniformly between the limits."""
        return self.clamp(rng.uniform(self.lower, self.upper, (*shape, len(self))))


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Named frames fixed to links, such as the 26 joints of OpenXR."""

    names: tuple[str, ...]
    link: Int[np.ndarray, " K"]
    position: Float[np.ndarray, "K 3"]
    """Origin in the link's frame, m."""
    wxyz: Float[np.ndarray, "K 4"]
    """Orientation in the link's frame."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def index(self, name: str) -> int:
        """Index of the frame with this name."""
        if name not in self.names:
            raise UnknownNameError("frame", name, self.names)
        return self.names.index(name)


@dataclass(frozen=True, slots=True, eq=False)
class SurfacePoint:
    """A point of the hand's surface with its outward normal, in the frame of a link."""

    link: int
    position: Float[np.ndarray, "3"]
    """m."""
    normal: Float[np.ndarray, "3"]
    """Unit length, out of the hand."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Digit:
    """A thumb or finger: its own joints, from the palm outwards, and its working surface."""

    name: str
    joints: tuple[int, ...]
    tip: SurfacePoint
    """Foremost point; its normal points along the last bone."""
    pad: SurfacePoint
    """Middle of the soft pad that touches in a precision grip."""
    nail: SurfacePoint | None
    """Middle of the nail; None for hands without nails."""


@dataclass(frozen=True, slots=True, eq=False)
class Capsules:
    """Collision shapes: spheres swept along straight segments."""

    names: tuple[str, ...]
    link: Int[np.ndarray, " C"]
    start: Float[np.ndarray, "C 3"]
    """One end of the axis in the link's frame, m."""
    end: Float[np.ndarray, "C 3"]
    """Other end of the axis in the link's frame, m."""
    radius: Float[np.ndarray, " C"]
    """m."""
    digit: Int[np.ndarray, " C"]
    """Index of the digit that the capsule belongs to, or -1 for palm and arm."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """Sensor points spread over the grasping side of the hand."""

    link: Int[np.ndarray, " S"]
    position: Float[np.ndarray, "S 3"]
    """In the link's frame, m."""
    normal: Float[np.ndarray, "S 3"]
    """Unit length, out of the hand."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.link)


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """Inertial properties of every link, the root first."""

    mass: Float[np.ndarray, " L"]
    """kg."""
    center: Float[np.ndarray, "L 3"]
    """Centre of mass in the link's frame, m."""
    inertia: Float[np.ndarray, "L 3 3"]
    """About the centre of mass, along the link's axes, kg m^2."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HandModel:
    """A hand, with or without an arm: what every method poses and every judge measures."""

    name: str
    side: Side
    joints: JointTree
    frames: Frames
    digits: tuple[Digit, ...]
    capsules: Capsules
    sites: Sites
    masses: Masses
    wrist_link: int
    """Link that carries the wrist frame: 0 for a bare hand, the last arm link otherwise."""
    poses: Mapping[str, Float[np.ndarray, " J"]] = field(default_factory=dict)
    """Named joint values, rad."""
    skin: SkinShape | None = None
    """Description from which the skin mesh is made; None for hands drawn as capsules."""

    def __post_init__(self) -> None:
        frozen = {name: read_only_copy(q) for name, q in self.poses.items()}
        object.__setattr__(self, "poses", MappingProxyType(frozen))
        refuse(f"Hand '{self.name}'", [*self._part_problems(), *self._pose_problems()])

    def _part_problems(self) -> list[str]:
        num_links = self.num_links
        problems = []
        if len(self.masses.mass) != num_links:
            problems.append(f"{len(self.masses.mass)} masses for {num_links} links")
        points = [(digit.tip, digit.pad, digit.nail) for digit in self.digits]
        for what, links in (
            ("frame", self.frames.link),
            ("capsule", self.capsules.link),
            ("site", self.sites.link),
            (
                "tip, pad or nail",
                np.array([p.link for row in points for p in row if p is not None]),
            ),
            ("wrist frame", np.array([self.wrist_link])),
        ):
            if len(links) and (links.min() < 0 or links.max() >= num_links):
                problems.append(f"a {what} sits on a link outside 0..{num_links - 1}")
        problems += [
            f"digit '{digit.name}' has joints {digit.joints}, expected 0..{num_links - 2}"
            for digit in self.digits
            if not all(0 <= joint < len(self.joints) for joint in digit.joints)
        ]
        owner = self.capsules.digit
        if len(owner) and (owner.min() < -1 or owner.max() >= len(self.digits)):
            problems.append(f"a capsule belongs to a digit outside 0..{len(self.digits) - 1}")
        lengths = (
            self.joints.offset, self.frames.position, self.sites.position, self.masses.center,
            self.capsules.start, self.capsules.end, self.capsules.radius,
        )  # fmt: skip
        # Not "above", so that NaN is a problem too.
        if not all((np.abs(row) <= LARGEST_LENGTH).all() for row in lengths):
            problems.append(f"a length is not a number, or above {LARGEST_LENGTH:g} m")
        if not np.all(self.capsules.radius > 0.0):
            problems.append("a capsule's radius is not above zero")
        if not (np.all(self.masses.mass >= 0.0) and np.isfinite(self.masses.inertia).all()):
            problems.append("a mass is negative, or a mass or inertia is not a number")
        return problems

    def _pose_problems(self) -> list[str]:
        problems = [
            f"pose '{name}' has shape {q.shape}, expected ({len(self.joints)},)"
            for name, q in self.poses.items()
            if q.shape != (len(self.joints),)
        ]
        problems += [
            f"pose '{name}' breaks the limits of {self.joints.names[int(np.argmax(excess))]}"
            for name, q in self.poses.items()
            if q.shape == (len(self.joints),)
            # Not "above", so that NaN is a problem too.
            and not (excess := np.maximum(self.joints.lower - q, q - self.joints.upper)).max()
            <= LIMIT_SLACK
        ]
        return problems

    def __repr__(self) -> str:
        return (
            f"HandModel({self.name!r}, {self.num_joints} joints, {len(self.digits)} digits, "
            f"{len(self.capsules)} capsules)"
        )

    @property
    def num_joints(self) -> int:
        """Number of joint values."""
        return len(self.joints)

    @property
    def num_links(self) -> int:
        """Number of links, the root included."""
        return len(self.joints) + 1

    def pose(self, name: str) -> Float[np.ndarray, " J"]:
        """Joint values of a named pose."""
        if name not in self.poses:
            raise UnknownNameError(f"pose of hand '{self.name}'", name, self.poses)
        return self.poses[name]

    def digit(self, name: str) -> Digit:
        """The digit with this name."""
        for digit in self.digits:
            if digit.name == name:
                return digit
        raise UnknownNameError(
            f"digit of hand '{self.name}'", name, [digit.name for digit in self.digits]
        )

    def with_limits(self, limits: Mapping[str, tuple[float, float]]) -> HandModel:
        """The same hand with other limits, rad, for the named joints.

        Limits of a follower also narrow those of its leader, which could not go further.
        """
        tree = self.joints
        given = np.stack([tree.lower, tree.upper], axis=1)
        for name, limit in limits.items():
            given[tree.index(name)] = limit
        lower, upper = narrowed_leaders(
            given, tree.leader, tree.ratio, tree.bias, names=tree.names, owner=self.name
        ).T
        joints = replace(tree, lower=lower, upper=upper)
        poses = {name: joints.clamp(q) for name, q in self.poses.items()}
        return replace(self, joints=joints, poses=poses)


def narrowed_leaders(
    limits: Float[np.ndarray, "J 2"],
    leader: Int[np.ndarray, " J"],
    ratio: Float[np.ndarray, " J"],
    bias: Float[np.ndarray, " J"],
    *,
    names: tuple[str, ...],
    owner: str,
) -> Float[np.ndarray, "J 2"]:
    """Limits within which leaders keep all their followers within limits, as a real linkage does.

    Args:
        limits: Least and largest value of each joint, rad or m.
        leader: Joint that each joint follows; -1 for a joint of its own.
        ratio: A follower's value for each unit of its leader's.
        bias: A follower's value at its leader's zero, rad or m.
        names: Of the joints.
        owner: What the joints belong to, for messages.
    """
    narrowed = limits.copy()
    for follower in np.flatnonzero((leader >= 0) & (ratio != 0.0)):
        ends = np.sort((limits[follower] - bias[follower]) / ratio[follower])
        own = narrowed[leader[follower]]
        low, high = max(own[0], ends[0]), min(own[1], ends[1])
        if low > high:
            raise InvalidValueError(
                f"'{owner}': '{names[follower]}' follows '{names[leader[follower]]}', but there is "
                f"no place for both within their limits: the leader has {own.tolist()}, the "
                f"follower needs it in {ends.tolist()}. Give other limits or another coupling."
            )
        narrowed[leader[follower]] = low, high
    return narrowed
