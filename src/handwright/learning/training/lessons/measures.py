"""Figures of fingers beside taught ones, and of how deep they are in objects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics.fk import posed_sites
from handwright.learning.training.columns import OUTPUT_GROUPS
from handwright.learning.training.lessons.corpus import Corpus
from handwright.methods.neural.fitting import seen_at
from handwright.methods.neural.sensing.joints import JOINTS
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.view import HandView

# The others stay where they are in the wrist's frame, and would flatter a mean.
_STILL = ("wrist", "palm", "thumb_metacarpal")
_KNUCKLES = tuple(f"{digit}_proximal" for digit in ("index", "middle", "ring", "little"))
MOVING = np.array(
    [n for n, name in enumerate(JOINTS) if name not in _STILL and name not in _KNUCKLES]
)
"""Which of the 22 joints can move in the frame of the wrist."""


class Figures(NamedTuple):
    """Of a motion of fingers."""

    error: float
    """Mean distance of the moving joints from the taught ones, mm."""
    penetration: float
    """Mean depth of the deepest sensor site, over all frames, mm."""
    smoothness: float
    """Mean acceleration of the moving joints in the frame of the wrist, cm/s^2."""

    @property
    def score(self) -> float:
        """What the best epoch has least of: error and penetration, mm."""
        return self.error + self.penetration


def figures_of(corpus: Corpus, q: Float[np.ndarray, "N J"]) -> Figures:
    """Figures of joint values, rad, for all frames of lessons."""
    rows = np.arange(len(corpus))
    poses = corpus.poses(rows, q)
    bends = [accelerations(part) for part in np.split(poses, corpus.start[1:])]
    depths = [
        deepest_sites(lesson.view, part)
        for lesson, part in zip(corpus.lessons, np.split(q, corpus.start[1:]), strict=True)
    ]
    return Figures(
        float(joint_errors(poses, corpus.targets).mean()),
        float(np.concatenate(depths).mean()),
        float(np.concatenate(bends).mean()),
    )


def moving_joints(poses: Float[np.ndarray, "*B P"]) -> Float[np.ndarray, "*B K 3"]:
    """Places of the moving joints, m, from poses or outputs of a network."""
    places = poses[..., OUTPUT_GROUPS["joint_position"]]
    return places.reshape(*places.shape[:-1], len(JOINTS), 3)[..., MOVING, :]


def joint_errors(
    poses: Float[np.ndarray, "*B P"], wanted: Float[np.ndarray, "*B Q"]
) -> Float[np.ndarray, "*B"]:
    """Mean distance of the moving joints of each pose from where they should be, mm."""
    gap = moving_joints(poses) - moving_joints(wanted)
    return 1e3 * np.linalg.norm(gap, axis=-1).mean(axis=-1)


def deepest_sites(view: HandView, q: Float[np.ndarray, "T J"]) -> Float[np.ndarray, " T"]:
    """How deep the deepest sensor site of a hand is in its object, in each frame of a view, mm.

    Args:
        view: The hand and its object.
        q: Joint values of all frames, rad.
    """
    seen = seen_at(view, np.arange(len(view)))
    sites = posed_sites(view.model, q).position
    places = np.einsum("tij,tsj->tsi", seen.rotation, sites) + seen.position[:, None]
    gaps = sample_field(view.field, places.reshape(-1, 3))[0].reshape(places.shape[:2])
    return 1e3 * np.maximum(-gaps.min(axis=1), 0.0)


def accelerations(poses: Float[np.ndarray, "T P"]) -> Float[np.ndarray, " U"]:
    """Mean acceleration of the moving joints at each inner frame, cm/s^2."""
    bends = np.diff(moving_joints(poses).astype(float), n=2, axis=0) * RATE**2
    return 1e2 * np.linalg.norm(bends, axis=-1).mean(axis=-1)
