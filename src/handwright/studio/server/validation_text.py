"""What is wrong with a request, in our own words: what was given, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_MOST = 5
"""Mistakes that are told at once."""
_LONGEST = 60
"""Letters of what was given."""
_EXPECTED = {
    "greater_than": "a number above {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "a number below {lt}",
    "less_than_equal": "{le} at most",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "an object with names and values",
    "model_type": "an object with names and values",
    "model_attributes_type": "an object with names and values",
    "literal_error": "{expected}",
    "too_short": "{min_length} values",
    "too_long": "{max_length} values",
}
"""By the names that pydantic gives to mistakes."""
_PARTS = ("body", "query", "path", "header", "cookie")


def refusal(errors: Sequence[Any]) -> str:
    """A text about mistakes in a request.

    Args:
        errors: As pydantic lists them.
    """
    texts = dict.fromkeys(map(_text, errors))
    more = f" And {len(texts) - _MOST} more." if len(texts) > _MOST else ""
    return f"{' '.join(list(texts)[:_MOST])}{more} Change that and ask again."


def _text(error: Any) -> str:  # noqa: ANN401  an entry of pydantic's list
    kind, place = str(error["type"]), _place(error["loc"])
    if kind == "missing":
        return f"'{place}' is missing."
    if kind == "extra_forbidden":
        return f"'{place}' is not known here."
    if kind == "json_invalid":
        return f"The request is not JSON ({error.get('ctx', {}).get('error', error['msg'])})."
    given = repr(error.get("input"))
    shown = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…"
    pattern = _EXPECTED.get(kind)
    expected = error["msg"] if pattern is None else pattern.format_map(_plain(error.get("ctx")))
    return f"'{place}' is {shown}; expected {expected}."


def _plain(context: Any) -> dict[str, Any]:  # noqa: ANN401  what pydantic knows of a mistake
    return {
        name: f"{value:g}" if isinstance(value, float) else value
        for name, value in dict(context or {}).items()
    }


def _place(loc: Sequence[Any]) -> str:
    """``("body", "pins", 0, "start")`` as ``pins[0].start``."""
    parts = list(loc[1:] if loc and loc[0] in _PARTS else loc)
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
    return text or "request"
