"""The pose of a frame in its parent: position and unit quaternion, batched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from handwright.errors import InvalidValueError
from handwright.math import rotation

# A norm further from one than this is a mistake of the caller, not rounding.
UNIT_TOLERANCE = 1e-6
# Norms this near to one are one to rounding.
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Maps local coordinates to parent coordinates: x_parent = R(wxyz) x_local + position.

    Leading axes are a batch; those of ``position`` and ``wxyz`` are broadcast to each other.
    Norms within 1e-6 of one are accepted and made one. ``pose_world_hand @ pose_hand_tip`` is
    ``pose_world_tip``.

    Attributes:
        position: Origin of the local frame in the parent frame, metres.
        wxyz: Unit quaternion, local to parent.
    """

    position: Float[np.ndarray, "*#batch 3"]
    wxyz: Float[np.ndarray, "*#batch 4"]

    # Lets ``array @ pose`` fail as unsupported instead of treating the pose as a sequence.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        if _is_one_good_pose(self.position, self.wxyz):
            position, wxyz = self.position.copy(), self.wxyz.copy()
            position.setflags(write=False)
            wxyz.setflags(write=False)
            object.__setattr__(self, "position", position)
            object.__setattr__(self, "wxyz", wxyz)
            return
        position, wxyz = _broadcast(self.position, self.wxyz)
        for name, values, unit in (("position", position, "metres"), ("wxyz", wxyz, "numbers")):
            bad = ~np.isfinite(values).all(axis=-1)
            if bad.any():
                raise InvalidValueError(
                    f"Pose: {name}{rotation.first_index(bad)} is {values[bad][0]}; expected "
                    f"finite {unit}. Remove or fill in that sample."
                )
        norm = np.linalg.norm(wxyz, axis=-1)
        bad = np.abs(norm - 1.0) > UNIT_TOLERANCE
        if bad.any():
            raise InvalidValueError(
                f"Pose: wxyz{rotation.first_index(bad)} has norm {norm[bad][0]:.9g}; expected 1 "
                f"within {UNIT_TOLERANCE:g}. Use Pose.normalized(position, wxyz)."
            )
        # Values already unit to rounding are kept bit for bit, so that files round-trip exactly.
        loose = np.abs(norm - 1.0) > 4 * _EPSILON
        wxyz[loose] /= norm[loose][..., None]
        position.setflags(write=False)
        wxyz.setflags(write=False)
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "wxyz", wxyz)

    @classmethod
    def normalized(cls, position: ArrayLike, wxyz: ArrayLike) -> Pose:
        """Pose from quaternions of any nonzero norm."""
        return cls(np.asarray(position), rotation.normalize(np.asarray(wxyz)))

    @classmethod
    def identity(cls, shape: int | tuple[int, ...] = ()) -> Pose:
        """Poses that change nothing, with leading axes ``shape``."""
        leading = (shape,) if isinstance(shape, int) else shape
        return cls(np.zeros((*leading, 3)), np.array([1.0, 0.0, 0.0, 0.0]))

    @classmethod
    def from_matrix(cls, M: ArrayLike) -> Pose:
        """Poses of rigid homogeneous matrices (..., 4, 4) acting on column vectors."""
        M = np.asarray(M, dtype=np.float64)
        if M.ndim < 2 or M.shape[-2:] != (4, 4):
            raise InvalidValueError(
                f"M has shape {M.shape}; expected (..., 4, 4). "
                "Put the homogeneous matrices on the last two axes."
            )
        bad = ~(np.abs(M[..., 3, :] - [0.0, 0.0, 0.0, 1.0]) <= UNIT_TOLERANCE).all(axis=-1)
        if bad.any():
            raise InvalidValueError(
                f"M{rotation.first_index(bad)} has last row {M[bad][0][3]}; expected "
                "(0, 0, 0, 1). Transpose it if it acts on row vectors."
            )
        return cls(M[..., :3, 3], rotation.from_matrix(M[..., :3, :3]))

    @classmethod
    def stack(cls, poses: Sequence[Pose]) -> Pose:
        """Joins poses of one shape along a new first axis."""
        shapes = {pose.shape for pose in poses}
        if len(shapes) != 1:
            given = f"poses of shapes {sorted(shapes)}" if shapes else "no poses"
            raise InvalidValueError(
                f"Pose.stack was given {given}; expected one or more of one shape. "
                "Broadcast them first, or use Pose.identity((0,)) for an empty batch."
            )
        return cls(np.stack([p.position for p in poses]), np.stack([p.wxyz for p in poses]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for a single pose."""
        return self.position.shape[:-1]

    def matrix(self) -> Float[np.ndarray, "*batch 4 4"]:
        """Homogeneous matrices acting on column vectors."""
        M = np.zeros((*self.shape, 4, 4))
        M[..., :3, :3] = rotation.to_matrix(self.wxyz)
        M[..., :3, 3] = self.position
        M[..., 3, 3] = 1.0
        return M

    def __matmul__(self, other: Pose) -> Pose:
        if not isinstance(other, Pose):
            return NotImplemented
        self._check_broadcast("other pose", other.shape)
        # The constructor removes rounding from the norm, so that long chains do not drift.
        return Pose(
            self.position + rotation.rotate(self.wxyz, other.position),
            rotation.multiply(self.wxyz, other.wxyz),
        )

    def inverse(self) -> Pose:
        """Poses that map parent coordinates to local ones."""
        back = rotation.conjugate(self.wxyz)
        return Pose(-rotation.rotate(back, self.position), back)

    def apply(self, points: ArrayLike) -> Float[np.ndarray, "... 3"]:
        """Maps local points (..., 3), metres, to parent coordinates.

        Leading axes broadcast: T poses take T points pairwise. To map N points by each of T
        poses, give the poses an axis for the points: ``pose[:, None].apply(points)`` is (T, N, 3).
        """
        return self.rotate(points) + self.position

    def rotate(self, directions: ArrayLike) -> Float[np.ndarray, "... 3"]:
        """Turns local directions (..., 3) into the parent frame; broadcasts as ``apply``."""
        directions = np.asarray(directions, dtype=np.float64)
        self._check_broadcast("points", directions.shape[:-1])
        return rotation.rotate(self.wxyz, directions)

    def interpolate(self, other: Pose, t: float | ArrayLike) -> Pose:
        """Moves in a straight line and turns along the shortest path, from self to ``other``.

        Args:
            other: Pose at t = 1.
            t: Fractions, broadcast against the batch; outside 0..1 the motion is continued.
        """
        t = np.asarray(t, dtype=np.float64)
        if not np.isfinite(t).all():
            raise InvalidValueError(f"t is {t}; expected finite fractions. Use 0 to 1.")
        self._check_broadcast("other pose", other.shape)
        self._check_broadcast("t", t.shape)
        position = (1.0 - t)[..., None] * self.position + t[..., None] * other.position
        return Pose(position, rotation.slerp(self.wxyz, other.wxyz, t))

    def __getitem__(self, index: Any) -> Pose:  # noqa: ANN401  whatever numpy takes
        parts = index if isinstance(index, tuple) else (index,)
        # The last slice keeps the axis of components out of reach of the index.
        return Pose(self.position[(*parts, slice(None))], self.wxyz[(*parts, slice(None))])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("A single Pose has no length; only a batch of poses has.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Pose]:
        return (self[i] for i in range(len(self)))

    def __reduce__(self) -> tuple[Callable[..., Pose], tuple[np.ndarray, np.ndarray]]:
        # Through the constructor, because pickled arrays come back writable.
        return Pose, (self.position, self.wxyz)

    def _check_broadcast(self, name: str, shape: tuple[int, ...]) -> None:
        try:
            np.broadcast_shapes(self.shape, shape)
        except ValueError as error:
            raise InvalidValueError(
                f"Pose of batch shape {self.shape} cannot be paired with {name} of leading shape "
                f"{shape}; expected shapes that broadcast. To combine every pose with every "
                "item, add an axis: pose[:, None]."
            ) from error


def _is_one_good_pose(position: object, wxyz: object) -> bool:
    """Whether these are arrays of a single pose with nothing to check or change any more.

    Methods that step make poses one by one; numpy takes long to find out that all is well.
    """
    if not (
        isinstance(position, np.ndarray)
        and isinstance(wxyz, np.ndarray)
        and position.shape == (3,)
        and wxyz.shape == (4,)
        and position.dtype == wxyz.dtype == np.float64
    ):
        return False
    norm = math.sqrt(sum([part * part for part in wxyz.tolist()]))
    return abs(norm - 1.0) <= 4 * _EPSILON and all(map(math.isfinite, position.tolist()))


def _broadcast(position: ArrayLike, wxyz: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Writable float64 copies with one common batch shape."""
    position = np.asarray(position, dtype=np.float64)
    wxyz = np.asarray(wxyz, dtype=np.float64)
    try:
        if position.shape[-1:] != (3,) or wxyz.shape[-1:] != (4,):
            raise ValueError
        shape = np.broadcast_shapes(position.shape[:-1], wxyz.shape[:-1])
    except ValueError:
        raise InvalidValueError(
            f"Pose: position has shape {position.shape} and wxyz {wxyz.shape}; expected (..., 3) "
            "and (..., 4) with leading axes that broadcast. Check their order and their lengths."
        ) from None
    return (
        np.broadcast_to(position, (*shape, 3)).copy(),
        np.broadcast_to(wxyz, (*shape, 4)).copy(),
    )
