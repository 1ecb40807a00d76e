"""From contact trajectories to smooth motions: approach, spacetime optimisation, retreat.

Ye & Liu 2012, section 6. The fingers come from a relaxed open hand before the first contact and
go back to it after the last; in between, spacetime optimisation draws a smooth motion through the
guiding points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.packed import Packed
from handwright.kinematics.fk import link_poses
from handwright.kinematics.obstacles import Obstacles
from handwright.kinematics.skin.samples import skin_samples
from handwright.kinematics.spacetime.motion import JointBounds, smooth_digits
from handwright.kinematics.spacetime.terms import Anchors, SpacetimeWeights
from handwright.methods.sampling.finish.anchors import (
    HandPath,
    join_anchors,
    lifted_anchors,
    posture_anchors,
    rolled_anchors,
    search_anchors,
    touch_anchors,
)
from handwright.methods.sampling.finish.check import CheckedMotion, check_motion
from handwright.methods.sampling.finish.exact_contacts import CreepingContact
from handwright.methods.sampling.search.step import SearchState, pose_free_digits
from handwright.methods.sampling.search.workspace import FREE, Path, make_path
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.prepare import HoldSearch

# How far the hand opens on its way to and from the body, as a share of the way from rest to open.
_OPENING = 0.7
# Number of frames in which the hand opens or closes.
_OPENING_FRAMES = 12
# Clearance of the skin, and how much is added to it after the skin has sunk in, m.
_MARGIN, _STAND_OFF = 1e-4, 4e-4
# Number of frames before and after one that did not hold in which the search's motion is followed.
_FRAMES_AROUND = 2
# Rounds over the digits: of the first smoothing, and of a repair.
_SWEEPS, _REPAIR_SWEEPS = 4, 2
_WEIGHTS = SpacetimeWeights(
    digit_margin=-5e-4,
    posture=1e-6,
    object=5.0,
    environment=2.0,
    digits=2.0,
    num_samples=400,
    pulls=0,
    tolerance=0.1,
)
# A sharp edge goes between points of the skin, as deep as half their distance, m.
_SPACING = 1.2e-3


class SmoothMotion(NamedTuple):
    """A smooth motion of all hands of a hold."""

    q: Float[np.ndarray, "T J"]
    """Joint values of the hands side by side, rad."""
    reference: Float[np.ndarray, "T J"]
    """Postures that were preferred, rad."""
    anchors: tuple[Anchors, ...]
    """Anchors of each hand."""
    margin: float
    """Clearance that the skin was to keep, m."""


def smooth_path(hold: HoldSearch, path: Path) -> SmoothMotion:
    """Makes a smooth motion over all frames of a hold from a path of its search."""
    data, start = hold.data, hold.start - hold.first
    frames, span = len(data.wrench), len(path.q)
    whole = make_path(data, frames)
    q = whole.q
    q[start : start + span] = path.q
    reference = _references(data, path, start, data.hands.open)
    if hold.guided:
        reference = _guided_references(data, path, start)
    state = Packed(SearchState(data, hold.candidates, whole, hold.work))
    pose_free_digits(state, start, 0, reference)
    pose_free_digits(state, start + span - 1, frames - 1, reference)
    hands = _hands(hold, path, q)
    anchors = [search_anchors(hand) for hand in hands]
    if hold.policy.wraps:
        checked = check_motion(hold.strict, q, hold.work)
        beside = [touch_anchors(hand, checked, hold.strict) for hand in hands]
        anchors = [join_anchors(*pair) for pair in zip(anchors, beside, strict=True)]
    motion = SmoothMotion(q, reference, tuple(anchors), _MARGIN - hold.skin_depth)
    return _smooth(hold, motion, _SWEEPS)


def pull_towards_search(
    hold: HoldSearch, path: Path, motion: SmoothMotion, frames: Int[np.ndarray, " N"]
) -> SmoothMotion:
    """Smooths a motion again, nearer to the search's own around frames in which it did not hold.

    A smooth motion turns links otherwise than the search did, and they slip. The search's own
    motion held there. Frames are those of the hold.
    """
    start, span = hold.start - hold.first, len(path.q)
    around = (frames[:, None] - start + np.arange(-_FRAMES_AROUND, _FRAMES_AROUND + 1)).ravel()
    around = np.unique(around[(around >= 0) & (around < span)])
    whole, reference = motion.q.copy(), motion.reference.copy()
    # Whatever a guide asks for, the search's own postures are preferred now.
    whole[start : start + span] = reference[start : start + span] = path.q
    anchors = tuple(
        join_anchors(old, posture_anchors(hand, around))
        for old, hand in zip(motion.anchors, _hands(hold, path, whole), strict=True)
    )
    nearer = motion._replace(reference=reference, anchors=anchors)
    return _smooth(hold, nearer, _REPAIR_SWEEPS)


def lift_creeping_phalanx(
    hold: HoldSearch,
    path: Path,
    motion: SmoothMotion,
    checked: CheckedMotion,
    creeping: CreepingContact,
) -> SmoothMotion | None:
    """Smooths a motion again, with a phalanx off the body that creeps beside a guiding point.

    Returns None if the phalanx has the guiding point itself, or belongs to a palm. ``checked`` has
    the contacts of the motion.
    """
    data, start = hold.data, hold.start - hold.first
    d = int(data.hands.digit_of_capsule[creeping.capsule])
    if d < 0:
        return None
    link, rows = int(data.hands.table.capsule_link[creeping.capsule]), creeping.frames - start
    inside = (rows >= 0) & (rows < len(path.q))
    if not inside.all() or (path.link[rows, d] == link).any():
        return None
    h = int(data.hands.hand_of_digit[d])
    hand = _hands(hold, path, motion.q)[h]
    digit, anchors = int(np.searchsorted(hand.digits, d)), list(motion.anchors)
    anchors[h] = lifted_anchors(anchors[h], hand, checked, creeping, digit, link - hand.offset)
    return _smooth(hold, motion._replace(anchors=tuple(anchors)), _REPAIR_SWEEPS)


def follow_rolling_contacts(
    hold: HoldSearch, path: Path, motion: SmoothMotion, checked: CheckedMotion
) -> SmoothMotion:
    """Smooths a motion again, farther off the body, after skin has sunk in.

    Its contacts, which were ``checked``, roll on as it turns its links; see ``rolled_anchors``.
    """
    slip = hold.strict.limits.slip
    anchors = tuple(
        rolled_anchors(old, hand, checked, hold.data, slip)
        for old, hand in zip(motion.anchors, _hands(hold, path, motion.q), strict=True)
    )
    farther = motion._replace(anchors=anchors, margin=motion.margin + _STAND_OFF)
    return _smooth(hold, farther, _REPAIR_SWEEPS)


def _smooth(hold: HoldSearch, motion: SmoothMotion, sweeps: int) -> SmoothMotion:
    """The motion with joint values that are smooth and keep to its anchors and margin."""
    data, result = hold.data, motion.q.copy()
    for h, anchors in enumerate(motion.anchors):
        joints = hold.joints(h)
        model, q, root = hold.posed(motion.q, h)
        smooth = smooth_digits(
            model,
            root,
            q,
            anchors,
            obstacles=Obstacles(data.field, data.environment, skin_samples(model, _SPACING)),
            reference=motion.reference[:, joints],
            bounds=JointBounds(data.low[:, joints], data.high[:, joints]),
            weights=_WEIGHTS._replace(object_margin=motion.margin, sweeps=sweeps),
        )
        result[:, joints] = smooth.q
    return motion._replace(q=result)


def _hands(hold: HoldSearch, path: Path, q: Float[np.ndarray, "T J"]) -> list[HandPath]:
    """Each hand's part of a path of the search, and poses of its links by a motion, in rad."""
    start, data = hold.start - hold.first, hold.data.hands
    digits = [np.flatnonzero(data.hand_of_digit == h) for h in range(len(hold.models))]
    return [
        HandPath(path, start, own, int(data.offset[h]), *link_poses(*hold.posed(q, h)))
        for h, own in enumerate(digits)
    ]


def _guided_references(data: HoldData, path: Path, start: int) -> Float[np.ndarray, "T J"]:
    """Postures that are preferred: the guide's, and the search's own for digits that touch, rad."""
    frames, span, free = len(data.wrench), len(path.q), data.hands.table.free
    reference = data.comfortable.copy()
    # Digits come from the guide's posture, and go back to it, in some frames.
    for d in range(len(free)):
        own = free[d][free[d] >= 0]
        touches = np.zeros(frames, dtype=bool)
        touches[start : start + span] = path.reached[:, d] != FREE
        near = np.zeros(frames)
        for shift in range(-_OPENING_FRAMES, _OPENING_FRAMES + 1):
            share = 1.0 - abs(shift) / (_OPENING_FRAMES + 1.0)
            rows = np.flatnonzero(touches) + shift
            rows = rows[(rows >= 0) & (rows < frames)]
            near[rows] = np.maximum(near[rows], share)
        near = (near * near * (3.0 - 2.0 * near))[:, None]
        inner = np.clip(np.arange(frames) - start, 0, span - 1)
        reference[:, own] += near * (path.q[inner][:, own] - reference[:, own])
    return reference


def _references(
    data: HoldData, path: Path, start: int, open_pose: Float[np.ndarray, " J"]
) -> Float[np.ndarray, "T J"]:
    """Postures that are preferred: the search's own, and an open hand before and after, rad."""
    frame, last = np.arange(len(data.wrench)), start + len(path.q) - 1
    away = np.maximum(np.maximum(start - frame, frame - last), 0)[:, None] / _OPENING_FRAMES
    share = np.minimum(away, 1.0)
    spread = data.hands.rest + _OPENING * (open_pose - data.hands.rest)
    # Farther out the hand relaxes again.
    goal = spread + 0.5 * np.clip(away - 1.0, 0.0, 1.0) * (data.hands.rest - spread)
    edge = np.where(frame[:, None] < start, path.q[0], path.q[-1])
    reference = edge + share * share * (3.0 - 2.0 * share) * (goal - edge)
    reference[start : last + 1] = path.q
    return reference
