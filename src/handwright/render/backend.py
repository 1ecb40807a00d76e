"""An OpenGL context without a window, from whichever library this machine has."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
import platform
from functools import cache
from types import ModuleType
from typing import Any

from handwright.errors import HandwrightError
from handwright.physics.engine import mujoco

_LIBRARIES = {"egl": ("libEGL.so.1", "EGL"), "osmesa": ("libOSMesa.so.8", "OSMesa")}
_OFF = ("disable", "disabled", "off", "false", "0")
_EGL_PLATFORM_DEVICE = 0x313F
_MAX_DEVICES = 16
_PYOPENGL = "PYOPENGL_PLATFORM"


class NoDisplayError(HandwrightError, RuntimeError):
    """There is no way to draw pictures on this machine."""


def make_context(width: int, height: int) -> Any:  # noqa: ANN401  one of MuJoCo's three classes
    """An OpenGL context for pictures of up to this many pixels, made current.

    The variable ``MUJOCO_GL`` decides if it is set; else EGL is tried, then OSMesa. On macOS and
    Windows it is MuJoCo's own choice.

    Raises:
        NoDisplayError: If there is no working backend; the text says what to install.
    """
    name = _backend()
    try:
        module = mujoco if name == "native" else _import_backend(name)
        context = module.GLContext(width, height)
        context.make_current()
    # The libraries below raise whatever they please: ImportError, AttributeError, GLError ...
    except Exception as error:
        raise NoDisplayError(
            f"Drawing pictures with the OpenGL backend '{name}' failed: {error}. "
            "Set MUJOCO_GL to another one (egl, osmesa, glfw), or install "
            "its library: on Debian, apt-get install libegl1 libosmesa6."
        ) from error
    return context


def _import_backend(name: str) -> ModuleType:
    """MuJoCo's module of that name, with the environment left as it was."""
    before = os.environ.get(_PYOPENGL)
    try:
        return importlib.import_module(f"mujoco.{name}")
    finally:
        # The module sets this for PyOpenGL, which reads it while it is imported. Programs that
        # are started from here would inherit it and could then use no other library.
        if before is None:
            os.environ.pop(_PYOPENGL, None)


@cache
def _backend() -> str:
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    if chosen in _OFF:
        raise NoDisplayError(
            f"MUJOCO_GL is '{chosen}', which switches pictures off. Unset it, or set it to egl, "
            "osmesa or glfw."
        )
    if chosen in ("egl", "osmesa", "glfw"):
        return chosen
    if platform.system() != "Linux":
        return "native"
    # Looked at from outside first: PyOpenGL settles on one library for good when it is imported.
    for name in _LIBRARIES:
        if _is_usable(name):
            return name
    raise NoDisplayError(
        "There is no OpenGL library to draw pictures with: neither EGL nor OSMesa works here. "
        "Install one: on Debian, apt-get install libegl1 (or libosmesa6)."
    )


def _is_usable(name: str) -> bool:
    file, plain = _LIBRARIES[name]
    try:
        library = ctypes.CDLL(file)
    except OSError:
        found = ctypes.util.find_library(plain)
        if found is None:
            return False
        library = ctypes.CDLL(found)
    return name != "egl" or _has_display(library)


def _has_display(egl: ctypes.CDLL) -> bool:
    """Whether some EGL device can be started without a screen."""
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    egl.eglGetProcAddress.argtypes = [ctypes.c_char_p]
    query = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    get_display = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not query or not get_display:
        return False
    pointer, count = ctypes.c_void_p, ctypes.c_int(0)
    devices = (pointer * _MAX_DEVICES)()
    query_devices = ctypes.CFUNCTYPE(
        ctypes.c_uint, ctypes.c_int, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_int)
    )(query)
    if not query_devices(_MAX_DEVICES, devices, ctypes.byref(count)):
        return False
    display_of = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(get_display)
    egl.eglInitialize.argtypes = [pointer, pointer, pointer]
    for device in devices[: count.value]:
        display = display_of(_EGL_PLATFORM_DEVICE, device, None)
        if display and egl.eglInitialize(display, None, None):
            return True
    return False
