"""The nouns of the certificate: what was found in each frame, and the verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.core.tolerances import Tolerances
from handwright.printable import printable

_MAX_LISTED = 5

COARSE = "resolution"
"""Name of the check that fails if a clip shows too little to be judged."""
SCHEME = "momenta at mid-frames, central differences at frames; at the ends, rates go on in line"
"""How the certificate takes derivatives, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedContact:
    """One contact in one frame, with the force that the judge found for it."""

    toucher: str
    """A hand, ``environment``, or another body."""
    part: str
    """Capsule of the hand, or number of the surface; 0 for a body."""
    point: Float[np.ndarray, "3"]
    """m."""
    normal: Float[np.ndarray, "3"]
    """Into the body."""
    gap: float
    """m."""
    slip_speed: float
    """m/s."""
    mode: ContactMode
    force: Float[np.ndarray, "3"]
    """On the body, N."""
    friction_margin: float
    """1 - tangential / (friction x normal): 1 for a straight push, 0 on the cone's edge."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyRecord:
    """A body in one frame."""

    required_force: Float[np.ndarray, "3"]
    """N, from contacts."""
    required_moment: Float[np.ndarray, "3"]
    """N m about the centre of mass."""
    contacts: tuple[JudgedContact, ...]
    force_residual: float
    """Over the weight."""
    moment_residual: float
    """Over weight x radius of gyration."""
    friction_margin: float
    """Least of the contacts that carry force without sliding; 1 without any."""
    gap: float
    """Largest gap of a contact that carries force, m."""
    penetration: float
    """Deepest skin or capsule in the body, or body in the surroundings, m."""
    drift: float
    """Largest sliding of a static contact since its episode began, m."""

    @property
    def is_free(self) -> bool:
        """Whether nothing touches the body."""
        return not self.contacts


@dataclass(frozen=True, slots=True, eq=False)
class FrameRecord:
    """One frame."""

    frame: int
    time: float
    """s."""
    bodies: Mapping[str, BodyRecord]
    joint_excess: float
    """rad."""
    finger_finger: float
    """m."""
    digit_force: float
    """Largest sum of the forces of one digit, N."""
    torque_share: float
    """Largest torque of a joint over what its muscles can give."""
    stored_residual: float | None
    """What the forces stored with the clip leave of the needed wrench, over the weight and over
    weight x radius of gyration, whichever is more; None where none are judged."""
    failed: tuple[str, ...]
    """Names of the checks that fail here."""


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the verdict."""

    name: str
    passed: bool
    worst: float
    """The value that is most beyond what is allowed for it, in ``unit``."""
    allowed: float
    """For that value: small and thin bodies are allowed less."""
    unit: str
    frames: tuple[int, ...]
    """Frames that fail."""
    detail: str = ""
    """What is worst, and every reason why the check fails."""

    @property
    def is_by_figure(self) -> bool:
        """Whether it fails because of ``worst``; otherwise ``detail`` alone says why."""
        return not self.passed and self.worst > self.allowed

    def __str__(self) -> str:
        figures = f"{self.worst:.3g} {self.unit}, allowed {self.allowed:.3g}"
        if self.passed:
            return f"{self.name} is {figures}"
        frame = f"at frame {self.frames[0]}"
        if self.is_by_figure:
            why = f" ({self.detail})" if self.detail else ""
            return f"{self.name} is {figures}, {frame}{why}"
        return f"{self.name} fails {frame}: {self.detail}"


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Frame by frame, whether contact forces can move the bodies as shown; and the verdict."""

    clip: str
    """Name of the scene, and the method."""
    frames: tuple[FrameRecord, ...]
    """Empty in a certificate from a clip file, which keeps the verdict and the checks only."""
    checks: tuple[Check, ...]
    tolerances: Tolerances
    notes: tuple[str, ...] = ()
    """What a reader should know about how it was judged."""
    num_frames: int = 0
    """Number of frames that were judged."""
    assumptions: tuple[str, ...] = ()
    """What the verdict takes on trust, such as gravity that is not the usual one."""
    unjudged: tuple[str, ...] = ()
    """What could not be judged, such as the strength of a robot hand."""

    @property
    def passed(self) -> bool:
        """Whether every check passes."""
        return all(check.passed for check in self.checks)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of the checks that fail."""
        return tuple(check.name for check in self.checks if not check.passed)

    @property
    def verdict(self) -> str:
        """One sentence, with all that it rests on."""
        conditions = [*self.tolerances.conditions(), *self.assumptions]
        beyond = f" except {', '.join(self.unjudged)}" if self.unjudged else ""
        under = f" under {', '.join(conditions)}" if conditions else ""
        if self.passed:
            return f"certified{beyond}{under}"
        if COARSE in self.reasons:
            return f"too coarse to judge{under}: {self.check(COARSE).detail}"
        return f"not certified{under}: {', '.join(self.reasons)}"

    def without_frames(self) -> Certificate:
        """The verdict and the checks alone, which is what a clip file keeps."""
        return replace(self, frames=())

    def check(self, name: str) -> Check:
        """The check with this name."""
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        rows = [("check", "", "worst", "allowed", "unit", "failing frames")]
        for c in self.checks:
            listed = ", ".join(str(frame) for frame in c.frames[:_MAX_LISTED])
            more = len(c.frames) - _MAX_LISTED
            listed += f" and {more} more" if more > 0 else ""
            note = "  ".join(part for part in (listed, printable(c.detail)) if part)
            # Where words say why it fails, figures within their limit would only confuse.
            figures = (f"{c.worst:.4g}", f"{c.allowed:.4g}", c.unit)
            if not c.passed and not c.is_by_figure:
                figures = ("-", "-", "")
            rows.append((c.name, "ok" if c.passed else "FAILS", *figures, note))
        width = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = [f"{printable(self.clip)}, {self.num_frames} frames: {self.verdict}"]
        for row in rows:
            cells = [
                row[k].rjust(width[k]) if k in (2, 3) else row[k].ljust(width[k]) for k in range(5)
            ]
            lines.append("  ".join([*cells, row[5]]).rstrip())
        lines += [f"note: {printable(note)}" for note in self.notes]
        settings = ", ".join(
            f"{item.name} {self.tolerances.in_words(item.name)}" for item in fields(self.tolerances)
        )
        lines += [f"tolerances: {settings}", f"derivatives: {SCHEME}"]
        return "\n".join(lines)

    def to_json(self, *, frames: bool = True) -> str:
        """The whole certificate as JSON, SI units.

        Args:
            frames: Whether to list every frame, or only the verdict.
        """
        whole: dict[str, Any] = {
            "clip": self.clip,
            "passed": self.passed,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "assumptions": list(self.assumptions),
            "unjudged": list(self.unjudged),
            "notes": list(self.notes),
            "derivatives": SCHEME,
            "tolerances": asdict(self.tolerances),
            "checks": [asdict(check) for check in self.checks],
        }
        if frames:
            whole["frames"] = [_plain(record) for record in self.frames]
        return json.dumps(whole, allow_nan=False)


def _plain(value: Any) -> Any:  # noqa: ANN401  a tree of records
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, ContactMode):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value
