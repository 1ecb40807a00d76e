"""Curves through knots: cubic Hermite, minimum jerk, and both for poses.

All curves evaluate batched times of any shape. Times outside the knots raise, unless
``extrapolate="hold"``, which stays at the nearest end with all derivatives zero. Times outside by
rounding alone (1e-9 of the duration) count as the ends. At a knot, derivatives that jump take the
value to its right, at the last knot to its left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math import rotation
from handwright.math.pose import Pose

Array = np.ndarray
Extrapolate = Literal["raise", "hold"]
PoseCurve = Literal["hermite", "clamped", "minimum_jerk"]

# Share of the duration by which a time may miss the ends, for grids made by repeated addition.
END_TOLERANCE = 1e-9
# Neighbouring orientations closer to a half turn than this (rad) have no shortest path.
HALF_TURN_MARGIN = 1e-6


class _Curve:
    """Pieces of polynomials between knots."""

    __slots__ = ()
    times: Float[Array, " knots"]
    extrapolate: Extrapolate
    _coefficients: Float[Array, "degree segments *dims"]

    def __call__(self, t: float | ArrayLike, derivative: int = 0) -> Float[Array, " ..."]:
        """Value at ``t``, seconds, or a derivative up to the degree, per second to that power."""
        highest = len(self._coefficients) - 1
        if derivative not in range(highest + 1):
            raise InvalidValueError(
                f"{type(self).__name__}: derivative is {derivative!r}; expected 0 to {highest}. "
                "Ask for one of those; higher ones are zero or undefined."
            )
        place = _locate(self.times, t, self.extrapolate)
        return _evaluate(self._coefficients, place, derivative)


@dataclass(frozen=True, slots=True, eq=False)
class CubicHermite(_Curve):
    """Cubic pieces with given values and slopes at the knots; once continuously differentiable.

    Attributes:
        times: Increasing knot times, seconds.
        values: Values at the knots.
        slopes: Derivatives at the knots, per second.
        extrapolate: What to do outside the knots: "raise" or "hold".
    """

    times: Float[Array, " knots"]
    values: Float[Array, " knots *dims"]
    slopes: Float[Array, " knots *dims"]
    extrapolate: Extrapolate = "raise"
    _coefficients: Float[Array, "4 segments *dims"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        name = "CubicHermite"
        times = _checked_times(self.times, name, self.extrapolate)
        values = _checked_values(self.values, times, name, "values")
        slopes = _checked_values(self.slopes, times, name, "slopes")
        if slopes.shape != values.shape:
            raise InvalidValueError(
                f"{name}: slopes have shape {slopes.shape} and values {values.shape}; expected "
                "the same. Give one slope per value, or use CubicHermite.through(times, values)."
            )
        h = _column(np.diff(times), values.ndim)
        coefficients = _cubic(h, values[:-1], slopes[:-1], values[1:], slopes[1:])
        _freeze(self, times=times, values=values, slopes=slopes, _coefficients=coefficients)

    @classmethod
    def through(
        cls,
        times: ArrayLike,
        values: ArrayLike,
        *,
        clamped: bool = False,
        extrapolate: Extrapolate = "raise",
    ) -> CubicHermite:
        """Curve with slopes of the parabola through each knot and its neighbours.

        On even knots these are the Catmull-Rom slopes. They err by O(h^2), so the curve is of
        third order, where exact slopes give the fourth.

        Args:
            times: Increasing knot times (K,), seconds.
            values: Values (K, ...).
            clamped: Start and end at rest; otherwise end slopes come from the last three knots.
            extrapolate: "raise" or "hold".
        """
        knots = _checked_times(times, "CubicHermite", extrapolate)
        points = _checked_values(values, knots, "CubicHermite", "values")
        return cls(knots, points, _parabola_slopes(knots, points, clamped), extrapolate)


@dataclass(frozen=True, slots=True, eq=False)
class MinimumJerk(_Curve):
    """The curve through all knots with the smallest integral of squared jerk.

    It has quintic pieces and four continuous derivatives. Ends are at rest unless given.

    Attributes:
        times: Increasing knot times, seconds.
        values: Values at the knots.
        start_velocity: Velocity at the first knot; broadcast to one value.
        start_acceleration: Acceleration at the first knot.
        end_velocity: Velocity at the last knot.
        end_acceleration: Acceleration at the last knot.
        extrapolate: What to do outside the knots: "raise" or "hold".
        velocities: Velocities at the knots, found.
        accelerations: Accelerations at the knots, found.
    """

    times: Float[Array, " knots"]
    values: Float[Array, " knots *dims"]
    start_velocity: float | ArrayLike = field(default=0.0, kw_only=True)
    start_acceleration: float | ArrayLike = field(default=0.0, kw_only=True)
    end_velocity: float | ArrayLike = field(default=0.0, kw_only=True)
    end_acceleration: float | ArrayLike = field(default=0.0, kw_only=True)
    extrapolate: Extrapolate = field(default="raise", kw_only=True)
    velocities: Float[Array, " knots *dims"] = field(init=False, repr=False)
    accelerations: Float[Array, " knots *dims"] = field(init=False, repr=False)
    _coefficients: Float[Array, "6 segments *dims"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        name = "MinimumJerk"
        times = _checked_times(self.times, name, self.extrapolate)
        values = _checked_values(self.values, times, name, "values")
        ends = {
            key: _checked_end(getattr(self, key), values.shape[1:], key)
            for key in ("start_velocity", "start_acceleration", "end_velocity", "end_acceleration")
        }
        v, a = _minimum_jerk_rates(times, values, *ends.values())
        h = _column(np.diff(times), values.ndim)
        coefficients = _quintic(h, values[:-1], v[:-1], a[:-1], values[1:], v[1:], a[1:])
        _freeze(self, times=times, values=values, **ends)
        _freeze(self, velocities=v, accelerations=a, _coefficients=coefficients)


@dataclass(frozen=True, slots=True, eq=False)
class PoseSpline:
    """Smooth motion through poses.

    Positions follow ``CubicHermite.through`` or ``MinimumJerk``. The body-frame turns between
    neighbouring knots, added up, are a curve of rotation vectors; the same spline through it gives
    the angular velocity (and acceleration) at each knot. Within a segment the orientation is
    q_i exp(r(t)), with r the Hermite polynomial that meets them. Rotations about one fixed axis
    thus follow exactly the scalar spline of their angle.

    Attributes:
        times: Increasing knot times, seconds.
        knots: Poses at those times, neighbours less than a half turn apart.
        curve: "hermite" (continuous velocity), "clamped" (the same, at rest at both ends) or
            "minimum_jerk" (continuous velocity and acceleration, at rest at both ends).
        extrapolate: What to do outside the knots: "raise" or "hold".
    """

    times: Float[Array, " knots"]
    knots: Pose
    curve: PoseCurve = "hermite"
    extrapolate: Extrapolate = field(default="raise", kw_only=True)
    _path: CubicHermite | MinimumJerk = field(init=False, repr=False)
    _turns: Float[Array, "degree segments 3"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        times = _checked_times(self.times, "PoseSpline", self.extrapolate)
        if self.knots.shape != times.shape:
            raise InvalidValueError(
                f"PoseSpline: knots have batch shape {self.knots.shape} and times {times.shape}; "
                "expected the same. Give one pose per time."
            )
        if self.curve not in ("hermite", "clamped", "minimum_jerk"):
            raise UnknownNameError("curve", self.curve, ("hermite", "clamped", "minimum_jerk"))
        q = self.knots.wxyz
        turns = rotation.log(rotation.multiply(rotation.conjugate(q[:-1]), q[1:]))
        bad = np.linalg.norm(turns, axis=-1) > np.pi - HALF_TURN_MARGIN
        if bad.any():
            k = int(np.argmax(bad))
            raise InvalidValueError(
                f"PoseSpline: knots {k} and {k + 1} are a half turn apart, so the direction of "
                "turning is undefined; expected less. Insert a knot between them."
            )
        summed = np.concatenate([np.zeros((1, 3)), np.cumsum(turns, axis=0)])
        path: CubicHermite | MinimumJerk
        if self.curve == "minimum_jerk":
            path = MinimumJerk(times, self.knots.position, extrapolate=self.extrapolate)
            rates = MinimumJerk(times, summed)
            coefficients = _quintic_turns(times, turns, rates.velocities, rates.accelerations)
        else:
            clamped = self.curve == "clamped"
            path = CubicHermite.through(
                times, self.knots.position, clamped=clamped, extrapolate=self.extrapolate
            )
            coefficients = _cubic_turns(times, turns, _parabola_slopes(times, summed, clamped))
        _freeze(self, times=times, _turns=coefficients)
        object.__setattr__(self, "_path", path)

    def pose(self, t: float | ArrayLike) -> Pose:
        """Poses at ``t``, seconds, of the shape of ``t``."""
        place = _locate(self.times, t, self.extrapolate)
        turn = rotation.exp(_evaluate(self._turns, place, 0))
        wxyz = rotation.multiply(self.knots.wxyz[place.segment], turn)
        return Pose(self._path(t), wxyz)

    def velocity(self, t: float | ArrayLike) -> Float[Array, "... 6"]:
        """Linear (m/s), then angular (rad/s) velocity at ``t``, both in the world frame."""
        place = _locate(self.times, t, self.extrapolate)
        r, rate = (_evaluate(self._turns, place, d) for d in (0, 1))
        local = rotation.left_jacobian(r) @ rate[..., None]
        angular = rotation.rotate(self.knots.wxyz[place.segment], local[..., 0])
        return np.concatenate([self._path(t, 1), angular], axis=-1)

    def acceleration(self, t: float | ArrayLike) -> Float[Array, "... 6"]:
        """Linear (m/s^2), then angular (rad/s^2) acceleration at ``t``, both in the world frame."""
        place = _locate(self.times, t, self.extrapolate)
        r, rate, second = (_evaluate(self._turns, place, d) for d in (0, 1, 2))
        local = rotation.left_jacobian(r) @ second[..., None]
        local = local + rotation.left_jacobian_rate(r, rate) @ rate[..., None]
        angular = rotation.rotate(self.knots.wxyz[place.segment], local[..., 0])
        return np.concatenate([self._path(t, 2), angular], axis=-1)


class _Place(NamedTuple):
    """Where times fall: segment, share of it passed (0 to 1), its duration, whether held."""

    segment: Int[Array, " ..."]
    share: Float[Array, " ..."]
    duration: Float[Array, " ..."]
    held: Bool[Array, " ..."]


def _locate(
    times: Float[Array, " knots"], t: float | ArrayLike, extrapolate: Extrapolate
) -> _Place:
    t = np.asarray(t, dtype=np.float64)
    slack = END_TOLERANCE * (times[-1] - times[0])
    outside = ~((t >= times[0] - slack) & (t <= times[-1] + slack))
    unusable = outside if extrapolate == "raise" else np.isnan(t)
    if unusable.any():
        remedy = "" if np.isnan(t).any() else ', or build the curve with extrapolate="hold"'
        raise InvalidValueError(
            f"Time t{rotation.first_index(unusable)} is {t[unusable][0]:.9g} s; expected "
            f"{times[0]:.9g} to {times[-1]:.9g} s. Ask within the knots{remedy}."
        )
    t = np.clip(t, times[0], times[-1])
    segment = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    duration = times[segment + 1] - times[segment]
    share = (t - times[segment]) / duration
    # Arithmetic on a single time gives numpy scalars; all users below expect arrays.
    return _Place(*(np.asarray(x) for x in (segment, share, duration, outside)))


def _evaluate(
    coefficients: Float[Array, "degree segments *dims"], place: _Place, derivative: int
) -> Float[Array, " ..."]:
    """Polynomials in the share of the segment, by Horner's rule; time derivatives in seconds."""
    ndim = coefficients.ndim - 1
    share, duration, held = (_column(x, ndim) for x in (place.share, place.duration, place.held))
    total = np.zeros((*place.segment.shape, *coefficients.shape[2:]))
    for power in range(len(coefficients) - 1, derivative - 1, -1):
        total = total * share + math.perm(power, derivative) * coefficients[power][place.segment]
    if derivative:
        total = np.where(held, 0.0, total / duration**derivative)
    return np.asarray(total)


def _cubic(h: Array, p0: Array, v0: Array, p1: Array, v1: Array) -> Float[Array, "4 ..."]:
    """Coefficients in the share of a segment of duration ``h``, from both ends' values."""
    step, v0, v1 = p1 - p0, h * v0, h * v1
    return np.stack([p0, v0, 3 * step - 2 * v0 - v1, v0 + v1 - 2 * step])


# Third to fifth coefficient of the quintic on 0..1, by step, v0, a0, v1, a1 at its ends.
_QUINTIC = np.array([[10, -6, -1.5, -4, 0.5], [-15, 8, 1.5, 7, -1.0], [6, -3, -0.5, -3, 0.5]])
# Integral of (6 c3 + 24 c4 s + 60 c5 s^2)^2 over 0..1 is c^T G c.
_JERK_GRAM = np.array([[36.0, 72.0, 120.0], [72.0, 192.0, 360.0], [120.0, 360.0, 720.0]])
_JERK_COST = _QUINTIC.T @ _JERK_GRAM @ _QUINTIC


def _quintic(
    h: Array, p0: Array, v0: Array, a0: Array, p1: Array, v1: Array, a1: Array
) -> Float[Array, "6 ..."]:
    """Coefficients in the share of a segment of duration ``h``, from both ends' values."""
    ends = np.stack([p1 - p0, h * v0, h**2 * a0, h * v1, h**2 * a1])
    high = np.tensordot(_QUINTIC, ends, axes=1)
    return np.concatenate([np.stack([p0, h * v0, 0.5 * h**2 * a0]), high])


def _parabola_slopes(
    times: Float[Array, " knots"], values: Float[Array, " knots *dims"], clamped: bool
) -> Float[Array, " knots *dims"]:
    h = _column(np.diff(times), values.ndim)
    chords = np.diff(values, axis=0) / h
    slopes = np.zeros_like(values)
    slopes[1:-1] = (h[1:] * chords[:-1] + h[:-1] * chords[1:]) / (h[:-1] + h[1:])
    if clamped:
        return slopes
    if len(times) == 2:
        slopes[:] = chords
    else:
        slopes[0] = chords[0] + (chords[0] - chords[1]) * h[0] / (h[0] + h[1])
        slopes[-1] = chords[-1] + (chords[-1] - chords[-2]) * h[-1] / (h[-1] + h[-2])
    return slopes


def _minimum_jerk_rates(
    times: Float[Array, " knots"],
    values: Float[Array, " knots *dims"],
    start_velocity: Array,
    start_acceleration: Array,
    end_velocity: Array,
    end_acceleration: Array,
) -> tuple[Float[Array, " knots *dims"], Float[Array, " knots *dims"]]:
    """Velocities and accelerations at the knots that minimise the integral of squared jerk.

    Given both ends of a segment, the quintic is optimal; its cost is the quadratic form
    ``_JERK_COST`` of the step and the ends' rates. The sum over segments is minimised over the
    rates of the inner knots: a positive definite system with two unknowns per knot, each coupled
    to its neighbours only. Its stationarity says that third and fourth derivative are continuous.
    """
    # Imported here, because it would double the time to import this layer.
    from scipy.linalg import solveh_banded

    count = len(times)
    # In units of the mean interval, so that the size of a second does not spoil the condition.
    unit = (times[-1] - times[0]) / (count - 1)
    h = np.diff(times) / unit
    points = values.reshape(count, -1)
    scale = np.stack([np.ones_like(h), h, h**2, h, h**2], axis=-1)
    cost = _JERK_COST * scale[:, :, None] * scale[:, None, :] / h[:, None, None] ** 5

    rates = np.zeros((2 * count, points.shape[1]))
    rates[0], rates[1] = start_velocity.ravel() * unit, start_acceleration.ravel() * unit**2
    rates[-2], rates[-1] = end_velocity.ravel() * unit, end_acceleration.ravel() * unit**2
    if count > 2:
        bands = np.zeros((4, 2 * count))
        force = np.zeros_like(rates)
        ends = 2 * (count - 1)
        for i in range(4):
            force[i : i + ends : 2] -= cost[:, i + 1, :1] * np.diff(points, axis=0)
            for j in range(i, 4):
                bands[3 - (j - i), j : j + ends : 2] += cost[:, i + 1, j + 1]
        force[2:4] -= cost[0, 3:, 1:3] @ rates[:2]
        force[-4:-2] -= cost[-1, 1:3, 3:] @ rates[-2:]
        rates[2:-2] = solveh_banded(bands[:, 2:-2], force[2:-2])
    rates = rates.reshape(count, 2, *values.shape[1:])
    return rates[:, 0] / unit, rates[:, 1] / unit**2


def _cubic_turns(
    times: Float[Array, " knots"],
    turns: Float[Array, "segments 3"],
    velocities: Float[Array, "knots 3"],
) -> Float[Array, "4 segments 3"]:
    """Rotation vectors of each segment that meet body-frame angular velocities at its ends."""
    # Body-frame velocity is the right Jacobian times r', and the right is the left at -r.
    end_rates = (rotation.left_jacobian_inverse(-turns) @ velocities[1:, :, None])[..., 0]
    h = np.diff(times)[:, None]
    return _cubic(h, np.zeros_like(turns), velocities[:-1], turns, end_rates)


def _quintic_turns(
    times: Float[Array, " knots"],
    turns: Float[Array, "segments 3"],
    velocities: Float[Array, "knots 3"],
    accelerations: Float[Array, "knots 3"],
) -> Float[Array, "6 segments 3"]:
    """As ``_cubic_turns``, meeting angular accelerations too."""
    inverse = rotation.left_jacobian_inverse(-turns)
    end_rates = inverse @ velocities[1:, :, None]
    # Angular acceleration is J r'' + J' r'; at r = 0 the second term vanishes.
    drift = rotation.left_jacobian_rate(-turns, -end_rates[..., 0]) @ end_rates
    end_second = inverse @ (accelerations[1:, :, None] - drift)
    return _quintic(
        np.diff(times)[:, None],
        np.zeros_like(turns),
        velocities[:-1],
        accelerations[:-1],
        turns,
        end_rates[..., 0],
        end_second[..., 0],
    )


def _column(x: Array, ndim: int) -> Array:
    """Appends axes so that ``x``, one number per knot or time, scales values of ``ndim`` axes."""
    return x.reshape((*x.shape, *(1,) * (ndim - 1)))


def _freeze(noun: object, **arrays: Array) -> None:
    for name, value in arrays.items():
        value.setflags(write=False)
        object.__setattr__(noun, name, value)


def _checked_times(times: ArrayLike, name: str, extrapolate: str) -> Float[Array, " knots"]:
    if extrapolate not in ("raise", "hold"):
        raise UnknownNameError("extrapolation", extrapolate, ("raise", "hold"))
    times = np.array(times, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2:
        raise InvalidValueError(
            f"{name}: times have shape {times.shape}; expected (K,) with K >= 2. "
            "Give at least two knots."
        )
    bad = ~np.isfinite(times)
    if bad.any():
        raise InvalidValueError(
            f"{name}: times{rotation.first_index(bad)} is {times[bad][0]}; expected finite "
            "seconds. Remove that knot."
        )
    bad = np.diff(times) <= 0
    if bad.any():
        k = int(np.argmax(bad))
        raise InvalidValueError(
            f"{name}: times[{k + 1}] = {times[k + 1]:.9g} s does not come after times[{k}] = "
            f"{times[k]:.9g} s; expected increasing times. Sort the knots and drop repeated ones."
        )
    return times


def _checked_values(
    values: ArrayLike, times: Float[Array, " knots"], name: str, what: str
) -> Float[Array, " knots *dims"]:
    values = np.array(values, dtype=np.float64)
    if values.ndim == 0 or len(values) != len(times):
        raise InvalidValueError(
            f"{name}: {what} have shape {values.shape} for {len(times)} times; expected "
            f"({len(times)}, ...). Put the knots on the first axis."
        )
    bad = ~np.isfinite(values)
    if bad.any():
        raise InvalidValueError(
            f"{name}: {what}{rotation.first_index(bad)} is {values[bad][0]}; expected finite "
            "numbers. Remove that knot."
        )
    return values


def _checked_end(
    value: float | ArrayLike, shape: tuple[int, ...], what: str
) -> Float[Array, "*dims"]:
    value = np.asarray(value, dtype=np.float64)
    try:
        value = np.broadcast_to(value, shape).copy()
    except ValueError:
        raise InvalidValueError(
            f"MinimumJerk: {what} has shape {value.shape}; expected {shape}, that of one value. "
            "Give one number per component."
        ) from None
    if not np.isfinite(value).all():
        raise InvalidValueError(
            f"MinimumJerk: {what} is {value}; expected finite numbers. Leave it out for rest."
        )
    return value
