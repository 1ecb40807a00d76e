"""How kernels are compiled.

``compiled`` is for any function. ``kernel`` and ``inlined`` are for the innermost ones, which
allocate nothing: numba then need not count references to the arrays that they are handed, which
takes far longer than the arithmetic of one inverse-kinematics step. ``inlined`` also makes the
compiler copy the function into its callers, for what is called many times with many arrays.
``inlined_loose`` is the same with sums in any order. That is for functions that are copied into
their callers only: of functions that are not, a process uses the copy that it has loaded first,
and results would depend on what else it has done. ``linked`` is for large kernels with several
callers, which call them instead of taking them in: they are compiled once, not with each caller.

Numba keeps compiled code next to the sources and notices a change of the file of a function, but
not of the functions that it calls in other files. After an edit of a kernel run ``make clean``;
the tests use a cache of their own for every state of the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from handwright.kernels.linked import Linked, kept

# Nobody calls these functions from C.
_EACH = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_BARE = {**_EACH, "_nrt": False}
# Freedom for the compiler that keeps NaN and infinity what they are.
_FREEDOM = {"contract", "reassoc", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For any function."""
    return kept(numba.njit(**_EACH)(function))


def kernel(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For functions that allocate nothing."""
    return kept(numba.njit(**_BARE)(function))


def inlined(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For small ones, which are copied into their callers."""
    return kept(numba.njit(**_BARE, forceinline=True)(function))


def inlined_loose(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """The same with sums in any order."""
    return kept(numba.njit(**_BARE, forceinline=True, fastmath=_FREEDOM)(function))


def linked(function: Callable[..., Any]) -> Linked:
    """For large kernels, which are called by their symbols."""
    return Linked(kernel(function))
