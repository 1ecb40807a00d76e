"""MuJoCo, for all who use it, with a clear message where it cannot be loaded."""

from __future__ import annotations

import os

from handwright.errors import InvalidValueError

try:
    import mujoco
except RuntimeError as error:
    # MuJoCo reads this variable while it is imported, also by those who draw nothing.
    raise InvalidValueError(
        f"MUJOCO_GL is '{os.environ.get('MUJOCO_GL', '')}', and MuJoCo cannot be loaded: {error}. "
        "Set it to egl, osmesa or glfw, to disabled for no pictures, or unset it."
    ) from error

__all__ = ["mujoco"]
