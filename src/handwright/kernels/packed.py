"""Many arrays behind one pointer, for compiled functions that are handed a lot.

Numba hands every array over as half a dozen numbers, and looks at every array of every argument
when Python calls. A tuple of a hundred arrays takes long to compile for and long to hand over.
A packed tuple is one pointer: compiled code reads ``stage.wrench`` and the like from memory.
Functions written for the tuple take it as it is, and shapes are not part of its type. So where
kernels are plain (see ``plain``), the tuple itself is handed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handwright.kernels.plain import kernels_are_plain

if TYPE_CHECKING or not kernels_are_plain():
    from handwright.kernels.pointers import Packed
else:

    def Packed(values):  # noqa: ANN001, ANN201, N802  takes the place of the class
        """The named tuple itself."""
        return values


__all__ = ["Packed"]
