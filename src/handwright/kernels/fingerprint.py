"""What a kernel is made of, as a digest: its own code, and all that it calls or reads.

The digest of a kernel follows its global names: kernels that it calls, with all that these call,
and the values of constants. So it changes with everything that the machine code depends on, in
whichever file that stands, and with nothing else: comments, docstrings and other functions of the
same file leave it as it is.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import types as python_types
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.types.containers import BaseNamedTuple, BaseTuple

_OWN = "handwright"
_PLAIN = (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, types.Type)


@functools.cache
def compiler_digest() -> str:
    """Digest of the compiler layer itself, and the versions of the compilers beneath it."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(dispatcher: Any) -> str:  # noqa: ANN401  numba's own
    """Digest of a compiled function and of all that it uses."""
    return _Walk().of_kernel(dispatcher)


def describe_type(kind: types.Type) -> str:
    """A type of an argument in words that tell apart what compiled code tells apart.

    Numba's own name of a named tuple does not have the names of its fields, in whose order
    compiled code finds them.
    """
    if isinstance(kind, BaseNamedTuple):
        made = kind.instance_class
        fields = ",".join(
            f"{name}:{describe_type(part)}"
            for name, part in zip(kind.fields, kind.types, strict=True)
        )
        return f"{made.__module__}.{made.__qualname__}({fields})"
    if isinstance(kind, BaseTuple):
        return "(" + ",".join(describe_type(part) for part in kind.types) + ")"
    return str(kind)


_known: dict[int, tuple[Any, str]] = {}
"""Digests by the identity of the function, which is kept so that no other gets its identity."""


class _Walk:
    """A walk through what a kernel calls and reads."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._in_rings: set[int] = set()

    def of_kernel(self, dispatcher: Any) -> str:  # noqa: ANN401  numba's own
        """Digest of a kernel; by its name while it is open, as for one that calls itself."""
        function = dispatcher.py_func
        key, name = id(function), f"{function.__module__}.{function.__qualname__}"
        if key in _known:
            return _known[key][1]
        if key in self._open:
            self._in_rings.add(key)
            return name
        self._open.add(key)
        options = sorted(
            (option, self._of_value(value)) for option, value in dispatcher.targetoptions.items()
        )
        text = "\0".join([name, repr(options), *self._of_function(function)])
        self._open.remove(key)
        self._in_rings.discard(key)
        found = hashlib.sha256(text.encode()).hexdigest()
        # In a ring of kernels that call each other the digest depends on where the walk began.
        if not self._in_rings:
            _known[key] = function, found
        return found

    def _of_function(self, function: Any) -> list[str]:  # noqa: ANN401  a Python function
        """Code, default values, and what the names stand for."""
        names: set[str] = set()
        parts = [self._of_value(function.__defaults__)]
        parts += self._of_code(function.__code__, function.__doc__, names)
        parts += [self._of_value(cell.cell_contents) for cell in function.__closure__ or ()]
        for name in sorted(names & function.__globals__.keys()):
            parts.append(f"{name}={self._of_global(function.__globals__[name], names)}")
        return parts

    def _of_code(self, code: python_types.CodeType, doc: str | None, names: set[str]) -> list[str]:
        """Instructions and constants; adds the names that are looked up to ``names``."""
        names |= set(code.co_names)
        parts = [code.co_code.hex(), repr(code.co_varnames), repr(code.co_names)]
        for value in code.co_consts:
            if isinstance(value, python_types.CodeType):
                parts += self._of_code(value, None, names)
            elif doc is None or value != doc:
                parts.append(self._of_value(value))
        return parts

    def _of_global(self, value: Any, names: set[str]) -> str:  # noqa: ANN401
        """What a global name stands for; of our own modules the members that are looked up."""
        if not isinstance(value, python_types.ModuleType):
            return self._of_value(value)
        if not value.__name__.startswith(_OWN):
            return value.__name__
        members = sorted(names & vars(value).keys())
        return value.__name__ + "".join(
            f"{member}={self._of_global(vars(value)[member], names)}" for member in members
        )

    def _of_value(self, value: Any) -> str:  # noqa: ANN401
        """A constant, a type, or something else that can be called."""
        if isinstance(value, Dispatcher):
            return self.of_kernel(value)
        if isinstance(value, _Intrinsic):
            inner = getattr(value, "dispatcher", None)
            return value._name if inner is None else self.of_kernel(inner)
        if isinstance(value, np.ndarray):
            content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"{value.dtype.str}{value.shape}{content}"
        if isinstance(value, tuple | list):
            return f"{type(value).__name__}({','.join(map(self._of_value, value))})"
        if isinstance(value, set | frozenset):
            return f"{type(value).__name__}({','.join(sorted(map(self._of_value, value)))})"
        if isinstance(value, type):
            return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
        if isinstance(value, enum.Enum):
            return f"{self._of_value(type(value))}.{value.name}={value.value!r}"
        if isinstance(value, _PLAIN):
            return f"{type(value).__name__}:{value!r}"
        # Numba compiles nothing that reads other values: the name belongs to an attribute.
        return f"{type(value).__module__}.{type(value).__qualname__}"
