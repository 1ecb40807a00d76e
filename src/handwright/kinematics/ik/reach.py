"""Where fingertips can go: reachable volumes as voxels in the frame of the hand's root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel, SurfacePoint
from handwright.errors import InvalidValueError
from handwright.kinematics.fk import link_poses


@dataclass(frozen=True, slots=True, eq=False)
class ReachVolume:
    """Voxels that a digit's pad can get into, with one posture that takes it to each."""

    digit: str
    origin: Float[np.ndarray, "3"]
    """Corner of voxel (0, 0, 0), m, in the root's frame."""
    spacing: float
    """Edge of a voxel, m."""
    posture: Int32[np.ndarray, "nx ny nz"]
    """Row of ``q`` that reaches the voxel, or -1 where nothing does."""
    q: Float[np.ndarray, "N J"]
    """rad."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def volume(self) -> float:
        """m^3."""
        return float(np.count_nonzero(self.posture >= 0) * self.spacing**3)

    def postures_at(self, points: Float[np.ndarray, "P 3"]) -> Int32[np.ndarray, " P"]:
        """Rows of ``q`` that bring the pad into the voxels of these points, or -1."""
        cell = np.floor((points - self.origin) / self.spacing).astype(np.int64)
        inside = np.all((cell >= 0) & (cell < self.posture.shape), axis=-1)
        safe = np.where(inside[:, None], cell, 0)
        rows = self.posture[safe[:, 0], safe[:, 1], safe[:, 2]]
        return np.where(inside, rows, np.int32(-1))

    def contains(self, points: Float[np.ndarray, "P 3"]) -> Bool[np.ndarray, " P"]:
        """Whether the pad can come within a voxel of these points, given in the root's frame."""
        return self.postures_at(points) >= 0


def reachable_volume(
    model: HandModel,
    digit: str,
    *,
    point: SurfacePoint | None = None,
    spacing: float = 0.005,
    num_samples: int = 60_000,
    seed: int = 0,
) -> ReachVolume:
    """Samples a digit's joints between their limits and marks the voxels that its pad visits.

    Other joints, an arm's among them, stay at the named pose ``rest``.

    Args:
        model: The hand.
        digit: Name of the digit.
        point: Of one of its links, instead of its pad.
        spacing: Edge of a voxel, m.
        num_samples: Number of random postures; one voxel of a finger sees a few dozen.
        seed: Of the random postures.
    """
    if spacing <= 0 or num_samples < 1:
        raise InvalidValueError(
            f"Reachable volume: spacing {spacing:g} m and {num_samples} samples; "
            "expected both above zero."
        )
    row = [item.name for item in model.digits].index(model.digit(digit).name)
    own = list(model.digits[row].joints)
    rng = np.random.default_rng(seed)
    q = np.tile(model.pose("rest"), (num_samples, 1))
    # Half of the draws near a limit: uniform draws seldom come near the rim of the volume.
    share = rng.beta(0.5, 0.5, (num_samples, len(own)))
    lower, upper = model.joints.lower[own], model.joints.upper[own]
    q[:, own] = lower + share * (upper - lower)
    q = model.joints.clamp(q)
    rotations, positions = link_poses(model, q)
    point = point or model.digits[row].pad
    pads = rotations[:, point.link] @ point.position + positions[:, point.link]
    origin = np.floor(pads.min(axis=0) / spacing) * spacing
    cell = np.floor((pads - origin) / spacing).astype(np.int64)
    posture = np.full(cell.max(axis=0) + 1, -1, dtype=np.int32)
    posture[cell[:, 0], cell[:, 1], cell[:, 2]] = np.arange(num_samples)
    kept, renumbered = np.unique(posture[posture >= 0], return_inverse=True)
    posture[posture >= 0] = renumbered
    return ReachVolume(digit, origin, spacing, posture, q[kept])
