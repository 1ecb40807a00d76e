"""Errors that a user can cause, and the one place where missing extras are reported.

Every message says what was given, what was expected and what to do.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Sequence
from types import ModuleType


class HandwrightError(Exception):
    """Base of all errors that a user can cause and mend."""


class InvalidValueError(HandwrightError, ValueError):
    """A value or a combination of values that cannot be used."""


class UnknownNameError(HandwrightError, KeyError):
    """A name that is not in a table; the message lists the known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        super().__init__(f"Unknown {kind} '{name}'.{hint} Known: {', '.join(names)}.")

    def __str__(self) -> str:
        # KeyError would print the message in quotes.
        return str(self.args[0])


class MeshError(HandwrightError, ValueError):
    """A mesh that has no well-defined inside, or that cannot be a hand-held object."""


class FileFormatError(HandwrightError, ValueError):
    """A file that is truncated, of another format, or holds values that cannot be used."""


def refuse(what: str, problems: Sequence[str]) -> None:
    """Raises ``InvalidValueError`` with all that is wrong with something; nothing if nothing is."""
    if problems:
        raise InvalidValueError(f"{what}: {'; '.join(problems)}.")


class MissingExtraError(HandwrightError, ImportError):
    """An optional part that is not installed."""


def require(module: str, *, extra: str, feature: str) -> ModuleType:
    """Imports an optional module, or says which extra brings it.

    Args:
        module: Name of the module, for example ``torch``.
        extra: Name of the extra of this package that installs it.
        feature: What the user asked for, as the start of the sentence.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{feature} needs the '{extra}' extra: pip install \"handwright[{extra}]\""
        ) from error
