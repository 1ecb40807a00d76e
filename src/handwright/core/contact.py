"""Where hands, bodies and surroundings touch, and with what force."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.errors import refuse

ENVIRONMENT = "environment"
"""Toucher of contacts between a body and the surroundings."""


class ContactMode(IntEnum):
    """How the surfaces move against each other."""

    STATIC = 0
    SLIDING = 1
    ROLLING = 2
    COLLIDING = 3


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """One contact in one frame."""

    frame: int
    toucher: str
    """Name of a hand, of another body, or ``environment``."""
    part: int
    """Capsule of the hand, or surface of the surroundings."""
    body: str
    point: Float[np.ndarray, "3"]
    """On the body's surface, in the world, m."""
    normal: Float[np.ndarray, "3"]
    """Unit length, into the body."""
    gap: float
    """m; negative in penetration."""
    force: Float[np.ndarray, "3"]
    """On the body, in the world, N; NaN where no method has given one."""
    mode: ContactMode


@dataclass(frozen=True, slots=True, eq=False)
class ContactTrack:
    """All contacts of a motion as one table, ordered by frame."""

    touchers: tuple[str, ...]
    """Names that ``toucher`` indexes: hands, other bodies, and ``environment``."""
    bodies: tuple[str, ...]
    """Names that ``body`` indexes."""
    frame: Int[np.ndarray, " N"]
    toucher: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    """Capsule of the hand, or surface of the surroundings."""
    body: Int[np.ndarray, " N"]
    point: Float[np.ndarray, "N 3"]
    """On the body's surface, in the world, m."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, into the body."""
    gap: Float[np.ndarray, " N"]
    """m; negative in penetration."""
    force: Float[np.ndarray, "N 3"]
    """On the body, in the world, N; NaN where no method has given one."""
    mode: Int[np.ndarray, " N"]
    """Values of ``ContactMode``."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = self._problems()
        refuse("ContactTrack", problems)

    def _problems(self) -> list[str]:
        count = len(self.frame)
        arrays = [item.name for item in fields(self) if item.name not in ("touchers", "bodies")]
        problems = [
            f"{name} has {len(getattr(self, name))} rows, expected {count}"
            for name in arrays
            if len(getattr(self, name)) != count
        ]
        if problems or count == 0:
            return problems
        if np.any(np.diff(self.frame) < 0) or self.frame[0] < 0:
            problems.append("frames must not be negative or fall from row to row")
        for name, values, top in (
            ("toucher", self.toucher, len(self.touchers)),
            ("body", self.body, len(self.bodies)),
            ("mode", self.mode, len(ContactMode)),
        ):
            if values.min() < 0 or values.max() >= top:
                problems.append(f"{name} must be 0 to {top - 1}")
        for name in ("point", "normal", "gap"):
            if not np.isfinite(getattr(self, name)).all():
                problems.append(f"{name} holds NaN or infinity")
        if np.any(np.abs(np.linalg.norm(self.normal, axis=-1) - 1.0) > 1e-6):
            problems.append("every normal must have length 1 within 1e-6")
        return problems

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, row: int) -> Contact:
        return Contact(
            frame=int(self.frame[row]),
            toucher=self.touchers[self.toucher[row]],
            part=int(self.part[row]),
            body=self.bodies[self.body[row]],
            point=self.point[row],
            normal=self.normal[row],
            gap=float(self.gap[row]),
            force=self.force[row],
            mode=ContactMode(int(self.mode[row])),
        )

    def __repr__(self) -> str:
        return f"ContactTrack({len(self)} contacts of {self.touchers} with {self.bodies})"

    def at(self, frame: int) -> list[Contact]:
        """The contacts of one frame."""
        first, last = np.searchsorted(self.frame, [frame, frame + 1])
        return [self[row] for row in range(first, last)]

    @staticmethod
    def empty() -> ContactTrack:
        """A motion without contacts."""
        nothing, none = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
        return ContactTrack(
            (), (), none, none, none, none, nothing, nothing, np.zeros(0), nothing, none
        )

    @staticmethod
    def of(contacts: list[Contact]) -> ContactTrack:
        """A table of single contacts, put in the order of their frames."""
        if not contacts:
            return ContactTrack.empty()
        rows = sorted(contacts, key=lambda contact: contact.frame)
        touchers = tuple(sorted({row.toucher for row in rows}))
        bodies = tuple(sorted({row.body for row in rows}))
        return ContactTrack(
            touchers=touchers,
            bodies=bodies,
            frame=np.array([row.frame for row in rows]),
            toucher=np.array([touchers.index(row.toucher) for row in rows]),
            part=np.array([row.part for row in rows]),
            body=np.array([bodies.index(row.body) for row in rows]),
            point=np.array([row.point for row in rows], dtype=np.float64),
            normal=np.array([row.normal for row in rows], dtype=np.float64),
            gap=np.array([row.gap for row in rows], dtype=np.float64),
            force=np.array([row.force for row in rows], dtype=np.float64),
            mode=np.array([int(row.mode) for row in rows]),
        )
