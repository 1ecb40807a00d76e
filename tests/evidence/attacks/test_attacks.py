"""No clip that a person would call wrong is certified without a word about what it assumes."""

from __future__ import annotations

import pytest

from attacks.rows import is_acceptable, judge
from attacks.tables import ATTACKS


@pytest.mark.parametrize("row", [pytest.param(r, id=f"{g}.{r.name}") for g, r in ATTACKS])
def test_it_is_refused_for_a_right_reason_or_certified_under_what_it_assumes(row):
    said = judge(row)
    assert is_acceptable(row, said), (
        f"{said.verdict}; expected one of {sorted(row.refused)} or the word {row.under}"
    )
