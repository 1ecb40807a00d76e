"""Text that is safe to print: names come out of files, and a terminal obeys some characters."""

from __future__ import annotations

import re

# Control characters, line separators, what turns the direction of text, and halves of characters.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_printable(text: str) -> bool:
    """Whether a text has no character that a terminal obeys or cannot show."""
    return _UNPRINTABLE.search(text) is None


def printable(text: str) -> str:
    r"""The text with such characters written out, a new line as ``\n``."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
