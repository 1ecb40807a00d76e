"""JSON without the extensions that Python's parser allows."""

from __future__ import annotations

import json
import math
from typing import Any


def parse_json(text: bytes) -> Any:  # noqa: ANN401  whatever JSON holds
    """Parses UTF-8 JSON; NaN, infinity and numbers too large for a float are a ``ValueError``."""
    return json.loads(text.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is not allowed")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value
