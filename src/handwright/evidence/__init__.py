"""The independent judge: metrics and the certificate. Imports no method."""

from __future__ import annotations

from handwright.evidence.certificate import CHECKS, certify
from handwright.evidence.diversity import Diversity, diversity, strategies
from handwright.evidence.realism import (
    PublishedConventions,
    Realism,
    physical_realism,
    sweep_contact_distance,
)
from handwright.evidence.records import (
    BodyRecord,
    Certificate,
    Check,
    FrameRecord,
    JudgedContact,
)
from handwright.evidence.report import Metric, Report, evaluate
from handwright.evidence.smoothness import Smoothness, smoothness
from handwright.evidence.tolerances import Tolerances

__all__ = [
    "CHECKS",
    "BodyRecord",
    "Certificate",
    "Check",
    "Diversity",
    "FrameRecord",
    "JudgedContact",
    "Metric",
    "PublishedConventions",
    "Realism",
    "Report",
    "Smoothness",
    "Tolerances",
    "certify",
    "diversity",
    "evaluate",
    "physical_realism",
    "smoothness",
    "strategies",
    "sweep_contact_distance",
]
