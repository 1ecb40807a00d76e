"""Kernels by numba's public means alone, for releases of numba that nobody has tried yet.

Symbols instead of copies (``linked``), pointers instead of tuples (``pointers``) and our own cache
(``cache``) rest on parts of numba that are not public and may change with every release. So they
are used with the releases in ``TRIED`` only. With others kernels are plain compiled functions:
results are the same, but a first run takes several times as long to compile, and numba's own cache
notices an edit of a kernel's own file only.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from typing import Any

import numba

TRIED = ("0.68",)
"""Releases of numba with which the parts that are not public have been tried."""
VARIABLE = "HANDWRIGHT_PLAIN_KERNELS"
"""Environment variable; 1 asks for plain kernels, with any numba."""

_logger = logging.getLogger(__name__)


@functools.cache
def kernels_are_plain() -> bool:
    """Whether kernels keep to numba's public means; the same for as long as a process lives."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return True
    release = ".".join(numba.__version__.split(".")[:2])
    if release in TRIED:
        return False
    _logger.warning(
        "numba %s has not been tried with handwright, only %s has. Kernels keep to its public "
        "means: results are the same, and the first run compiles for longer.",
        numba.__version__,
        ", ".join(f"{tried}.x" for tried in TRIED),
    )
    return True


def build(function: Callable[..., Any], *, allocates: bool, **options: Any) -> Any:  # noqa: ANN401  numba's own
    """Compiles a function, and keeps it on disk where numba can.

    Args:
        function: The function.
        allocates: Whether it makes arrays; numba counts references in any case.
        **options: For ``numba.njit``.
    """
    del allocates
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        # In an archive, or where no folder can be written, numba refuses to compile at all.
        if "no locator available" not in str(error):
            raise
        _warn_once(function.__module__)
        return numba.njit(**options)(function)


def link(dispatcher: Any) -> Any:  # noqa: ANN401  numba's own
    """A plain function is called as it is, and taken in by its callers."""
    return dispatcher


@functools.cache
def _warn_once(module: str) -> None:
    _logger.warning("numba cannot keep the kernels of %s; every process compiles them.", module)
