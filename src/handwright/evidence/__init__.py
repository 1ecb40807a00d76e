"""The independent judge: metrics and the certificate. Imports no method."""

from __future__ import annotations

from handwright.core.certificate import (
    BodyRecord,
    Certificate,
    Check,
    FrameRecord,
    JudgedContact,
)
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.certificate import CHECKS, certify
from handwright.evidence.metrics.diversity import Diversity, diversity, strategies
from handwright.evidence.metrics.realism import (
    PublishedConventions,
    Realism,
    physical_realism,
    sweep_contact_distance,
)
from handwright.evidence.metrics.report import Metric, Report, evaluate
from handwright.evidence.metrics.smoothness import Smoothness, smoothness

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
