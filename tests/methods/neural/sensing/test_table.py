"""The feature table: it covers every number once, and the documentation shows it as it is."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from handwright.methods.neural.sensing import FEATURES, OUTPUTS, Feature
from handwright.methods.neural.sensing.features import FIXED_SIZE, NUM_FEATURES, NUM_OUTPUTS

PAGE = Path(__file__).parents[4] / "docs" / "derivations" / "learned-fingers.md"


@pytest.mark.parametrize(("table", "size"), [(FEATURES, 2356), (OUTPUTS, 220)])
def test_slices_cover_all_numbers_once(table: tuple[Feature, ...], size: int) -> None:
    numbers = [n for row in table for n in range(row.slice.start, row.slice.stop)]
    assert numbers == list(range(size))
    assert len({row.name for row in table}) == len(table)
    for row in table:
        assert row.slice.stop - row.slice.start == math.prod(row.shape)


def test_groups_are_those_of_the_paper() -> None:
    """Section 6.1: 198 of pose, 336 of trajectory, 1822 of sensors; 220 of output."""
    size = {row.name: math.prod(row.shape) for row in FEATURES}
    names = list(size)
    assert sum(size[name] for name in names[:2]) == 198
    assert sum(size[name] for name in names[2:7]) == 336
    assert sum(size[name] for name in names[7:]) == 1822
    assert FIXED_SIZE == 1336
    assert (NUM_FEATURES, NUM_OUTPUTS) == (2356, 220)


def _line(row: Feature) -> str:
    shape = " x ".join(str(n) for n in row.shape)
    return f"| `{row.name}` | {row.slice.start} | {row.slice.stop} | {shape} | {row.unit} |"


@pytest.mark.parametrize("row", [*FEATURES, *OUTPUTS], ids=lambda row: row.name)
def test_the_page_shows_the_table(row: Feature) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    wanted = f"{_line(row)} {row.what} |"
    assert wanted in lines, f"docs/derivations/learned-fingers.md lacks this line:\n{wanted}"
