"""The families of methods, each in a folder of its own; families never import each other.

Importing this package loads no family: each is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from handwright.deprecated import renamed_attributes
from handwright.methods.base import Method
from handwright.methods.table import METHODS, default_method, loaded_methods

if TYPE_CHECKING:
    from handwright.methods.neural.method import NeuralFingers
    from handwright.methods.sampling import ContactSampling
    from handwright.methods.scripted import Scripted
    from handwright.methods.stepwise import Session, Stepwise
    from handwright.methods.throwing.method import CatchThrow
    from handwright.methods.trajopt import ContactInvariant

__all__ = [
    "METHODS",
    "CatchThrow",
    "ContactInvariant",
    "ContactSampling",
    "Method",
    "NeuralFingers",
    "Scripted",
    "Session",
    "Stepwise",
    "default_method",
    "loaded_methods",
]

_HOMES = {
    "CatchThrow": "handwright.methods.throwing.method",
    "ContactInvariant": "handwright.methods.trajopt",
    "ContactSampling": "handwright.methods.sampling",
    "NeuralFingers": "handwright.methods.neural.method",
    "Scripted": "handwright.methods.scripted",
    "Session": "handwright.methods.stepwise",
    "Stepwise": "handwright.methods.stepwise",
}


_renamed = renamed_attributes(__name__, {"synthesize": "handwright.synthesis.synthesize"})


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    if name not in _HOMES:
        return _renamed(name)
    return getattr(importlib.import_module(_HOMES[name]), name)
