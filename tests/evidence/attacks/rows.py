"""The rows of the tables: a clip that is made by code, and what the judge may say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handwright.core.clip import Clip
from handwright.core.tolerances import Tolerances
from handwright.errors import HandwrightError
from handwright.evidence import certify

# Names of checks that are a right reason, by what is wrong.
UNSEEN = frozenset({"resolution"})
LEAP = frozenset({"jump", "speed"}) | UNSEEN
SEAM = frozenset({"seam", "jump", "speed", "force_residual"})
UNEXPLAINED = frozenset({"force_residual", "moment_residual", "gap"})
SLIDES = frozenset({"slip"})
HIT = frozenset({"impact"})
WEAK = frozenset({"strength"})
SUNK = frozenset({"penetration", "crossing", "finger_finger"})
BENT = frozenset({"joint_limits"})
FIGURES = frozenset({"mass"})
MESH = frozenset({"mesh"})
STORED = frozenset({"stored_balance", "friction", "slip"})


@dataclass(frozen=True)
class Attack:
    """A clip that a person would call wrong; the maker's docstring says why."""

    make: Callable[[], Clip]
    refused: frozenset[str]
    """Checks that are a right reason to refuse it."""
    under: tuple[str, ...] = ()
    """Words of assumptions: a verdict with one of them certifies the clip under it, and an error
    with one of them refuses it. A note below the verdict is not enough."""
    tolerances: Tolerances | None = None
    variant: str = ""

    @property
    def name(self) -> str:
        """Of the maker, and of the variant."""
        made = getattr(self.make, "func", self.make).__name__
        return f"{made}-{self.variant}" if self.variant else made


@dataclass(frozen=True)
class Neighbour:
    """A clip that is right, near to one that is wrong."""

    make: Callable[[], Clip]
    variant: str = ""
    tolerances: Tolerances | None = None

    name = Attack.name


@dataclass(frozen=True)
class Judgement:
    """What the judge says of a row."""

    verdict: str
    """In one line, with what is assumed."""
    passed: bool
    reasons: frozenset[str] = frozenset()
    is_error: bool = False
    notes: tuple[str, ...] = ()


def judge(row: Attack | Neighbour) -> Judgement:
    """Makes the clip of a row and has it judged; an error of ours is a refusal, too."""
    try:
        certificate = certify(row.make(), tolerances=row.tolerances)
    except HandwrightError as error:
        return Judgement(f"error: {error}", False, is_error=True)
    reasons = frozenset(certificate.reasons)
    return Judgement(
        certificate.verdict, certificate.passed, reasons, notes=tuple(certificate.notes)
    )


def is_acceptable(row: Attack, said: Judgement) -> bool:
    """Whether a wrong clip is refused for a right reason, or certified under what it assumes."""
    names_it = any(word in said.verdict.lower() for word in row.under)
    if said.passed or said.is_error:
        return names_it
    return bool(said.reasons & row.refused) or names_it
