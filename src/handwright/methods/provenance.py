"""The note in a clip that says how its method made it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from handwright.core.clip import Provenance
from handwright.core.problem import Problem
from handwright.core.settings import plain_settings

if TYPE_CHECKING:
    from handwright.methods.base import Method


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
        is_certified=is_certified,
    )
