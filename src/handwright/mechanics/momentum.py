"""The wrench that a motion asks for: rate of momentum minus gravity.

Scheme, of second order in the time step where steps are even or change gradually:

- The centre of mass has the second divided difference of its positions as acceleration.
- Between two frames the body turns about a fixed axis at a constant rate; half-way lie the mean
  orientation and the angular momentum. Rates at frames are differences of these.
- The first and last frame continue the straight line through the two frames next to them; with
  three frames there is but one rate, and all have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.problem import standard_gravity
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.math.pose import Pose

_EVEN = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class RequiredWrench:
    """What contacts must give a body in every frame, world axes."""

    times: Float[np.ndarray, " T"]
    """s."""
    center: Float[np.ndarray, "T 3"]
    """Centre of mass, m, of the motion as given."""
    force: Float[np.ndarray, "T 3"]
    """N."""
    moment: Float[np.ndarray, "T 3"]
    """About the centre of mass, N m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def wrench(self) -> Float[np.ndarray, "T 6"]:
        """Force, then moment."""
        return np.concatenate([self.force, self.moment], axis=1)


def required_wrench(
    track: Track,
    body: RigidBody,
    *,
    gravity: Float[np.ndarray, "3"] | None = None,
    cutoff_hz: float | None = None,
) -> RequiredWrench:
    """Force and moment that contacts must give a body for it to move as it does.

    Args:
        track: Of the body's frame in the world, at least three frames.
        body: Its mass, centre of mass and inertia.
        gravity: m/s^2; else 9.81 downwards (z).
        cutoff_hz: For noisy recordings: accelerations are taken from a track smoothed by a
            Gaussian low-pass, half power at this frequency; 8 Hz suits motion capture.
    """
    if len(track) < 3:
        raise InvalidValueError(
            f"Track has {len(track)} frames; accelerations need at least three."
        )
    pull = standard_gravity() if gravity is None else np.asarray(gravity, dtype=np.float64)
    if pull.shape != (3,) or not np.isfinite(pull).all():
        raise InvalidValueError(f"gravity is {pull.tolist()}; expected three numbers, m/s^2.")
    center = track.pose.apply(body.center)
    at_center = Track(track.times, Pose(center, track.pose.wxyz))
    if cutoff_hz is not None:
        # The centre of mass, not the origin, is smoothed: a body thrown while it turns then
        # keeps its parabola.
        at_center = smoothed(at_center, cutoff_hz)
    times, position = track.times, at_center.pose.position
    momentum = body.mass * np.diff(position, axis=0) / np.diff(times)[:, None]
    spin = _angular_momentum(times, at_center.pose.wxyz, body.inertia)
    return RequiredWrench(
        times=times,
        center=center,
        force=_rate_at_frames(times, momentum) - body.mass * pull,
        moment=_rate_at_frames(times, spin),
    )


def _angular_momentum(times: np.ndarray, wxyz: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Half-way between frames, world axes."""
    turn = rotation.log(rotation.multiply(wxyz[1:], rotation.conjugate(wxyz[:-1])))
    middle = rotation.to_matrix(rotation.multiply(rotation.exp(0.5 * turn), wxyz[:-1]))
    omega = turn / np.diff(times)[:, None]
    return np.einsum("tij,jk,tlk,tl->ti", middle, inertia, middle, omega)


def _rate_at_frames(times: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Rates at frames of what is known half-way between them."""
    halves = 0.5 * (times[1:] + times[:-1])
    rate = np.zeros((len(times), 3))
    rate[1:-1] = np.diff(between, axis=0) / np.diff(halves)[:, None]
    if len(times) == 3:
        rate[0] = rate[2] = rate[1]
        return rate
    for end, near, far in ((0, 1, 2), (-1, -2, -3)):
        reach = (times[end] - times[near]) / (times[near] - times[far])
        rate[end] = rate[near] + reach * (rate[near] - rate[far])
    return rate


def smoothed(track: Track, cutoff_hz: float) -> Track:
    """A track without its fast parts: a Gaussian low-pass with half power at the cut-off.

    Quaternions are filtered as four numbers of continuous sign and made unit again, which treats
    all directions alike.

    Args:
        track: Frames at even times.
        cutoff_hz: Above 0 and below half the frame rate.
    """
    steps = np.diff(track.times)
    if len(track) < 3:
        raise InvalidValueError(f"Track has {len(track)} frames; smoothing needs three or more.")
    step = float(np.mean(steps))
    if np.abs(steps - step).max() > _EVEN * step:
        raise InvalidValueError(
            f"Track has steps of {steps.min():g} to {steps.max():g} s; smoothing needs even "
            "ones. Use track.resampled(times) first."
        )
    if not 0.0 < cutoff_hz < 0.5 / step:
        raise InvalidValueError(
            f"cutoff_hz is {cutoff_hz}; expected above 0 and below half the frame rate, "
            f"{0.5 / step:g} Hz."
        )
    wxyz = track.pose.wxyz.copy()
    flips = np.where(np.einsum("ti,ti->t", wxyz[1:], wxyz[:-1]) < 0.0, -1.0, 1.0)
    wxyz[1:] *= np.cumprod(flips)[:, None]
    values = np.concatenate([track.pose.position, wxyz], axis=1)
    spread = np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff_hz * step)
    most = int(4.0 * spread)
    # Near an end the window is cut on both sides alike, or the end would be pulled inwards.
    reach = np.minimum(most, np.minimum(np.arange(len(track)), np.arange(len(track))[::-1]))
    offset = np.arange(-most, most + 1)
    weight = np.exp(-0.5 * (offset / spread) ** 2) * (np.abs(offset) <= reach[:, None])
    rows = np.clip(np.arange(len(track))[:, None] + offset, 0, len(track) - 1)
    smooth = np.einsum("tw,twi->ti", weight / weight.sum(axis=1, keepdims=True), values[rows])
    return Track(track.times, Pose.normalized(smooth[:, :3], smooth[:, 3:]))
