"""Clips from bodies, hands and their paths, and the grips that several of them begin with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from pinch_lift import DEPTH, HEIGHT, WIDTH, grip
from scipy.spatial import ConvexHull
from scripted_clips import GRASP_ROOT, UPRIGHT, grasp, minimum_jerk

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.hands.skin.build import skin_of
from handwright.kinematics import posed_capsules, posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

G = 9.81
ORIGIN = Pose(np.zeros(3), UPRIGHT)
PALM_UP = np.array([0.0, 1.0, 0.0, 0.0])
"""Half a turn about the fingers of a hand that looks down."""


def frames(count: int, fps: float = 30.0) -> np.ndarray:
    """Times of so many frames, s."""
    return np.arange(count) / fps


def path(x=0.0, y=0.0, z=0.0, wxyz=UPRIGHT) -> Pose:
    """Poses along coordinates that are numbers or one for each frame."""
    return Pose(np.stack(np.broadcast_arrays(x, y, z), axis=-1).astype(float), wxyz)


def still(place, count: int, wxyz=UPRIGHT) -> Pose:
    """So many poses at one place."""
    return Pose(np.tile(np.asarray(place, dtype=float), (count, 1)), wxyz)


def turning(vectors) -> np.ndarray:
    """Quaternions by rotation vectors, rad."""
    return rotation.exp(np.asarray(vectors, dtype=float))


def clip_of(times, *, hands=None, bodies=None, name="attack", contacts=None, **given) -> Clip:
    """A clip.

    Args:
        times: s.
        hands: By name: model, poses of the root, joint values of one frame or of all.
        bodies: By name: body and its poses.
        name: Of the problem.
        contacts: Stored with the clip.
        given: Further fields of the problem.
    """
    hands, bodies = hands or {}, bodies or {}
    problem = Problem(
        name,
        times,
        {key: model for key, (model, _, _) in hands.items()},
        {key: body for key, (body, _) in bodies.items()},
        **given,
    )
    motions = {
        key: HandMotion(root, np.array(np.broadcast_to(q, (len(times), model.num_joints))))
        for key, (model, root, q) in hands.items()
    }
    poses = {key: pose for key, (_, pose) in bodies.items()}
    stored = ContactTrack.empty() if contacts is None else contacts
    return Clip(problem, times, motions, poses, stored, Provenance(name, "scripted"))


def bystander(count: int, place=(0.0, 1.0, 1.2)):
    """A right hand that waits away from everything: for ``hands`` of ``clip_of``."""
    model = human()
    return {"hand": (model, still(place, count), model.pose("rest"))}


def alone(body, pose, times, *, environment=(), name="body", **given):
    """A body with a hand that waits far away."""
    count = len(times)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={name: (body, pose)},
        environment=environment,
        **given,
    )


def fist(pose: Pose, *, side="right", model: HandModel | None = None):
    """A hand closed around a ball of 35 mm radius at these poses: for ``hands`` of ``clip_of``."""
    model = human(side) if model is None else model

    return (model, pose @ GRASP_ROOT, grasp(side).q)


@cache
def pinched():
    """The block of the pinch, the wrist in its frame, and the joint values."""
    block = make_shape("box", width=WIDTH, depth=DEPTH, height=HEIGHT)
    wrist, q, _ = grip(human(), block)
    return block, wrist, q


def pinch(pose: Pose, *, shift=None):
    """A right hand that pinches the block at these poses; ``shift`` in the block's frame, m."""
    _, wrist, q = pinched()
    held = wrist if shift is None else Pose(wrist.position + shift, wrist.wxyz)
    return (human(), pose @ held, q)


def rising(times, height=0.2) -> np.ndarray:
    """From 0 to a height, m, smoothly, over all the time but a tenth at each end."""
    share = (times - times[0]) / (times[-1] - times[0])
    return height * minimum_jerk((share - 0.1) / 0.8)


def integrated(acceleration, speed, fps) -> np.ndarray:
    """Places at frames of what starts at 0 with a speed and is accelerated at the frames.

    Second differences of the places are the accelerations; the first is not needed.
    """
    rates = speed + np.concatenate([[0.0], np.cumsum(acceleration[1:-1]) / fps])
    return np.concatenate([[0.0], np.cumsum(rates) / fps])


def skin_points(model: HandModel, q, root: Pose = ORIGIN) -> np.ndarray:
    """Vertices of a posed hand's skin, m."""
    return posed_skin(model, skin_of(model), q, root)


def crossed_arms(count=10, *, apart=0.0, fps=30.0):
    """Two arms at rest whose forearms lie across each other, so far apart between their axes, m."""
    model = human(arm=True)
    q = model.pose("rest")
    part = model.capsules.names.index("forearm")
    quarter = Pose(np.zeros(3), turning([0.0, 0.0, 0.5 * np.pi]))
    start, end, _ = posed_capsules(model, q)
    middle = 0.5 * (start[part] + end[part])
    across = Pose(middle - quarter.apply(middle) + np.array([0.0, 0.0, apart]), quarter.wxyz)
    shoulder = Pose(np.array([0.0, 0.0, 1.4]), UPRIGHT)
    roots = {"one": shoulder, "two": shoulder @ across}
    return clip_of(
        frames(count, fps),
        hands={
            name: (model, still(root.position, count, root.wxyz), q) for name, root in roots.items()
        },
        bodies={"box": (make_shape("box"), still((0.0, 2.0, 0.03), count))},
        environment=(floor(),),
    )


def altered(clip: Clip, **given) -> Clip:
    """The clip with other fields of its problem."""
    return replace(clip, problem=replace(clip.problem, **given))


@cache
def flat_palm(pose="open"):
    """Root of a right hand that looks up, so that a flat thing lies level on it at the origin.

    The thing lies on three points of the skin, as on any hand that is not perfectly flat: on the
    facet of its convex hull over the heel of an open hand, or over the fingers of one at rest.
    """
    model = human()
    points = skin_points(model, model.pose(pose), Pose(np.zeros(3), PALM_UP))
    hull = ConvexHull(points)
    middle = np.array([{"open": 0.04, "rest": 0.12}[pose], 0.0])
    for corners, normal in zip(points[hull.simplices], hull.equations[:, :3], strict=True):
        share = np.linalg.solve(np.vstack([corners[:, :2].T, np.ones(3)]), np.append(middle, 1.0))
        if normal[2] > 0.0 and share.min() >= 0.0:
            break
    turn = rotation.between(normal, np.array([0.0, 0.0, 1.0]))
    wxyz = rotation.multiply(turn, PALM_UP)
    return Pose(-rotation.rotate(turn, share @ corners), wxyz)


def on_palm(body, count, *, model: HandModel | None = None, pose="open", lift=0.0):
    """A body that rests with its flat underside on a flat hand: hands and bodies of ``clip_of``.

    Args:
        body: Its underside is at its lowest vertices, below its centre of mass.
        count: Number of frames.
        model: A right human hand.
        pose: Name of the pose of the hand.
        lift: How far both are raised in each frame, m.
    """
    model, root = human() if model is None else model, flat_palm(pose)
    up = np.broadcast_to(lift, (count,)) + 1.0
    high = -body.vertices[:, 2].min() - 0.0004
    hand = Pose(root.position + np.outer(up, [0.0, 0.0, 1.0]), root.wxyz)
    return {
        "hands": {"hand": (model, hand, model.pose(pose))},
        "bodies": {"load": (body, path(0.0, 0.0, up + high))},
    }


def balls_in_flight(times, apart):
    """Two balls in free flight whose surfaces are as far from the middle between them, m."""
    ball, z = make_shape("sphere"), 1.0 + 1.5 * times - 0.5 * G * times**2
    return clip_of(
        times,
        hands=bystander(len(times)),
        bodies={
            "one": (ball, path(-0.035 - apart, 0.0, z)),
            "two": (ball, path(0.035 + apart, 0.0, z)),
        },
    )
