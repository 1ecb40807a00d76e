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
from handwright.math.compiled import compiled
from handwright.math.pose import Pose
from handwright.methods.sampling.frame import (
    FREE,
    HOLD,
    SLIDE,
    Guide,
    Room,
    pose_digits,
)
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.stage import Stage

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


@compiled
def _walk(
    stage: Stage, first: int, last: int, q: np.ndarray, wanted: np.ndarray, room: Room, guide: Guide
) -> None:
    """Poses free digits frame by frame from ``first`` to ``last``, forwards or backwards."""
    step = 1 if last > first else -1
    t = first
    while t != last:
        t += step
        q[t] = q[t - step]
        for j in range(q.shape[1]):
            room.low[j] = max(q[t, j] - stage.limits.step, stage.low[t, j])
            room.high[j] = max(min(q[t, j] + stage.limits.step, stage.high[t, j]), room.low[j])
            room.reference[j] = 0.75 * q[t, j] + 0.25 * wanted[t, j]
        pose_digits(stage, t, guide, q[t], room, 1)


def reconstruct(
    stage: Stage,
    path: Path,
    start: int,
    models: Sequence[HandModel],
    open_pose: np.ndarray,
    room: Room,
) -> Reconstruction:
    """Makes a smooth motion over all frames of a stage.

    Args:
        stage: All frames.
        path: Of the search, over a part of them.
        start: Frame of the stage at which the path starts.
        models: The hands.
        open_pose: Joint values of the open hands, rad.
        room: Memory.
    """
    frames, span = len(stage.wrench), len(path.q)
    q = np.zeros((frames, path.q.shape[1]))
    q[start : start + span] = path.q
    reference = _references(stage, path, start, open_pose)
    digits = len(stage.hand_of_digit)
    guide = Guide(
        np.full(digits, FREE),
        np.zeros(digits, dtype=np.int64),
        np.zeros((digits, 3)),
        np.zeros((digits, 3)),
        np.zeros((digits, 3)),
    )
    _walk(stage, start, 0, q, reference, room, guide)
    _walk(stage, start + span - 1, frames - 1, q, reference, room, guide)
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
    """Guiding points of one hand; those that the search missed are where it had them."""
    frame, digit = np.nonzero(path.reached[:, digits] != FREE)
    row = digits[digit]
    mode = path.reached[frame, row]
    link, local = path.link[frame, row] - offset, path.local[frame, row]
    target = path.target[frame, row]
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
