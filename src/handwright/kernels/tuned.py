"""Kernels by parts of numba that are not public: quicker to compile, to load and to call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from handwright.kernels.cache import KernelCache
from handwright.kernels.linked import Linked


def build(function: Callable[..., Any], *, allocates: bool, **options: Any) -> Any:  # noqa: ANN401  numba's own
    """Compiles a function, and keeps it on disk by what it is made of.

    Args:
        function: The function.
        allocates: Whether it makes arrays, so that references must be counted.
        **options: For ``numba.njit``.
    """
    if not allocates:
        options["_nrt"] = False
    # Nobody calls these functions from C.
    dispatcher = numba.njit(no_cfunc_wrapper=True, **options)(function)
    dispatcher._cache = KernelCache(dispatcher)
    return dispatcher


def link(dispatcher: Any) -> Linked:  # noqa: ANN401  numba's own
    """Lets others call a compiled function by its symbol."""
    return Linked(dispatcher)
