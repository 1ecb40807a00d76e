"""The independent judge: metrics and the certificate. Imports no method."""

from __future__ import annotations

from handwright.evidence.certificate import CHECKS, certify
from handwright.evidence.records import (
    BodyRecord,
    Certificate,
    Check,
    FrameRecord,
    JudgedContact,
)
from handwright.evidence.tolerances import Tolerances

__all__ = [
    "CHECKS",
    "BodyRecord",
    "Certificate",
    "Check",
    "FrameRecord",
    "JudgedContact",
    "Tolerances",
    "certify",
]
