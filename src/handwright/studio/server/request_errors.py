"""Refusals: what went wrong, as an HTTP status and a sentence."""

from __future__ import annotations

from handwright.errors import HandwrightError


class TroubleError(HandwrightError):
    """A request that cannot be met; becomes a ``Trouble`` with a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def unknown(kind: str, name: str) -> TroubleError:
    """There is no such thing."""
    return TroubleError(404, f"There is no {kind} '{name[:80]}'. Load the page again.")
