"""How kernels are compiled.

``compiled`` is for any function. ``kernel`` and ``inlined`` are for the innermost ones, which
allocate nothing: numba then need not count references to the arrays that they are handed, which
takes far longer than the arithmetic of one inverse-kinematics step. ``inlined`` also makes the
compiler copy the function into its callers, for what is called many times with many arrays.
``inlined_loose`` is the same with sums in any order. That is for functions that are copied into
their callers only: of functions that are not, a process uses the copy that it has loaded first,
and results would depend on what else it has done. ``linked`` is for large kernels with several
callers, which call them instead of taking them in: they are compiled once, not with each caller.

Machine code is kept on disk by what it is made of (``cache``): after an edit just those kernels are
compiled anew that the edit touches, directly or through what they call.

All that rests on parts of numba that are not public (``tuned``). With a release of numba that has
not been tried, kernels are compiled by its public means alone (``plain``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handwright.kernels.plain import kernels_are_plain

if kernels_are_plain():
    from handwright.kernels.plain import build, link
else:
    from handwright.kernels.tuned import build, link

# Freedom for the compiler that keeps NaN and infinity what they are.
_FREEDOM = {"contract", "reassoc", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For any function."""
    return build(function, allocates=True, error_model="numpy")


def kernel(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For functions that allocate nothing."""
    return build(function, allocates=False, error_model="numpy")


def inlined(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For small ones, which are copied into their callers."""
    return build(function, allocates=False, error_model="numpy", forceinline=True)


def inlined_loose(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """The same with sums in any order."""
    return build(
        function, allocates=False, error_model="numpy", forceinline=True, fastmath=_FREEDOM
    )


def linked(function: Callable[..., Any]) -> Any:  # noqa: ANN401  numba's own
    """For large kernels, which are called by their symbols."""
    return link(kernel(function))
