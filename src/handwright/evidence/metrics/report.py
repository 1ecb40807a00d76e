"""A clip in named figures with units."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.penetration import depth_summary, finger_finger
from handwright.evidence.certificate.speeds import joint_speeds, limit_excess
from handwright.evidence.contacts.hand_contacts import hand_gaps
from handwright.evidence.contacts.hand_probe import probe_hand
from handwright.evidence.contacts.table import ContactRule
from handwright.evidence.metrics.goals import touch_excess, worst_goal_error, worst_goal_rate
from handwright.evidence.metrics.realism import PublishedConventions, physical_realism
from handwright.evidence.metrics.smoothness import smoothness
from handwright.geometry.distance.exact import ExactDistance
from handwright.printable import printable


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure."""

    name: str
    value: float
    unit: str


_NO_VERDICT = (
    "physical_realism is ManipNet's measure, with its own friction and mass for every body and one "
    "contact a capsule: it may be low where 'handwright verify', which goes by the body's own, "
    "certifies"
)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of a clip, with the conventions that they depend on."""

    clip: str
    metrics: tuple[Metric, ...]
    conventions: PublishedConventions

    def __getitem__(self, name: str) -> float:
        for metric in self.metrics:
            if metric.name == name:
                return metric.value
        raise KeyError(f"no metric '{name}'; known: {', '.join(m.name for m in self.metrics)}")

    def __str__(self) -> str:
        width = max(len(metric.name) for metric in self.metrics)
        lines = [
            f"{metric.name:<{width}}  {metric.value:>10.4g} {metric.unit}".rstrip()
            for metric in self.metrics
        ]
        notes = [f"published metrics: {self.conventions}", _NO_VERDICT, *self._smoothness_note()]
        return "\n".join([printable(self.clip), *lines, *notes])

    def _smoothness_note(self) -> list[str]:
        """What the smoothness is taken at, where that is not the published rate."""
        rates = [metric.value for metric in self.metrics if metric.name == "smoothness_rate"]
        return [
            f"smoothness (joint_acceleration, joint_jerk) is at {rate:.4g} Hz, the rate of this "
            f"clip; published figures are at {self.conventions.fps:g} Hz, and larger for the same "
            "motion if it trembles"
            for rate in rates
            if rate < 0.99 * self.conventions.fps
        ]

    def to_json(self) -> str:
        """Figures, units and conventions; what does not exist or is infinite is null."""
        conventions = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self.conventions).items()
        }
        return json.dumps(
            {
                "clip": self.clip,
                "metrics": {
                    metric.name: {
                        "value": metric.value if math.isfinite(metric.value) else None,
                        "unit": metric.unit,
                    }
                    for metric in self.metrics
                },
                "conventions": conventions,
            },
            allow_nan=False,
        )


def evaluate(
    clip: Clip,
    problem: Problem | None = None,
    conventions: PublishedConventions | None = None,
) -> Report:
    """Measures a clip.

    Args:
        clip: The motion.
        problem: Hands, bodies and surroundings to measure it with; those of the clip if None.
        conventions: Open choices of the published metrics.
    """
    conventions = PublishedConventions() if conventions is None else conventions
    clip = clip if problem is None else replace(clip, problem=problem)
    metrics = [Metric("frames", clip.num_frames, ""), Metric("rate", clip.fps, "1/s")]
    for name in clip.bodies:
        metrics += [
            replace(metric, name=f"{name}.{metric.name}")
            for metric in _body_metrics(clip, name, conventions)
        ]
    metrics += _hand_metrics(clip, conventions)
    if clip.problem.goals:
        distance, angle = worst_goal_error(clip)
        metrics += [
            Metric("goal_distance", distance, "mm"),
            Metric("goal_angle", angle, "deg"),
            *_rate_metrics(clip),
            Metric("touch_outside_spans", touch_excess(clip), "s"),
        ]
    made = clip.provenance
    return Report(f"{made.scene} by {made.method}", tuple(metrics), conventions)


def _rate_metrics(clip: Clip) -> list[Metric]:
    """Of goals that ask for velocities; few do."""
    asked = {name for goal in clip.problem.goals for name in goal.asks}
    speed, spin = worst_goal_rate(clip)
    found = [Metric("goal_speed", speed, "m/s")] if "velocity" in asked else []
    return [*found, Metric("goal_spin", spin, "deg/s")] if "spin" in asked else found


def _body_metrics(clip: Clip, name: str, conventions: PublishedConventions) -> list[Metric]:
    published = physical_realism(clip, name, conventions)
    metrics = [
        Metric("physical_realism", published.percent, "%"),
        Metric("counted_frames", published.counted, ""),
        Metric("capsule_penetration", 10.0 * published.penetration, "mm"),
    ]
    tolerances = Tolerances()
    body, pose = clip.problem.bodies[name], clip.bodies[name]
    exact = ExactDistance.from_body(body)
    capsule, skin = np.zeros(clip.num_frames), np.zeros(clip.num_frames)
    gaps, speeds = [np.zeros(0)], [np.zeros(0)]
    rule = ContactRule(conventions.contact_distance, tolerances.gap, tolerances.static_speed)
    for hand in clip.hands:
        found = hand_gaps(probe_hand(clip, hand), body, pose, exact, clip.times, rule)
        capsule = np.maximum(capsule, found.capsule_depth)
        skin = np.maximum(skin, found.skin_depth)
        near = found.contacts.gap <= rule.reach
        gaps.append(np.maximum(found.contacts.gap[near], 0.0))
        speeds.append(np.linalg.norm(found.contacts.velocity[near], axis=1))
    for what, depth in (("skin", skin), ("capsule", capsule)):
        for statistic, value in depth_summary(depth)._asdict().items():
            metrics.append(Metric(f"{what}_depth_{statistic}", 1e3 * value, "mm"))
    gap, speed = np.concatenate(gaps), np.concatenate(speeds)
    metrics += [
        Metric("contacts_per_frame", len(gap) / clip.num_frames, ""),
        Metric("contact_gap_mean", 1e3 * float(gap.mean()) if gap.size else math.nan, "mm"),
        Metric("contact_slip_mean", 1e3 * float(speed.mean()) if speed.size else math.nan, "mm/s"),
    ]
    return metrics


def _hand_metrics(clip: Clip, conventions: PublishedConventions) -> list[Metric]:
    if not clip.hands:
        return []
    smooth = smoothness(clip, fps=conventions.fps)
    depth, excess, speed, share = 0.0, 0.0, 0.0, 0.0
    for name, motion in clip.hands.items():
        model = clip.problem.hands[name]
        depth = max(depth, float(finger_finger(model, motion.q)[0].max()))
        over = limit_excess(model, motion.q)[0]
        excess = max(excess, float(over.max()))
        share = max(share, float((over > Tolerances().joint_limits).mean()))
        speed = max(speed, float(joint_speeds(motion.q, clip.times).max(initial=0.0)))
    return [
        Metric("smoothness_rate", min(clip.fps, conventions.fps), "1/s"),
        Metric("joint_acceleration", smooth.acceleration, "cm/s^2"),
        Metric("joint_jerk", smooth.jerk, "cm/s^3"),
        Metric("finger_finger_depth", 1e3 * depth, "mm"),
        Metric("joint_limit_excess", math.degrees(excess), "deg"),
        Metric("frames_beyond_limits", 100.0 * share, "%"),
        Metric("fastest_joint", speed, "rad/s"),
    ]
