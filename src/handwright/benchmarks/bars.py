"""Goals of a benchmark: whether they are met, and the table that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

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
