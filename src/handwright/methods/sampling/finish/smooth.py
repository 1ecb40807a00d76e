"""From contact trajectories to smooth motions: approach, spacetime optimisation, retreat.

Ye & Liu 2012, section 6. The fingers come from a relaxed open hand before the first contact and
go back to it after the last; in between, spacetime optimisation draws a smooth motion through the
guiding points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.packed import Packed
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.samples import skin_samples
from handwright.kinematics.spacetime.motion import smooth_digits
from handwright.kinematics.spacetime.terms import Anchors, SpacetimeWeights
from handwright.methods.sampling.finish.anchors import (
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

# How far the hand opens on its way to and from the body, between rest and open.
_OPENING = 0.7
# Frames in which the hand opens or closes.
_OPENING_FRAMES = 12
# Clearance of the skin, and how much more it keeps after it has sunk in, m.
_MARGIN, _STAND_OFF = 1e-4, 4e-4
# Frames before and after one that did not hold in which the search's own motion is followed.
_AROUND = 2
# Rounds over the digits, at first and when contacts roll on.
_SWEEPS, _FEW_SWEEPS = 4, 2
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


class Motion(NamedTuple):
    """A smooth motion of all hands of a holding."""

    q: np.ndarray
    """(T, J) rad, of the hands side by side."""
    reference: np.ndarray
    """(T, J) postures that were preferred, rad."""
    anchors: tuple[Anchors, ...]
    """For each hand."""
    margin: float
    """Clearance that the skin was to keep, m."""


def smooth_path(hold: HoldSearch, path: Path) -> Motion:
    """Makes a smooth motion over all frames of a holding's stage from a path of its search."""
    data, start = hold.data, hold.start - hold.first
    frames, span = len(data.wrench), len(path.q)
    whole = make_path(data, frames)
    q = whole.q
    q[start : start + span] = path.q
    reference = _references(data, path, start, hold.hands.open)
    state = Packed(SearchState(data, hold.candidates, hold.steps, whole, hold.work))
    pose_free_digits(state, start, 0, reference)
    pose_free_digits(state, start + span - 1, frames - 1, reference)
    anchors = []
    checked = make_checked_motion(frames if hold.policy.wraps else 0, len(hold.work.found.capsule))
    if hold.policy.wraps:
        check_motion(hold.strict, q, hold.work, checked)
    for h in range(len(hold.models)):
        rotations, positions = _link_poses(hold, h, q)
        part, own, offset = slice(start, start + span), _digits_of(data, h), int(data.offset[h])
        found = search_anchors(path, start, own, offset, rotations[part], positions[part])
        if hold.policy.wraps:
            also = touch_anchors(
                checked, path, start, own, offset, hold.strict, rotations, positions
            )
            found = join_anchors(found, also)
        anchors.append(found)
    return _smooth(hold, q, reference, tuple(anchors), _MARGIN - hold.skin_depth, _SWEEPS)


def pull_towards_search(hold: HoldSearch, path: Path, motion: Motion, frames: np.ndarray) -> Motion:
    """The motion again, kept near the search's own around frames in which it did not hold.

    A smooth motion turns links otherwise than the search did, and they slip. The search's own
    motion held there.

    Args:
        hold: The holding.
        path: Of the search.
        motion: Of the last round.
        frames: Of the stage.
    """
    start, span = hold.start - hold.first, len(path.q)
    around = (frames[:, None] - start + np.arange(-_AROUND, _AROUND + 1)).ravel()
    around = np.unique(around[(around >= 0) & (around < span)])
    whole = motion.q.copy()
    whole[start : start + span] = path.q
    anchors = []
    for h in range(len(hold.models)):
        rotations, positions = _link_poses(hold, h, whole)
        part = slice(start, start + span)
        near = posture_anchors(
            path, start, _digits_of(hold.data, h), int(hold.data.offset[h]), rotations[part],
            positions[part], around,
        )  # fmt: skip
        anchors.append(join_anchors(motion.anchors[h], near))
    return _smooth(hold, motion.q, motion.reference, tuple(anchors), motion.margin, _FEW_SWEEPS)


def lift_creeping_phalanx(
    hold: HoldSearch, path: Path, motion: Motion, checked: CheckedMotion, creeping: CreepingContact
) -> Motion | None:
    """The motion again, with a phalanx off the body that creeps over it beside a guiding point.

    None if it has the guiding point itself, or belongs to a palm.

    Args:
        hold: The holding.
        path: Of the search.
        motion: Of the last round.
        checked: The same.
        creeping: What creeps.
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
    rotations, positions = _link_poses(hold, h, motion.q)
    anchors = list(motion.anchors)
    anchors[h] = lifted_anchors(
        anchors[h], checked, creeping.capsule, creeping.frames,
        int(np.searchsorted(_digits_of(data, h), d)), link - int(data.offset[h]),
        rotations, positions,
    )  # fmt: skip
    return _smooth(hold, motion.q, motion.reference, tuple(anchors), motion.margin, _FEW_SWEEPS)


def follow_rolling_contacts(
    hold: HoldSearch, path: Path, motion: Motion, checked: CheckedMotion
) -> Motion:
    """The motion again, farther off the body after skin has sunk in.

    Its contacts roll on as it turns its links; see ``rolled_anchors``.

    Args:
        hold: The holding.
        path: Of the search.
        motion: Of the last round.
        checked: The same.
    """
    data = hold.data
    anchors = []
    for h in range(len(hold.models)):
        rotations, positions = _link_poses(hold, h, motion.q)
        anchors.append(
            rolled_anchors(
                motion.anchors[h],
                path,
                hold.start - hold.first,
                _digits_of(data, h),
                int(data.offset[h]),
                rotations,
                positions,
                checked,
                data.table.capsule_link,
                data.field,
                hold.strict.limits.slip,
            )
        )
    margin = motion.margin + _STAND_OFF
    return _smooth(hold, motion.q, motion.reference, tuple(anchors), margin, _FEW_SWEEPS)


def _smooth(
    hold: HoldSearch,
    q: np.ndarray,
    reference: np.ndarray,
    anchors: tuple[Anchors, ...],
    margin: float,
    sweeps: int,
) -> Motion:
    data, result = hold.data, q.copy()
    for h, model in enumerate(hold.models):
        joints = joints_of(hold, h)
        smooth = smooth_digits(
            model,
            root_of(hold, h),
            q[:, joints],
            anchors[h],
            field=data.field,
            environment=data.environment,
            reference=reference[:, joints],
            low=data.low[:, joints],
            high=data.high[:, joints],
            weights=_WEIGHTS._replace(object_margin=margin),
            samples=skin_samples(model, _SPACING),
            sweeps=sweeps,
        )
        result[:, joints] = smooth.q
    return Motion(result, reference, anchors, margin)


def _digits_of(data: HoldData, h: int) -> np.ndarray:
    return np.flatnonzero(data.hand_of_digit == h)


def _link_poses(hold: HoldSearch, h: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turns and places (m) of a hand's links over all frames, in the body's frame."""
    return link_poses(hold.models[h], q[:, joints_of(hold, h)], root_of(hold, h))


def _references(data: HoldData, path: Path, start: int, open_pose: np.ndarray) -> np.ndarray:
    """(T, J) postures that are preferred: the search's own, and an open hand before and after."""
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
