"""From the note in a clip back to the method that made it."""

from __future__ import annotations

from handwright.core.clip import Provenance
from handwright.core.settings import from_plain_settings
from handwright.errors import InvalidValueError
from handwright.methods import METHODS, Method


def method_of(provenance: Provenance) -> Method:
    """The method that made a clip, with the same settings.

    Clips of earlier releases may name settings by names that have been replaced since.

    Args:
        provenance: Where the clip came from.
    """
    if provenance.method not in METHODS:
        raise InvalidValueError(
            f"The clip was made by '{provenance.method}', which is none of the methods "
            f"({', '.join(METHODS)}); it cannot be made again. Install the package that brings "
            "this method, or give a clip of 'handwright synth'."
        )
    cls = METHODS[provenance.method]
    values = from_plain_settings(cls, provenance.settings)
    if provenance.kept:
        values["kept"] = provenance.kept
    return cls(**values)
