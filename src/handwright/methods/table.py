"""Every method by its name: a table that loads a family when it is asked for, and no other.

To add a family of this package, add a row. Another package adds its own through the entry-point
group ``handwright.methods``, with the same two parts: the name, and ``module:Class``.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.methods.base import Method

GROUP = "handwright.methods"
"""Entry points of other packages that are methods."""
ROWS: dict[str, str] = {
    "sampling": "handwright.methods.sampling.method:ContactSampling",
    "trajopt": "handwright.methods.trajopt.method:ContactInvariant",
    "stepwise": "handwright.methods.stepwise.method:Stepwise",
    "neural": "handwright.methods.neural.method:NeuralFingers",
    "throwing": "handwright.methods.throwing.method:CatchThrow",
    "scripted": "handwright.methods.scripted:Scripted",
}
"""Where the methods of this package are."""


class MethodTable(Mapping[str, type[Method]]):
    """Methods by name; the module of one is loaded when it is first looked up.

    Args:
        rows: Where the methods of this package are, as ``module:Class``.
    """

    def __init__(self, rows: Mapping[str, str]) -> None:
        self._own = rows

    def __getitem__(self, name: str) -> type[Method]:
        rows = self._rows()
        if name not in rows:
            raise UnknownNameError("method", name, rows)
        module, _, attribute = rows[name].partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise InvalidValueError(
                f"The method '{name}' should be in {rows[name]}, which cannot be loaded "
                f"({type(error).__name__}: {error}). Install or remove the package that brings it."
            ) from error
        if not (isinstance(found, type) and issubclass(found, Method) and found.name == name):
            raise InvalidValueError(
                f"The method '{name}' is {rows[name]}; expected a subclass of "
                f"handwright.methods.Method whose 'name' is '{name}'."
            )
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._rows()

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())

    def _rows(self) -> dict[str, str]:
        """Own rows first; another package cannot take the name of one of them."""
        others = {entry.name: entry.value for entry in entry_points(group=GROUP)}
        return {**self._own, **{k: v for k, v in others.items() if k not in self._own}}


METHODS = MethodTable(ROWS)
"""Every method by its name."""


def loaded_methods() -> dict[str, type[Method]]:
    """All methods; one of another package that cannot be loaded is left out with a warning."""
    found = {}
    for name in METHODS:
        try:
            found[name] = METHODS[name]
        except InvalidValueError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def default_method(problem: Problem) -> str:
    """Name of the method that says that it suits a problem best; the first of equals."""
    found = {name: cls.suits(problem) for name, cls in loaded_methods().items()}
    return max(found, key=lambda name: found[name])
