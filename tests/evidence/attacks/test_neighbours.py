"""Honest clips beside the wrong ones stay certified: nothing is cured by refusing everything."""

from __future__ import annotations

import pytest

from attacks.rows import judge
from attacks.tables import NEIGHBOURS


@pytest.mark.parametrize("row", [pytest.param(r, id=f"{g}.{r.name}") for g, r in NEIGHBOURS])
def test_an_honest_clip_is_certified(row):
    said = judge(row)
    assert said.passed, said.verdict
