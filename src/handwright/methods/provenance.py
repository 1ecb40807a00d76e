"""The note in a clip that says how its method made it, and back from it to the method."""

from __future__ import annotations

from importlib.metadata import version

from handwright.core.clip import Provenance
from handwright.core.problem import Problem
from handwright.core.settings import from_plain_settings, plain_settings
from handwright.errors import InvalidValueError
from handwright.methods.base import Method
from handwright.methods.table import METHODS


def provenance_of(
    problem: Problem, method: Method, seed: int, *, is_certified: bool = False
) -> Provenance:
    """How the motions of a method are made, so that they can be made again.

    Args:
        problem: What the motions are for.
        method: Settings.
        seed: Random seed.
        is_certified: Whether they are judged before they are returned.
    """
    return Provenance(
        scene=problem.name,
        method=method.name,
        settings=plain_settings(method),
        seed=seed,
        version=version("handwright"),
        kept=getattr(method, "kept", ()),
        guide=getattr(method, "guide", ()),
        is_certified=is_certified,
    )


def method_of(provenance: Provenance) -> Method:
    """The method that made a clip, with the same settings.

    Clips of earlier releases may name settings by names that have been replaced since.

    Args:
        provenance: Where the clip came from.
    """
    if provenance.method not in METHODS:
        raise InvalidValueError(
            f"The clip was made by '{provenance.method}', which is none of the methods "
            f"({', '.join(METHODS)}); it cannot be made again. Install the package that brings "
            "this method, or give a clip of 'handwright synth'."
        )
    cls = METHODS[provenance.method]
    values = from_plain_settings(cls, provenance.settings)
    for name in ("kept", "guide"):
        if getattr(provenance, name):
            values[name] = getattr(provenance, name)
    return cls(**values)
