"""Compiled functions that others call instead of taking them in.

Numba links what a compiled function calls into that function, and optimises all of it again: code
that lies under six callers, one below the other, is optimised seven times. A linked function is
compiled once. Callers know it by the name of a symbol only, and whoever is loaded from disk first
has those symbols made that it needs.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba.core import cgutils, types, typing
from numba.core.extending import _Intrinsic
from numba.core.types.misc import unliteral

_made: set[str] = set()


class Linked(_Intrinsic):  # type: ignore[misc]
    """A compiled function that is called through its symbol; from Python like any other."""

    def __init__(self, dispatcher: Any) -> None:  # noqa: ANN401  numba's own
        self.dispatcher = dispatcher
        definition: Any = functools.partial(_type_call, self)
        own = inspect.signature(dispatcher.py_func)
        context = inspect.Parameter("_context", inspect.Parameter.POSITIONAL_ONLY)
        definition.__signature__ = own.replace(parameters=[context, *own.parameters.values()])
        super().__init__(dispatcher.__name__, definition)
        functools.update_wrapper(self, dispatcher.py_func)
        self._register()

    def __call__(self, *args: Any) -> Any:  # noqa: ANN401  what the function takes and gives
        """As Python calls it."""
        return self.dispatcher(*args)

    def made(self, args: tuple[types.Type, ...]) -> tuple[Any, str]:
        """Compiles for some types, or loads from disk; returns what it is and its symbol."""
        self.dispatcher.compile(args)
        found = self.dispatcher.overloads[args]
        text = f"{args} -> {found.signature.return_type}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        symbol = f"handwright.{self.__module__}.{self.__qualname__}.{digest}"
        if symbol not in _made:
            address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
            llvm.add_symbol(symbol, address)
            _made.add(symbol)
        return found, symbol


@dataclass(frozen=True, slots=True)
class _Need:
    """A symbol that compiled code must find when it is loaded from disk."""

    module: str
    name: str
    args: tuple[types.Type, ...]

    def __call__(self) -> None:
        """Makes it. That it is the right one follows from the digest of what is loaded."""
        getattr(importlib.import_module(self.module), self.name).made(self.args)


def _type_call(linked: Linked, _context: object, *given: types.Type) -> tuple[Any, Any]:
    """Types of a call from compiled code, and how it is written."""
    args = tuple(unliteral(kind) for kind in given)
    found, symbol = linked.made(args)
    need = _Need(linked.__module__, linked.__name__, args)

    def write(context: Any, builder: Any, _signature: object, values: Any) -> Any:  # noqa: ANN401  numba's own
        context.active_code_library._reload_init.add(need)
        restype, argtypes = found.fndesc.restype, found.fndesc.argtypes
        kind = context.call_conv.get_function_type(restype, argtypes)
        function = cgutils.get_or_insert_function(builder.module, kind, symbol)
        status, result = context.call_conv.call_function(
            builder, function, restype, argtypes, values
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return typing.signature(found.signature.return_type, *args), write
