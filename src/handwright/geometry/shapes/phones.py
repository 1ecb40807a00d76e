"""A phone with keys that can be pressed, and where its keys are."""

from __future__ import annotations

import functools

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import check_dimensions, make_body
from handwright.geometry.shapes.implicit import mesh_field
from handwright.geometry.shapes.surfaces import Mesh

PHONE_KEYS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#")
"""Labels of the keys, row by row from the top left."""

_RAISED = 0.0014
"""How far the keys stand out of the face, metres."""
_DENSITY = 1300.0


def phone(
    *,
    width: float = 0.050,
    length: float = 0.118,
    thickness: float = 0.014,
    mass: float | None = None,
) -> RigidBody:
    """A mobile phone with twelve raised keys, lying face up, its top towards +Y.

    ``phone_keys`` tells where the keys are.

    Args:
        width: Along X, metres; from 40 mm.
        length: Along Y, metres; from twice the width.
        thickness: Along Z without the keys, metres; 8 to 30 mm.
        mass: Kilograms; from the volume if not given.
    """
    vertices, faces = _phone_mesh(*_checked(width, length, thickness))
    return make_body(
        "phone", vertices, faces, density=_DENSITY, mass=mass, friction=0.6,
        color=(0.37, 0.40, 0.46),
    )  # fmt: skip


def phone_keys(
    *, width: float = 0.050, length: float = 0.118, thickness: float = 0.014
) -> dict[str, Float[np.ndarray, "3"]]:
    """Middle of the top of each key in the frame of ``phone`` of the same size, metres.

    Keys are pressed along -Z.
    """
    vertices, _ = _phone_mesh(*_checked(width, length, thickness))
    shift = phone(width=width, length=length, thickness=thickness).vertices[0] - vertices[0]
    return {
        label: np.array([x, y, thickness / 2.0 + _RAISED]) + shift
        for label, (x, y) in _layout(width, length).items()
    }


def _checked(width: float, length: float, thickness: float) -> tuple[float, float, float]:
    check_dimensions("phone", width=width, length=length, thickness=thickness)
    if width < 0.04 or length < 2.0 * width or not 0.008 <= thickness <= 0.03:
        raise InvalidValueError(
            f"Shape 'phone': width {width:g}, length {length:g}, thickness {thickness:g} m; "
            "expected a width from 0.04, a length from twice the width and a thickness of 0.008 "
            "to 0.03."
        )
    return width, length, thickness


def _layout(width: float, length: float) -> dict[str, tuple[float, float]]:
    columns = np.array([-1.0, 0.0, 1.0]) * 0.295 * width
    rows = -length / 2.0 + length * np.array([0.40, 0.295, 0.19, 0.085])
    places = [(float(x), float(y)) for y in rows for x in columns]
    return dict(zip(PHONE_KEYS, places, strict=True))


@functools.lru_cache(maxsize=8)
def _phone_mesh(width: float, length: float, thickness: float) -> Mesh:
    x, y, z = width / 2.0, length / 2.0, thickness / 2.0
    key_half = (0.118 * width, 0.034 * length)
    places = list(_layout(width, length).values())
    screen = (0.0, 0.245 * length, z), (0.41 * width, 0.195 * length, 0.0012)

    def field(points: fields.Points) -> fields.Distances:
        across = fields.rounded_box(
            points * [1.0, 1.0, 0.0], (0.0, 0.0, 0.0), (x, y, 1.0), 0.22 * width
        )
        body = fields.extruded(across, points[:, 2], half=z, rounding=0.0035)
        body = fields.rounded_cut(body, fields.rounded_box(points, *screen, 0.001), 0.0006)
        # All keys are alike, so the nearest one is enough.
        columns = np.unique([px for px, _ in places])
        rows = np.unique([py for _, py in places])
        near_x = columns[np.argmin(np.abs(points[:, :1] - columns), axis=1)]
        near_y = rows[np.argmin(np.abs(points[:, 1:2] - rows), axis=1)]
        local = points - np.column_stack([near_x, near_y, np.zeros(len(points))])
        half_height = 0.5 * (_RAISED + 0.004)
        key = fields.rounded_box(
            local, (0.0, 0.0, z + _RAISED - half_height), (*key_half, half_height), 0.0013
        )
        return fields.smooth_union(body, key, 0.0012)

    return mesh_field(
        field,
        (-x - 0.003, -y - 0.003, -z - 0.003),
        (x + 0.003, y + 0.003, z + 0.005),
        spacing=0.0009,
        num_faces=11_000,
    )
