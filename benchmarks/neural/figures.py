"""What is measured of fingers: three published figures, and the distance to a teacher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.hand import HandModel
from handwright.evidence import PublishedConventions, physical_realism, smoothness
from handwright.evidence.metrics.realism import capsule_contacts
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.kinematics.fk import frame_poses, posed_capsules

FPS = 60.0
# Joints that fingers can move in the wrist's frame. The published skeleton has one more, at the
# base of the thumb; wrist, palm and knuckles would only flatter the mean.
_MOVING = (
    "thumb_proximal",
    "thumb_distal",
    "thumb_tip",
    *(
        f"{finger}_{part}"
        for finger in ("index", "middle", "ring", "little")
        for part in ("intermediate", "distal", "tip")
    ),
)


class Figures(NamedTuple):
    """Of one motion, or the mean of several weighed by their frames."""

    realism: float
    """Share of the carried frames that contact forces explain, %; NaN if nothing is carried. With
    the friction that the bodies were taught with, or the published one of recordings."""
    realism_published: float
    """The same with the published friction, whatever that of the bodies is."""
    penetration: float
    """Mean depth of the pairs of frame and capsule that penetrate, cm."""
    in_table: float
    """How deep the deepest place of the hands is in tables and walls, mean over frames, cm."""
    smoothness: float
    """Mean acceleration of the joints in the wrist's frame, cm/s^2."""
    joint_error: float
    """Mean distance of the joints that can move to the teacher's, mm."""
    frames: int
    carried: int
    """Frames that the realism is counted over."""


def moving_joints(model: HandModel, q: Float[np.ndarray, "T J"]) -> Float[np.ndarray, "T N 3"]:
    """Places of the joints that fingers can move, in the frame of the hand's root, m."""
    rows = [model.frames.index(name) for name in _MOVING]
    return frame_poses(model, q).position[:, rows]


def joint_errors(made: Clip, teacher: Clip) -> Float[np.ndarray, " T"]:
    """Mean distance of moving joints to the teacher's in each frame, m."""
    errors = [
        np.linalg.norm(
            moving_joints(made.problem.hands[hand], motion.q)
            - moving_joints(teacher.problem.hands[hand], teacher.hands[hand].q),
            axis=-1,
        ).mean(axis=1)
        for hand, motion in made.hands.items()
    ]
    return np.mean(errors, axis=0)


def with_fingers(teacher: Clip, q: Mapping[str, Float[np.ndarray, "T J"]]) -> Clip:
    """The teacher's clip with other fingers."""
    hands = {name: HandMotion(motion.root, q[name]) for name, motion in teacher.hands.items()}
    return replace(teacher, hands=hands, contacts=ContactTrack.empty())


def depth_in_surroundings(made: Clip) -> Float[np.ndarray, " T"]:
    """How deep the deepest end of a capsule is in tables, walls and floors in each frame, m."""
    deepest = np.zeros(made.num_frames)
    for name, motion in made.hands.items():
        capsules = posed_capsules(made.problem.hands[name], motion.q, motion.root)
        for ends in (capsules.start, capsules.end):
            for surface in made.problem.environment:
                gaps = surface_distance(surface, ends.reshape(-1, 3))[0].reshape(ends.shape[:-1])
                deepest = np.maximum(deepest, (capsules.radius - gaps).max(axis=1))
    return deepest


def measured(made: Clip, teacher: Clip, *, own_friction: bool = True) -> Figures:
    """All figures of a motion whose frames are those of its teacher.

    Args:
        made: The motion.
        teacher: The motion of its teacher.
        own_friction: Whether bodies have the friction that they are known to have, as taught ones
            do, or that of the published metrics.
    """
    published = PublishedConventions(fps=FPS)
    shares, plain, depths, counted = [], [], [], []
    for name in made.bodies:
        contacts = capsule_contacts(made, name, reach=0.005)
        theirs = physical_realism(made, name, published, found=contacts)
        friction = made.problem.bodies[name].friction
        ours = (
            physical_realism(made, name, replace(published, friction=friction), found=contacts)
            if own_friction
            else theirs
        )
        plain.append(0.0 if np.isnan(theirs.percent) else theirs.percent)
        shares.append(0.0 if np.isnan(ours.percent) else ours.percent)
        depths.append(ours.penetration)
        counted.append(ours.counted)
    carried = sum(counted)
    return Figures(
        realism=float(np.dot(shares, counted) / carried) if carried else float("nan"),
        realism_published=float(np.dot(plain, counted) / carried) if carried else float("nan"),
        penetration=float(np.mean(depths)),
        in_table=1e2 * float(depth_in_surroundings(made).mean()),
        smoothness=smoothness(made, fps=FPS).acceleration,
        joint_error=1e3 * float(joint_errors(made, teacher).mean()),
        frames=made.num_frames,
        carried=carried,
    )


def mean_of(parts: Sequence[Figures]) -> Figures:
    """Means over motions, weighed by frames; realism by carried frames."""
    frames = np.array([part.frames for part in parts], dtype=float)
    carried = np.array([part.carried for part in parts], dtype=float)

    def by_carried(name: str) -> float:
        shares = [0.0 if part.carried == 0 else getattr(part, name) for part in parts]
        return float(np.dot(shares, carried) / carried.sum()) if carried.any() else float("nan")

    def weighed(name: str) -> float:
        return float(np.dot([getattr(part, name) for part in parts], frames) / frames.sum())

    return Figures(
        realism=by_carried("realism"),
        realism_published=by_carried("realism_published"),
        penetration=weighed("penetration"),
        in_table=weighed("in_table"),
        smoothness=weighed("smoothness"),
        joint_error=weighed("joint_error"),
        frames=int(frames.sum()),
        carried=int(carried.sum()),
    )
