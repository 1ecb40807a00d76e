"""A body as the wrist sees it: its distance grid, and where the wrist is in its frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError
from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.kernels.decorators import inlined
from handwright.kinematics.obstacles import no_object
from handwright.math.vec3 import Vec3, minus, row3
from handwright.methods.neural.fitting.surroundings import Surroundings, no_surroundings
from handwright.methods.neural.sensing.view import HandView


class BodyView(NamedTuple):
    """A body seen from the wrist of one hand, in one frame or in each of a batch."""

    field: Field
    """Signed distances, in the frame of the body."""
    rotation: Float[np.ndarray, "N 3 3"]
    """Of the wrist in the frame of the body."""
    position: Float[np.ndarray, "N 3"]
    """Of the wrist in the frame of the body, m."""
    around: Surroundings


def body_view(
    field: Field,
    rotation: Float[np.ndarray, "*B 3 3"],
    position: Float[np.ndarray, "*B 3"],
    around: Surroundings | None = None,
) -> BodyView:
    """A body seen from one wrist pose, or from each of a batch.

    Args:
        field: Signed distances, in the frame of the body.
        rotation: Of the wrist in the frame of the body.
        position: Of the wrist in the frame of the body, m.
        around: What stands still there, from the same wrist poses; nothing if not given.
    """
    turn = np.array(rotation, dtype=np.float64, order="C")
    place = np.array(position, dtype=np.float64, order="C")
    if turn.shape != (*place.shape, 3) or place.shape[-1:] != (3,) or place.ndim > 2:
        raise InvalidValueError(
            f"body_view: rotation has shape {turn.shape} and position {place.shape}; expected "
            "(3, 3) and (3,), or both with one batch axis in front."
        )
    if not (np.isfinite(turn).all() and np.isfinite(place).all()):
        raise InvalidValueError("body_view: the wrist's pose holds NaN or infinity.")
    turn, place = turn.reshape(-1, 3, 3), place.reshape(-1, 3)
    return BodyView(field, turn, place, around or no_surroundings(len(place)))


def seen_at(view: HandView, frames: int | Int[np.ndarray, " N"]) -> BodyView:
    """The body that a hand senses, seen from its wrist at some frames of the view.

    Args:
        view: The hand and its object.
        frames: One frame, or a batch.
    """
    back = np.swapaxes(view.object_rotation[frames], -1, -2)
    turn, place = view.wrist_rotation[frames], view.wrist_position[frames]
    off = place - view.object_position[frames]
    around = Surroundings(
        view.surroundings, np.array(turn).reshape(-1, 3, 3), np.array(place).reshape(-1, 3)
    )
    return body_view(view.field, back @ turn, (back @ off[..., None])[..., 0], around)


def nothing_seen() -> BodyView:
    """A view of nothing: everything is a kilometre away."""
    return body_view(no_object(), np.eye(3), np.zeros(3))


@inlined
def to_body(view: BodyView, row: int, point: Vec3) -> Vec3:
    """A point of the wrist's frame in that of the body, m."""
    r, p = view.rotation, view.position
    x, y, z = point
    return (
        p[row, 0] + r[row, 0, 0] * x + r[row, 0, 1] * y + r[row, 0, 2] * z,
        p[row, 1] + r[row, 1, 0] * x + r[row, 1, 1] * y + r[row, 1, 2] * z,
        p[row, 2] + r[row, 2, 0] * x + r[row, 2, 1] * y + r[row, 2, 2] * z,
    )


@inlined
def turned_back(view: BodyView, row: int, x: float, y: float, z: float) -> Vec3:
    """A direction of the body's frame in that of the wrist."""
    r = view.rotation
    return (
        r[row, 0, 0] * x + r[row, 1, 0] * y + r[row, 2, 0] * z,
        r[row, 0, 1] * x + r[row, 1, 1] * y + r[row, 2, 1] * z,
        r[row, 0, 2] * x + r[row, 1, 2] * y + r[row, 2, 2] * z,
    )


@inlined
def from_body(view: BodyView, row: int, point: Vec3) -> Vec3:
    """A point of the body's frame in that of the wrist, m."""
    x, y, z = minus(point, row3(view.position, row))
    return turned_back(view, row, x, y, z)


@inlined
def distance_from(view: BodyView, row: int, point: Vec3) -> tuple[float, Vec3]:
    """Signed distance of a point of the wrist's frame, m, and its gradient in that frame."""
    x, y, z = to_body(view, row, point)
    value, gx, gy, gz = field_value_gradient(view.field, x, y, z)
    return value, turned_back(view, row, gx, gy, gz)
