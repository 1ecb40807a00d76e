"""From contact trajectories to smooth motions: approach, spacetime optimisation, retreat.

Ye & Liu 2012, section 6. The fingers come from a relaxed open hand before the first contact and
go back to it after the last; in between, spacetime optimisation draws a smooth motion through the
guiding points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin_samples import skin_samples
from handwright.kinematics.spacetime import smooth_digits
from handwright.kinematics.spacetime_terms import Anchors, SpacetimeWeights
from handwright.math import rotation
from handwright.math.packed import Packed
from handwright.math.pose import Pose
from handwright.methods.sampling.candidates import Candidates
from handwright.methods.sampling.frame import FREE, HOLD, SLIDE, Room
from handwright.methods.sampling.path import Path, make_path
from handwright.methods.sampling.stage import Stage
from handwright.methods.sampling.step import Bench, Steps, settle

# Weight of a point in the air, which may be missed, against that of a contact.
_HINT = 1e-3
# A guiding point that was missed by more than this, m, is taken where it was.
_MISSED = 1e-4
# How far the hand opens on its way to and from the body, between rest and open.
_OPENING = 0.7
# Frames in which the hand opens or closes.
_OPENING_FRAMES = 12


class Reconstruction(NamedTuple):
    """A smooth motion of all hands."""

    q: np.ndarray
    """(T, J) rad, of the hands side by side."""
    miss: float
    """Largest distance of a contact from its place, m."""


def _walk(bench: Bench, first: int, last: int, wanted: np.ndarray) -> None:
    """Poses free digits frame by frame from ``first`` to ``last``, forwards or backwards."""
    stage, room, q = bench.stage, bench.room, bench.path.q
    room.guide.mode[:] = FREE
    room.must_touch[:] = False
    packed = Packed(bench)
    step = 1 if last > first else -1
    for t in range(first + step, last + step, step):
        before = q[t - step]
        q[t] = before
        room.low[:] = np.clip(before - stage.limits.step, stage.low[t], stage.high[t])
        room.high[:] = np.clip(before + stage.limits.step, stage.low[t], stage.high[t])
        room.reference[:] = 0.75 * before + 0.25 * wanted[t]
        # Only the posture counts: whether a hand that is off the body carries it was not asked.
        settle(packed, t, 1, False, False)


def reconstruct(
    stage: Stage,
    path: Path,
    start: int,
    models: Sequence[HandModel],
    open_pose: np.ndarray,
    candidates: Candidates,
    steps: Steps,
    room: Room,
) -> Reconstruction:
    """Makes a smooth motion over all frames of a stage.

    Args:
        stage: All frames.
        path: Of the search, over a part of them.
        start: Frame of the stage at which the path starts.
        models: The hands.
        open_pose: Joint values of the open hands, rad.
        candidates: Of the search.
        steps: Of the search.
        room: Memory.
    """
    frames, span = len(stage.wrench), len(path.q)
    whole = make_path(frames, path.q.shape[1], path.mode.shape[1])
    q = whole.q
    q[start : start + span] = path.q
    reference = _references(stage, path, start, open_pose)
    bench = Bench(stage, candidates, steps, whole, room)
    _walk(bench, start, 0, reference)
    _walk(bench, start + span - 1, frames - 1, reference)
    worst = 0.0
    for h, model in enumerate(models):
        joints = slice(int(stage.offset[h]), int(stage.offset[h]) + model.num_joints)
        own = np.flatnonzero(stage.hand_of_digit == h)
        root = Pose(
            stage.root_position[:, h].copy(), rotation.from_matrix(stage.root_rotation[:, h])
        )
        turns, places = link_poses(model, path.q[:, joints], root[start : start + span])
        anchors = _anchors(path, start, own, int(stage.offset[h]), turns, places)
        smooth = smooth_digits(
            model,
            root,
            q[:, joints],
            anchors,
            field=stage.field,
            environment=stage.environment,
            reference=reference[:, joints],
            low=stage.low[:, joints],
            high=stage.high[:, joints],
            weights=SpacetimeWeights(
                digit_margin=-5e-4,
                posture=1e-6,
                object=2.0,
                environment=2.0,
                digits=2.0,
                object_margin=1e-4,
                num_samples=140,
            ),
            samples=skin_samples(model),
        )
        q[:, joints] = smooth.q
        hard = anchors.weight >= 0.5
        worst = max(worst, float(smooth.anchor_error[hard].max(initial=0.0)))
    return Reconstruction(q, worst)


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


def _anchors(
    path: Path,
    start: int,
    digits: np.ndarray,
    offset: int,
    turns: np.ndarray,
    places: np.ndarray,
) -> Anchors:
    """Guiding points of one hand; those that the search missed are where it had them.

    Where a contact rolls on to another guiding point, the old one counts in that frame too: only
    both together say how the link is turned, and a link that is turned otherwise would slip.
    """
    touching = path.reached[:, digits] != FREE
    frame, digit = np.nonzero(touching)
    row = digits[digit]
    source = frame
    held = (path.reached == HOLD)[:, digits]
    has_rolled = (
        held[1:] & held[:-1] & np.any(path.local[1:, digits] != path.local[:-1, digits], axis=2)
    )
    roll, rolling = np.nonzero(has_rolled)
    frame, source = np.concatenate([frame, roll + 1]), np.concatenate([source, roll])
    digit = np.concatenate([digit, rolling])
    row = digits[digit]
    mode = path.reached[source, row]
    link, local = path.link[source, row] - offset, path.local[source, row]
    target = path.target[source, row]
    actual = places[frame, link] + np.einsum("nij,nj->ni", turns[frame, link], local)
    # A point that could not be kept moves, as the search has seen and allowed for: to ask for its
    # old place would make it jump where it is given up.
    missed = np.linalg.norm(actual - target, axis=1) > _MISSED
    return Anchors(
        digit=digit.astype(np.int64),
        frame=(frame + start).astype(np.int64),
        link=link,
        local=local,
        target=np.where(missed[:, None], actual, target),
        weight=np.where((mode == HOLD) | (mode == SLIDE), 1.0, _HINT),
    )
