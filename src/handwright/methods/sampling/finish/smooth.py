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
    joined,
    lifted_anchors,
    posture_anchors,
    rolled_anchors,
    search_anchors,
    touch_anchors,
)
from handwright.methods.sampling.finish.check import Judged, judge_motion, make_judged
from handwright.methods.sampling.finish.exact_contacts import Creeping
from handwright.methods.sampling.search.path import Path, make_path
from handwright.methods.sampling.search.step import Bench, walk
from handwright.methods.sampling.setup.hold_data import Stage
from handwright.methods.sampling.setup.prepare import Prepared, joints_of, root_of

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


def reconstruct(one: Prepared, path: Path) -> Motion:
    """Makes a smooth motion over all frames of a holding's stage from a path of its search."""
    stage, start = one.stage, one.start - one.first
    frames, span = len(stage.wrench), len(path.q)
    whole = make_path(stage, frames)
    q = whole.q
    q[start : start + span] = path.q
    reference = _references(stage, path, start, one.hands.open)
    bench = Packed(Bench(stage, one.candidates, one.steps, whole, one.room))
    walk(bench, start, 0, reference)
    walk(bench, start + span - 1, frames - 1, reference)
    anchors = []
    judged = make_judged(frames if one.policy.wraps else 0, len(one.room.found.capsule))
    if one.policy.wraps:
        judge_motion(one.strict, q, one.room, judged)
    for h in range(len(one.models)):
        turns, places = _placed_links(one, h, q)
        part, own, offset = slice(start, start + span), _digits_of(stage, h), int(stage.offset[h])
        found = search_anchors(path, start, own, offset, turns[part], places[part])
        if one.policy.wraps:
            also = touch_anchors(judged, path, start, own, offset, one.strict, turns, places)
            found = joined(found, also)
        anchors.append(found)
    return _smoothed(one, q, reference, tuple(anchors), _MARGIN - one.skin_depth, _SWEEPS)


def stay_near(one: Prepared, path: Path, motion: Motion, frames: np.ndarray) -> Motion:
    """The motion again, kept near the search's own around frames in which it did not hold.

    A smooth motion turns links otherwise than the search did, and they slip. The search's own
    motion held there.

    Args:
        one: The holding.
        path: Of the search.
        motion: Of the last round.
        frames: Of the stage.
    """
    start, span = one.start - one.first, len(path.q)
    around = (frames[:, None] - start + np.arange(-_AROUND, _AROUND + 1)).ravel()
    around = np.unique(around[(around >= 0) & (around < span)])
    whole = motion.q.copy()
    whole[start : start + span] = path.q
    anchors = []
    for h in range(len(one.models)):
        turns, places = _placed_links(one, h, whole)
        part = slice(start, start + span)
        near = posture_anchors(
            path, start, _digits_of(one.stage, h), int(one.stage.offset[h]), turns[part],
            places[part], around,
        )  # fmt: skip
        anchors.append(joined(motion.anchors[h], near))
    return _smoothed(one, motion.q, motion.reference, tuple(anchors), motion.margin, _FEW_SWEEPS)


def lift_off(
    one: Prepared, path: Path, motion: Motion, judged: Judged, creeping: Creeping
) -> Motion | None:
    """The motion again, with a phalanx off the body that creeps over it beside a guiding point.

    None if it has the guiding point itself, or belongs to a palm.

    Args:
        one: The holding.
        path: Of the search.
        motion: Of the last round.
        judged: The same.
        creeping: What creeps.
    """
    stage, start = one.stage, one.start - one.first
    d = int(stage.digit_of_capsule[creeping.capsule])
    if d < 0:
        return None
    link, rows = int(stage.table.capsule_link[creeping.capsule]), creeping.frames - start
    inside = (rows >= 0) & (rows < len(path.q))
    if not inside.all() or (path.link[rows, d] == link).any():
        return None
    h = int(stage.hand_of_digit[d])
    turns, places = _placed_links(one, h, motion.q)
    anchors = list(motion.anchors)
    anchors[h] = lifted_anchors(
        anchors[h], judged, creeping.capsule, creeping.frames,
        int(np.searchsorted(_digits_of(stage, h), d)), link - int(stage.offset[h]), turns, places,
    )  # fmt: skip
    return _smoothed(one, motion.q, motion.reference, tuple(anchors), motion.margin, _FEW_SWEEPS)


def roll_on(one: Prepared, path: Path, motion: Motion, judged: Judged) -> Motion:
    """The motion again, farther off the body after skin has sunk in.

    Its contacts roll on as it turns its links; see ``rolled_anchors``.

    Args:
        one: The holding.
        path: Of the search.
        motion: Of the last round.
        judged: The same.
    """
    stage = one.stage
    anchors = []
    for h in range(len(one.models)):
        turns, places = _placed_links(one, h, motion.q)
        anchors.append(
            rolled_anchors(
                motion.anchors[h],
                path,
                one.start - one.first,
                _digits_of(stage, h),
                int(stage.offset[h]),
                turns,
                places,
                judged,
                stage.table.capsule_link,
                stage.field,
                one.strict.limits.slip,
            )
        )
    margin = motion.margin + _STAND_OFF
    return _smoothed(one, motion.q, motion.reference, tuple(anchors), margin, _FEW_SWEEPS)


def _smoothed(
    one: Prepared,
    q: np.ndarray,
    reference: np.ndarray,
    anchors: tuple[Anchors, ...],
    margin: float,
    sweeps: int,
) -> Motion:
    stage, result = one.stage, q.copy()
    for h, model in enumerate(one.models):
        joints = joints_of(one, h)
        smooth = smooth_digits(
            model,
            root_of(one, h),
            q[:, joints],
            anchors[h],
            field=stage.field,
            environment=stage.environment,
            reference=reference[:, joints],
            low=stage.low[:, joints],
            high=stage.high[:, joints],
            weights=_WEIGHTS._replace(object_margin=margin),
            samples=skin_samples(model, _SPACING),
            sweeps=sweeps,
        )
        result[:, joints] = smooth.q
    return Motion(result, reference, anchors, margin)


def _digits_of(stage: Stage, h: int) -> np.ndarray:
    return np.flatnonzero(stage.hand_of_digit == h)


def _placed_links(one: Prepared, h: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turns and places (m) of a hand's links over all frames, in the body's frame."""
    return link_poses(one.models[h], q[:, joints_of(one, h)], root_of(one, h))


def _references(stage: Stage, path: Path, start: int, open_pose: np.ndarray) -> np.ndarray:
    """(T, J) postures that are preferred: the search's own, and an open hand before and after."""
    frames, span = len(stage.wrench), len(path.q)
    spread = stage.rest + _OPENING * (open_pose - stage.rest)
    reference = np.zeros((frames, len(stage.rest)))
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
        goal = spread + 0.5 * calm * (stage.rest - spread)
        reference[t] = edge + smooth * (goal - edge)
    return reference
