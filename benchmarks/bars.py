"""Goals of a benchmark: whether they are met, and the table that shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Bars = Mapping[str, tuple[str, float]]
"""Name of a figure to its relation (``>=`` or ``<=``) and bound."""


def bars_met(result: Mapping[str, float], bars: Bars) -> bool:
    """Whether every goal is reached."""
    return all(
        result[name] >= bound if relation == ">=" else result[name] <= bound
        for name, (relation, bound) in bars.items()
    )


def judged_part(judged: Mapping[str, float], bars: Bars) -> dict[str, Any]:
    """The figures that a benchmark of scenes judges, as a part of its result."""
    own = {name: bars[name] for name in judged}
    return {
        "judged": {name: None if math.isnan(value) else value for name, value in judged.items()},
        "bars": {name: list(bar) for name, bar in own.items()},
        "bars_met": bars_met(judged, own),
    }


def judged_table(result: Mapping[str, Any], meanings: Mapping[str, str]) -> Table:
    """The figures that a benchmark of scenes judges, with their goals."""
    judged = {key: math.nan if v is None else v for key, v in result["judged"].items()}
    bars = {name: (str(bar[0]), float(bar[1])) for name, bar in result["bars"].items()}
    known = {name: text for name, text in meanings.items() if name in judged}
    return bars_table("Bars (nan: there is no such figure)", judged, known, bars)


def refused_lines(scenes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the certificate refused, a line for each scene and reason."""
    return [
        f"{name}: refused by the certificate: {key} ({count} clips)."
        for name, row in scenes.items()
        for key, count in row["refused"].items()
    ]


def bars_table(
    title: str, result: Mapping[str, float], meanings: Mapping[str, str], bars: Bars
) -> Table:
    """Figures with their goals and what they mean."""
    from rich.table import Table

    table = Table(title=title)
    table.add_column("name")
    table.add_column("value", justify="right")
    table.add_column("bar", justify="right")
    table.add_column("meaning")
    for name, meaning in meanings.items():
        bar = "{} {:g}".format(*bars[name]) if name in bars else ""
        table.add_row(name, f"{result[name]:.4g}", bar, meaning)
    return table
