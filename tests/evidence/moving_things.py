"""Clips of bodies and hands that move along given paths, to be looked at by single checks."""

from __future__ import annotations

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.evidence.contacts.hand_probe import HandProbe, probe_hand
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
HAND = human()
FALL = np.array([0.0, 0.0, -9.81])


def shelf(*, height=0.0, thickness=0.02, size=0.4) -> EnvironmentBox:
    """A level board whose upper side is at a height, m."""
    middle = np.array([0.0, 0.0, height - 0.5 * thickness])
    return EnvironmentBox(Pose(middle, UPRIGHT), 0.5 * np.array([size, size, thickness]))


def poses(position, wxyz=UPRIGHT) -> Pose:
    return Pose(np.asarray(position, dtype=float), wxyz)


def moving(times, *, bodies=None, hands=None, environment=()) -> Clip:
    """A clip of bodies (shape and poses) and hands (model, root and joint values)."""
    bodies, hands = bodies or {}, hands or {}
    problem = Problem(
        "test",
        times,
        {name: model for name, (model, _, _) in hands.items()},
        {name: body for name, (body, _) in bodies.items()},
        environment=environment,
    )
    return Clip(
        problem,
        times,
        {
            name: HandMotion(root, np.broadcast_to(q, (len(times), model.num_joints)))
            for name, (model, root, q) in hands.items()
        },
        {name: pose for name, (_, pose) in bodies.items()},
        ContactTrack.empty(),
        Provenance("test", "scripted"),
    )


def probed(clip: Clip) -> dict[str, HandProbe]:
    return {name: probe_hand(clip, name) for name in clip.hands}


def far_hand(count: int) -> dict:
    """A hand that waits where it is in nobody's way: problems need one."""
    return {"hand": (HAND, poses(np.tile([5.0, 5.0, 5.0], (count, 1))), HAND.pose("rest"))}


def block(*size):
    """A box of a size along x, y and z, m."""
    return make_shape("box", **dict(zip(("width", "depth", "height"), size, strict=True)))
