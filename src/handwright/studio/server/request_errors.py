"""Refusals: what went wrong, as an HTTP status and a sentence."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from handwright.errors import HandwrightError, MissingExtraError
from handwright.studio.labels import well_formed

_logger = logging.getLogger(__name__)
FULL = 507
"""Status of what a full disk refuses."""
_FULL = FULL, "Free some space and try again."
_LOCKED = 403, "Make its folder writable, or work in a copy of it."
_DISK = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EROFS: _LOCKED,
    errno.EACCES: _LOCKED,
    errno.EPERM: _LOCKED,
}


class TroubleError(HandwrightError):
    """A request that cannot be met; becomes a ``Trouble`` with a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def trouble_of(error: Exception) -> TroubleError:
    """What to say of an error. One that nobody has foreseen is logged as well."""
    if isinstance(error, TroubleError):
        return error
    if isinstance(error, MissingExtraError):
        return TroubleError(409, str(error))
    if isinstance(error, HandwrightError):
        return TroubleError(422, well_formed(str(error)))
    if isinstance(error, MemoryError):
        return TroubleError(422, "This needs more memory than the studio gives it. Try less.")
    if isinstance(error, OSError):
        status, remedy = _DISK.get(error.errno or 0, (409, "Try again."))
        # Where the folder is means nothing to a page.
        name = f"'{Path(os.fsdecode(error.filename)).name}'" if error.filename else "A file"
        reason = error.strerror or str(error) or type(error).__name__
        text = f"{name} cannot be read or written ({reason}). {remedy}"
        return TroubleError(status, well_formed(text))
    _logger.error("Something failed that should not.", exc_info=error)
    text = f"This failed unexpectedly ({type(error).__name__}: {error})."
    return TroubleError(422, well_formed(text))


def unknown(kind: str, name: str) -> TroubleError:
    """There is no such thing."""
    return TroubleError(404, f"There is no {kind} '{name[:80]}'. Load the page again.")
