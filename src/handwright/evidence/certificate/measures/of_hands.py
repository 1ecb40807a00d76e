"""Checks of hands: joints, digits in each other, and whatever goes through anything else."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from handwright.core.clip import Clip
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.measures.measure import (
    Ground,
    Measure,
    Series,
    always,
    by_frame,
    worst_of,
)
from handwright.evidence.certificate.penetration import finger_finger
from handwright.evidence.certificate.speeds import limit_excess
from handwright.evidence.contacts.crossings import bodies_cross
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.overlaps import hand_hand_depth, palm_depth
from handwright.evidence.contacts.sweeps import swept_through
from handwright.evidence.contacts.thin_things import (
    body_between_knuckles,
    spikes_in_body,
    surroundings_in_flesh,
    thin_body_in_flesh,
)
from handwright.geometry.distance.exact import ExactDistance

_SOFT_SKIN = 1e-3
"""How deep edges of thin bodies may be in the skin before that counts as being in the flesh, m."""


def hand_measures(
    clip: Clip, hands: dict[str, HandProbe], tolerances: Tolerances
) -> dict[str, Measure]:
    """Checks of joints and digits."""
    joints, digits = [], []
    for hand in hands.values():
        excess, names = limit_excess(hand.model, hand.motion.q)
        joints.append(Series(excess, tolerances.joint_limits, by_frame(names, f"{hand.name}.")))
        depth, pairs = finger_finger(hand.model, hand.motion.q)
        digits.append(Series(depth, tolerances.finger_finger, by_frame(pairs, f"{hand.name}.")))
    count = clip.num_frames
    return {
        "finger_finger": worst_of(digits, count, tolerances.finger_finger, "m"),
        "joint_limits": worst_of(joints, count, tolerances.joint_limits, "rad"),
    }


def crossing(
    clip: Clip,
    hands: dict[str, HandProbe],
    exact: dict[str, ExactDistance],
    tolerances: Tolerances,
) -> Measure:
    """Whether anything goes through anything else, in a frame or on the way to it."""
    found = worst_of(
        _depths(clip, hands, exact, tolerances), clip.num_frames, tolerances.finger_finger, "m"
    )
    passed, names = swept_through(clip, hands)
    on_the_way = Ground(passed, lambda frame: f"{names[frame]}, between two frames")
    return found._replace(grounds=(on_the_way,))


def _depths(
    clip: Clip,
    hands: dict[str, HandProbe],
    exact: dict[str, ExactDistance],
    tolerances: Tolerances,
) -> Iterable[Series]:
    cap = tolerances.finger_finger

    def named(depth: np.ndarray, name: str) -> Series:
        return Series(depth, cap, always(name))

    def listed(depth: np.ndarray, names: list[str], prefix: str = "") -> Series:
        return Series(depth, cap, by_frame(names, prefix))

    if len(hands) > 1:
        yield listed(*hand_hand_depth(hands))
    for hand in hands.values():
        yield listed(*palm_depth(hand), f"{hand.name}.")
        yield listed(*surroundings_in_flesh(hand, clip.problem.environment))
        for name, pose in clip.bodies.items():
            between = body_between_knuckles(hand, pose, exact[name])
            yield named(between, f"{name} between the knuckles of {hand.name}")
            deep = thin_body_in_flesh(hand, clip.problem.bodies[name], pose)
            # Edges that rest on soft skin are a little in it.
            allowed = max(_SOFT_SKIN, tolerances.soft_tissue)
            yield named(np.maximum(deep - allowed, 0.0), f"{name} in the flesh of {hand.name}")
    for name, pose in clip.bodies.items():
        spikes = spikes_in_body(clip.problem.environment, pose, exact[name])
        yield named(spikes, f"surroundings in {name}")
    for one, two in combinations(clip.bodies, 2):
        yield named(bodies_cross(clip, one, two, exact), f"{one} and {two}")
