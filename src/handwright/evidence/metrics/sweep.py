"""How far the published realism depends on the choices that the paper leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handwright.core.clip import Clip
from handwright.evidence.metrics.realism import (
    PublishedConventions,
    capsule_contacts,
    physical_realism,
    thinned,
)

CHOICES: dict[str, Sequence[Any]] = {
    "contact_distance": (0.0, 0.002, 0.003, 0.005),
    "sliding_speed": (0.05, 0.1, 0.2, float("inf")),
    "only_airborne": (True, False),
    "cone": ("inscribed", "circumscribed"),
}
"""Values tried for each convention, one convention at a time."""

_SAID: dict[str, Callable[[Any], str]] = {
    "contact_distance": lambda value: f"contact at {1e3 * value:g} mm",
    "sliding_speed": lambda value: f"sliding above {value:g} m/s",
    "only_airborne": lambda value: "frames off the surroundings" if value else "all frames",
    "cone": lambda value: f"four-edge cones {value}",
}


class Swept(NamedTuple):
    """Realism with one convention changed."""

    convention: str
    """Name of a field of ``PublishedConventions``."""
    value: Any
    percent: float
    """Of the counted frames; NaN if none is counted."""
    counted: int

    def __str__(self) -> str:
        said = _SAID[self.convention](self.value)
        return f"{said}: {self.percent:.1f} % of {self.counted} frames"

    def plain(self) -> dict[str, Any]:
        """For JSON, which has neither infinity nor NaN: null stands for both."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in self._asdict().items()
        }


def sweep_conventions(
    clip: Clip, name: str, conventions: PublishedConventions | None = None
) -> list[Swept]:
    """Physical realism of a body with each convention in turn set to other values.

    Args:
        clip: The motion.
        name: Of the body.
        conventions: What stays as it is.
    """
    conventions = PublishedConventions() if conventions is None else conventions
    thin = thinned(clip, conventions.fps)
    reach = max(*CHOICES["contact_distance"], conventions.contact_distance)
    found = capsule_contacts(thin, name, reach=reach)
    rows = []
    for convention, values in CHOICES.items():
        for value in values:
            changed = replace(conventions, **{convention: value})
            result = physical_realism(thin, name, changed, found=found)
            rows.append(Swept(convention, value, result.percent, result.counted))
    return rows
