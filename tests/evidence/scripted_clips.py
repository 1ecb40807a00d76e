"""Motions that are right by construction, and ways to spoil them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import Contact, ContactTrack
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.evidence import certify
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.ik.closing import ClosedHand, close_around
from handwright.math import rotation
from handwright.math.pose import Pose

GRASP_ROOT = Pose(np.array([-0.095, 0.0, 0.056]), np.array([1.0, 0.0, 0.0, 0.0]))
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def minimum_jerk(share):
    share = np.clip(share, 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


@cache
def grasp(side: str = "right") -> ClosedHand:
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
    """The whole clip, surroundings and contacts included, at another place."""

    def along(surface):
        if isinstance(surface, HalfSpace):
            normal = world.rotate(surface.normal)
            offset = surface.offset + float(normal @ world.position)
            return HalfSpace(normal, offset, surface.friction)
        return EnvironmentBox(world @ surface.pose, surface.half_extents, surface.friction)

    return _transformed(clip, lambda pose: world @ pose, world.apply, world.rotate, along)


def mirrored(clip: Clip) -> Clip:
    """The whole clip reflected in the plane y = 0, with a left hand."""
    flip, turn = np.array([1.0, -1.0, 1.0]), np.array([1.0, -1.0, 1.0, -1.0])

    def image(pose: Pose) -> Pose:
        return Pose(pose.position * flip, pose.wxyz * turn)

    def reflected(surface):
        if isinstance(surface, HalfSpace):
            return HalfSpace(surface.normal * flip, surface.offset, surface.friction)
        return EnvironmentBox(image(surface.pose), surface.half_extents, surface.friction)

    whole = _transformed(clip, image, lambda p: p * flip, lambda v: v * flip, reflected)
    return replace(whole, problem=replace(whole.problem, hands={"hand": human("left")}))


def _transformed(clip, pose, point, vector, surface):
    contacts = clip.contacts
    return replace(
        clip,
        problem=replace(
            clip.problem, environment=tuple(surface(s) for s in clip.problem.environment)
        ),
        hands={name: HandMotion(pose(m.root), m.q) for name, m in clip.hands.items()},
        bodies={name: pose(body) for name, body in clip.bodies.items()},
        contacts=replace(
            contacts,
            point=point(contacts.point),
            normal=vector(contacts.normal),
            force=vector(contacts.force),
        ),
    )


def shifted(pose: Pose, offset) -> Pose:
    return Pose(pose.position + offset, pose.wxyz)


def sinking(clip: Clip) -> Clip:
    """Every contact 3 mm deep: the ball has grown within the grip."""
    large = make_shape("sphere", radius=0.038, mass=clip.problem.bodies["ball"].mass)
    return replace(clip, problem=replace(clip.problem, bodies={"ball": large}))


def floating(clip: Clip) -> Clip:
    """The hand has let go and is half a metre away."""
    return with_hand(clip, root=shifted(clip.hands["hand"].root, [0.0, 0.0, 0.5]))


def creeping(clip: Clip) -> Clip:
    """The ball turns in the grip, too slowly to count as sliding, for 3 mm in the end."""
    angle = 0.003 / 0.035 * (clip.times / clip.times[-1])
    spin = rotation.exp(angle[:, None] * np.array([1.0, 0.0, 0.0]))
    pose = clip.bodies["ball"]
    return with_body(clip, Pose(pose.position, rotation.multiply(pose.wxyz, spin)))


def with_judged_forces(clip: Clip) -> tuple[Clip, list[Contact]]:
    """The clip with the contacts and forces that the judge finds in it, and these."""
    rows = []
    capsules = {name: model.capsules.names for name, model in clip.problem.hands.items()}
    for record in certify(clip).frames:
        for body, found in record.bodies.items():
            for c in found.contacts:
                part = capsules[c.toucher].index(c.part) if c.toucher in capsules else int(c.part)
                rows.append(
                    Contact(
                        record.frame, c.toucher, part, body, c.point, c.normal, c.gap, c.force,
                        c.mode,
                    )
                )  # fmt: skip
    return replace(clip, contacts=ContactTrack.of(rows)), rows
