"""Motions that are right by construction, and ways to spoil them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.geometry.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.closing import Grasp, close_around
from handwright.math import rotation
from handwright.math.pose import Pose

GRASP_ROOT = Pose(np.array([-0.095, 0.0, 0.056]), np.array([1.0, 0.0, 0.0, 0.0]))
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def minimum_jerk(share):
    share = np.clip(share, 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


@cache
def grasp(side: str = "right") -> Grasp:
    body = make_shape("sphere")
    return close_around(human(side), signed_distance_field(body), root=GRASP_ROOT)


def make_clip(times, root, q, body_pose, *, side="right", body=None, environment=()):
    body = make_shape("sphere") if body is None else body
    problem = Problem("test", times, {"hand": human(side)}, {"ball": body}, environment=environment)
    return Clip(
        problem,
        times,
        {"hand": HandMotion(root, q)},
        {"ball": body_pose},
        ContactTrack.empty(),
        Provenance("test", "scripted"),
    )


def lift_clip(*, side="right", frames=41, duration=1.0) -> Clip:
    """A ball in a closed hand, raised by 20 cm, carried sideways and turned."""
    times = np.linspace(0.0, duration, frames)
    share = minimum_jerk((times / duration - 0.1) / 0.8)
    position = share[:, None] * np.array([0.05, 0.08, 0.2])
    pose = Pose(position, rotation.exp(share[:, None] * np.array([0.0, 0.2, 0.6])))
    q = np.tile(grasp(side).q, (frames, 1))
    return make_clip(times, pose @ GRASP_ROOT, q, pose, side=side)


def throw_clip(*, frames=31, q=None) -> Clip:
    """A ball in free flight that spins about a principal axis; the hand waits far away."""
    times = np.linspace(0.0, 0.5, frames)
    position = times[:, None] * np.array([0.4, 0.1, 2.0]) + np.array([0.0, 0.0, 1.0])
    position[:, 2] -= 0.5 * 9.81 * times**2
    pose = Pose(position, rotation.exp(times[:, None] * np.array([3.0, 0.0, 0.0])))
    root = Pose(np.tile([1.0, 1.0, 1.0], (frames, 1)), UPRIGHT)
    values = human().pose("rest") if q is None else q
    return make_clip(times, root, np.tile(values, (frames, 1)), pose)


def with_hand(clip: Clip, *, root=None, q=None) -> Clip:
    motion = clip.hands["hand"]
    root = motion.root if root is None else root
    q = motion.q if q is None else q
    return replace(clip, hands={"hand": HandMotion(root, q)})


def with_body(clip: Clip, pose: Pose) -> Clip:
    return replace(clip, bodies={"ball": pose})


def moved(clip: Clip, world: Pose) -> Clip:
    motion = clip.hands["hand"]
    turned = with_hand(clip, root=world @ motion.root)
    return with_body(turned, world @ clip.bodies["ball"])
