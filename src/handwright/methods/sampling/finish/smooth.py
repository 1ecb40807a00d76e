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
    Lifting,
    LinkPoses,
    join_anchors,
    lifted_anchors,
    posture_anchors,
    rolled_anchors,
    search_anchors,
    touch_anchors,
)
from handwright.methods.sampling.finish.check import (
    CheckedMotion,
    check_motion,
    make_checked_motion,
)
from handwright.methods.sampling.finish.exact_contacts import CreepingContact
from handwright.methods.sampling.search.path import Path, make_path
from handwright.methods.sampling.search.step import SearchState, pose_free_digits
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.prepare import HoldSearch, joints_of, root_of

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
    reference = _references(data, path, start, hold.hands.open)
    state = Packed(SearchState(data, hold.candidates, hold.steps, whole, hold.work))
    pose_free_digits(state, start, 0, reference)
    pose_free_digits(state, start + span - 1, frames - 1, reference)
    wraps = hold.policy.wraps
    checked = make_checked_motion(frames if wraps else 0, len(hold.work.found.capsule))
    if wraps:
        check_motion(hold.strict, q, hold.work, checked)
    anchors = []
    for h in range(len(hold.models)):
        hand, links = _hand_path(hold, path, h), _link_poses(hold, h, q)
        found = search_anchors(hand, links)
        if wraps:
            found = join_anchors(found, touch_anchors(hand, links, checked, hold.strict))
        anchors.append(found)
    motion = SmoothMotion(q, reference, tuple(anchors), _MARGIN - hold.skin_depth)
    return _smooth(hold, motion, _SWEEPS)


def pull_towards_search(
    hold: HoldSearch, path: Path, motion: SmoothMotion, frames: Int[np.ndarray, " N"]
) -> SmoothMotion:
    """Smooths a motion again, nearer to the search's own around frames in which it did not hold.

    A smooth motion turns links otherwise than the search did, and they slip. The search's own
    motion held there.

    Args:
        hold: The hold.
        path: The path of the search.
        motion: The motion of the last round.
        frames: Frames of the hold in which it did not hold.
    """
    start, span = hold.start - hold.first, len(path.q)
    around = (frames[:, None] - start + np.arange(-_FRAMES_AROUND, _FRAMES_AROUND + 1)).ravel()
    around = np.unique(around[(around >= 0) & (around < span)])
    whole = motion.q.copy()
    whole[start : start + span] = path.q
    anchors = []
    for h, old in enumerate(motion.anchors):
        links = _link_poses(hold, h, whole)
        anchors.append(join_anchors(old, posture_anchors(_hand_path(hold, path, h), links, around)))
    return _smooth(hold, motion._replace(anchors=tuple(anchors)), _REPAIR_SWEEPS)


def lift_creeping_phalanx(
    hold: HoldSearch,
    path: Path,
    motion: SmoothMotion,
    checked: CheckedMotion,
    creeping: CreepingContact,
) -> SmoothMotion | None:
    """Smooths a motion again, with a phalanx off the body that creeps beside a guiding point.

    Returns None if the phalanx has the guiding point itself, or belongs to a palm.

    Args:
        hold: The hold.
        path: The path of the search.
        motion: The motion of the last round.
        checked: Contacts of that motion.
        creeping: The contact that creeps.
    """
    data, start = hold.data, hold.start - hold.first
    d = int(data.digit_of_capsule[creeping.capsule])
    if d < 0:
        return None
    link, rows = int(data.table.capsule_link[creeping.capsule]), creeping.frames - start
    inside = (rows >= 0) & (rows < len(path.q))
    if not inside.all() or (path.link[rows, d] == link).any():
        return None
    h = int(data.hand_of_digit[d])
    hand = _hand_path(hold, path, h)
    lifting = Lifting(
        capsule=creeping.capsule,
        frames=creeping.frames,
        digit=int(np.searchsorted(hand.digits, d)),
        link=link - hand.offset,
    )
    anchors = list(motion.anchors)
    anchors[h] = lifted_anchors(anchors[h], _link_poses(hold, h, motion.q), checked, lifting)
    return _smooth(hold, motion._replace(anchors=tuple(anchors)), _REPAIR_SWEEPS)


def follow_rolling_contacts(
    hold: HoldSearch, path: Path, motion: SmoothMotion, checked: CheckedMotion
) -> SmoothMotion:
    """Smooths a motion again, farther off the body, after skin has sunk in.

    Its contacts roll on as it turns its links; see ``rolled_anchors``.

    Args:
        hold: The hold.
        path: The path of the search.
        motion: The motion of the last round.
        checked: Contacts of that motion.
    """
    slip = hold.strict.limits.slip
    anchors = []
    for h, old in enumerate(motion.anchors):
        hand, links = _hand_path(hold, path, h), _link_poses(hold, h, motion.q)
        anchors.append(rolled_anchors(old, hand, links, checked, hold.data, slip))
    farther = motion._replace(anchors=tuple(anchors), margin=motion.margin + _STAND_OFF)
    return _smooth(hold, farther, _REPAIR_SWEEPS)


def _smooth(hold: HoldSearch, motion: SmoothMotion, sweeps: int) -> SmoothMotion:
    """The motion with joint values that are smooth and keep to its anchors and margin."""
    data, result = hold.data, motion.q.copy()
    for h, model in enumerate(hold.models):
        joints = joints_of(hold, h)
        smooth = smooth_digits(
            model,
            root_of(hold, h),
            motion.q[:, joints],
            motion.anchors[h],
            obstacles=Obstacles(data.field, data.environment, skin_samples(model, _SPACING)),
            reference=motion.reference[:, joints],
            bounds=JointBounds(data.low[:, joints], data.high[:, joints]),
            weights=_WEIGHTS._replace(object_margin=motion.margin, sweeps=sweeps),
        )
        result[:, joints] = smooth.q
    return motion._replace(q=result)


def _hand_path(hold: HoldSearch, path: Path, h: int) -> HandPath:
    """One hand's part of a path of the search."""
    digits = np.flatnonzero(hold.data.hand_of_digit == h)
    return HandPath(path, hold.start - hold.first, digits, int(hold.data.offset[h]))


def _link_poses(hold: HoldSearch, h: int, q: Float[np.ndarray, "T J"]) -> LinkPoses:
    """Poses of a hand's links over all frames of a hold."""
    return LinkPoses(*link_poses(hold.models[h], q[:, joints_of(hold, h)], root_of(hold, h)))


def _references(data: HoldData, path: Path, start: int, open_pose: np.ndarray) -> np.ndarray:
    """Postures that are preferred: the search's own, and an open hand before and after, rad."""
    frames, span = len(data.wrench), len(path.q)
    spread = data.rest + _OPENING * (open_pose - data.rest)
    reference = np.zeros((frames, len(data.rest)))
    reference[start : start + span] = path.q
    for t in range(frames):
        away = max(start - t, t - (start + span - 1), 0)
        if away == 0:
            continue
        edge = path.q[0] if t < start else path.q[-1]
        share = min(away / _OPENING_FRAMES, 1.0)
        smooth = share * share * (3.0 - 2.0 * share)
        # Farther out the hand relaxes again.
        calm = min(max(away / _OPENING_FRAMES - 1.0, 0.0), 1.0)
        goal = spread + 0.5 * calm * (data.rest - spread)
        reference[t] = edge + smooth * (goal - edge)
    return reference
