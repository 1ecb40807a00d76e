"""Figures of runs of contact-invariant optimisation: goals met, certificates, exactness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.result import Result
from handwright.evidence import Certificate, certify
from handwright.evidence.certificate.penetration import penetration_of
from handwright.evidence.certificate.stored_contacts import carrying_contacts, unbalanced
from handwright.evidence.metrics.goals import touch_excess, worst_goal_error
from handwright.physics.replay.play import replay
from handwright.physics.replay.pushes import random_pushes

GOAL_MM = 5.0
GOAL_DEG = 5.0
PUSH = 0.25
"""Of the pushes at a body's tip, N."""
EXACT = {
    "force_residual_pct": "force that is missing, % of weight",
    "moment_residual_Nm": "moment that is missing, N m",
    "gap_mm": "gap, mm",
    "slip_cm_s": "slip, cm/s",
    "cone_pct": "force beyond its cone, %",
    "pen_mm": "penetration, mm",
}
"""Figures of which the 95th percentile is taken, and what they are."""

Samples = dict[str, list[Float[np.ndarray, " N"]]]
"""Values by the names of ``EXACT``, in groups that are judged apart."""


@dataclass(frozen=True, slots=True)
class SceneRun:
    """One run of the method on one scene."""

    seed: int
    seconds: float
    """Of one processor."""
    attempts: int
    is_cut: bool
    """Whether it was given less time than its scene is due."""
    message: str
    has_clip: bool = False
    is_certified: bool = False
    refused: tuple[str, ...] = ()
    """Checks of the certificate that fail."""
    goal_mm: float = np.nan
    goal_deg: float = np.nan
    touch_s: float = np.nan
    """Time of touches that are not allowed."""
    samples: Samples | None = None
    is_held: bool | None = None
    """Whether a simulated hand keeps the body although it is pushed; None if that is not asked."""

    @property
    def is_success(self) -> bool:
        """Whether there is a clip that is certified, meets its goals, and touches when it may."""
        is_met = self.goal_mm <= GOAL_MM and self.goal_deg <= GOAL_DEG and self.touch_s == 0.0
        return self.has_clip and self.is_certified and is_met


def judged_run(
    result: Result, *, seed: int, seconds: float, is_cut: bool, is_pushed: bool = False
) -> SceneRun:
    """What a run came to; its best clip counts.

    Args:
        result: Of ``synthesize``.
        seed: That it was given.
        seconds: That it took on one processor.
        is_cut: Whether it was given less time than its scene is due.
        is_pushed: Whether the clip is replayed with pushes; without a clip nothing is held.
    """
    attempts = int(result.statistics.get("attempts", 0.0))
    if not result.clips:
        none = False if is_pushed else None
        return SceneRun(seed, seconds, attempts, is_cut, result.message, is_held=none)
    clip = result.clips[0]
    certificate = result.certificates[0] if result.certificates else certify(clip)
    position, angle = worst_goal_error(clip)
    return SceneRun(
        seed,
        seconds,
        attempts,
        is_cut,
        result.message,
        has_clip=True,
        is_certified=certificate.passed,
        refused=certificate.reasons,
        goal_mm=position,
        goal_deg=angle,
        touch_s=touch_excess(clip),
        samples=exactness(clip, certificate),
        is_held=withstands_pushes(clip, seed) if is_pushed else None,
    )


def withstands_pushes(clip: Clip, seed: int) -> bool:
    """Whether a simulated hand keeps hold of what it moves, pushed in the second half.

    It has to be held for two seconds after the plan's end too.

    Args:
        clip: The plan.
        seed: Of the pushes' directions.
    """
    return not replay(clip, hold=2.0, pushes=random_pushes(clip, size=PUSH, seed=seed)).dropped


def exactness(clip: Clip, certificate: Certificate) -> Samples:
    """Errors of the contacts that carry force, or of the frames in which hands carry, by name.

    Contacts of hands and of surroundings are kept apart, lest many good ones of a body that lies
    on the table hide bad ones of the fingers that hold it.
    """
    found = carrying_contacts(clip)
    groups = (found.is_hand, ~found.is_hand)
    left = [unbalanced(clip, certificate, body) for body in clip.bodies]
    carried = np.unique(found.frame[found.is_hand])
    return {
        "force_residual_pct": [1e2 * one.force for one in left],
        "moment_residual_Nm": [one.moment for one in left],
        "gap_mm": [1e3 * np.maximum(found.gap[mine], 0.0) for mine in groups],
        "slip_cm_s": [1e2 * found.slip[mine] for mine in groups],
        "cone_pct": [1e2 * found.cone[mine] for mine in groups],
        "pen_mm": [1e3 * penetration_of(certificate)[carried]],
    }


def percentile_95(runs: Sequence[SceneRun], name: str) -> float | None:
    """95th percentile over the clips of all runs, of the worse group; None without clips."""
    given = [run.samples[name] for run in runs if run.samples is not None]
    groups = [np.concatenate(parts) for parts in zip(*given, strict=True)]
    return max((float(np.percentile(part, 95)) for part in groups if part.size), default=None)


def scene_row(runs: Sequence[SceneRun]) -> dict[str, Any]:
    """Figures of all runs on one scene."""
    clips = [run for run in runs if run.has_clip]
    reasons = [name for run in clips for name in run.refused]
    messages = {run.message: None for run in runs if run.message}
    held = [run.is_held for run in runs if run.is_held is not None]

    def worst(name: str) -> float | None:
        return max((float(getattr(run, name)) for run in clips), default=None)

    return {
        "success": float(np.mean([run.is_success for run in runs])),
        "seconds": float(np.median([run.seconds for run in runs])),
        **{name: percentile_95(runs, name) for name in EXACT},
        "runs": len(runs),
        "clips": len(clips),
        "certified": sum(run.is_certified for run in clips),
        "attempts": float(np.median([run.attempts for run in runs])),
        "goal_mm_max": worst("goal_mm"),
        "goal_deg_max": worst("goal_deg"),
        "touch_s_max": worst("touch_s"),
        "pushes": float(np.mean(held)) if held else None,
        "cut_short": sum(run.is_cut and not run.is_success for run in runs),
        "refused": {name: reasons.count(name) for name in sorted(set(reasons))},
        "messages": list(messages),
    }
