"""How kernels are compiled.

``compiled`` is for any function. ``kernel`` and ``inlined`` are for the innermost ones, which
allocate nothing: numba then need not count references to the arrays that they are handed, which
takes far longer than the arithmetic of one inverse-kinematics step. ``inlined`` also makes the
compiler copy the function into its callers, for what is called many times with many arrays.
``inlined_loose`` is the same with sums in any order. That is for functions that are copied into
their callers only: of functions that are not, a process uses the copy that it has loaded first,
and results would depend on what else it has done.

Numba keeps compiled code next to the sources and notices a change of the file of a function, but
not of the functions that it calls in other files. After an edit of a kernel run ``make clean``;
the tests use a cache of their own for every state of the sources.
"""

from __future__ import annotations

import numba

compiled = numba.njit(cache=True, error_model="numpy")
kernel = numba.njit(cache=True, error_model="numpy", _nrt=False)
inlined = numba.njit(cache=True, error_model="numpy", _nrt=False, forceinline=True)
# Freedom for the compiler that keeps NaN and infinity what they are.
_FREEDOM = {"contract", "reassoc", "nsz", "arcp"}
inlined_loose = numba.njit(
    cache=True, error_model="numpy", _nrt=False, forceinline=True, fastmath=_FREEDOM
)
