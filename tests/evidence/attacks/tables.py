"""All attacks and all neighbours, each with the group that it belongs to."""

from __future__ import annotations

from attacks import (
    aliasing,
    crossing,
    explained,
    figures,
    honest_bodies,
    honest_hands,
    honest_rest,
    leaps,
    meshes,
    strength,
)

_ATTACKS = (leaps, aliasing, strength, figures, meshes, crossing, explained)
_NEIGHBOURS = (honest_hands, honest_bodies, honest_rest)


def _of(modules, name):
    return tuple(
        (module.__name__.rpartition(".")[2], row)
        for module in modules
        for row in getattr(module, name)
    )


ATTACKS = _of(_ATTACKS, "ATTACKS")
NEIGHBOURS = _of(_NEIGHBOURS, "NEIGHBOURS")
