"""All attacks and all neighbours, each with the group that it belongs to."""

from __future__ import annotations

from attacks.honest import bodies, grips, hands, recorded, rest
from attacks.wrong import (
    aliasing,
    altered_hands,
    crossing,
    disguises,
    explained,
    figures,
    impacts,
    leaps,
    meshes,
    passing,
    shaking,
    small,
    smoothed,
    strength,
)


def _group(module):
    return module.__name__.rpartition(".")[2]


ATTACKS = tuple(
    (_group(module), row)
    for module in (
        leaps,
        shaking,
        aliasing,
        impacts,
        passing,
        strength,
        figures,
        disguises,
        altered_hands,
        small,
        meshes,
        crossing,
        explained,
        smoothed,
    )
    for row in module.ATTACKS
)
NEIGHBOURS = tuple(
    (f"honest_{_group(module)}", row)
    for module in (hands, grips, bodies, rest, recorded)
    for row in module.NEIGHBOURS
)
