"""The certificate: how long it takes, on a clip that must pass and on planted faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bars import bars_met, bars_table
from benchmarks.timing import best_seconds
from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.evidence import certify
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.ik.closing import close_around
from handwright.math import rotation
from handwright.math.pose import Pose

if TYPE_CHECKING:
    from rich.table import Table

BARS: dict[str, tuple[str, float]] = {
    "verify_s": ("<=", 5.0),
    "contacts_per_frame": (">=", 10.0),
    "is_certified": (">=", 1.0),
    "faults_named": (">=", 1.0),
}

_MEANINGS = {
    "verify_s": "certify a clip of 300 frames, s",
    "verify_ms_frame": "the same for each frame, ms",
    "verify_short_s": "certify 100 frames of it, s",
    "contacts_per_frame": "contacts that may carry force, at least in any frame",
    "is_certified": "1 if the clip is certified, as it should be",
    "faults_named": "share of planted faults that are named, and nothing else is",
}

_FRAMES = 300
_FPS = 60.0
_RADIUS = 0.038
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_ROOT = Pose(np.array([-0.09, 0.0, _RADIUS + 0.019]), _UPRIGHT)
# The thumb stands across from the fingers before it closes: its six joints, degrees.
_THUMB_BEFORE = (-12.0, 24.0, 25.0, -5.0, 0.0, -5.0)
_THUMB_AFTER = (33.0, 24.0, 25.0, 45.0, 0.0, 60.0)
# Fingers are never quite still: so much at every joint, rad.
_UNREST = 5e-4


def carried_ball(frames: int = _FRAMES) -> Clip:
    """A ball in a fist, carried and turned along a path that never repeats itself."""
    model, ball = human(), make_shape("sphere", radius=_RADIUS)
    start, end = model.pose("open").copy(), model.pose("closed").copy()
    thumb = list(model.digit("thumb").joints)
    start[thumb], end[thumb] = np.radians(_THUMB_BEFORE), np.radians(_THUMB_AFTER)
    closed = close_around(
        model,
        signed_distance_field(ball),
        root=_ROOT,
        start=model.joints.clamp(start),
        end=model.joints.clamp(end),
    ).q
    times = np.arange(frames) / _FPS
    rates = np.array([1.3, 2.1, 3.4])
    wave = np.sin(times[:, None, None] * rates[:, None] * [1.0, 1.17, 0.83] + [0.0, 1.0, 2.0])
    place = wave.sum(axis=1) * [0.06, 0.05, 0.04]
    turn = wave[:, ::-1].sum(axis=1) * [0.15, 0.1, 0.2]
    pose = Pose(place, rotation.exp(turn))
    joints = np.arange(model.num_joints)
    q = closed + _UNREST * np.sin(2.0 * times[:, None] + joints)
    problem = Problem("carried ball", times, {"hand": model}, {"ball": ball})
    return Clip(
        problem,
        times,
        {"hand": HandMotion(pose @ _ROOT, model.joints.clamp(q))},
        {"ball": pose},
        ContactTrack.empty(),
        Provenance("carried ball", "scripted"),
    )


def planted_faults(clip: Clip) -> dict[str, Clip]:
    """The same clip spoilt in several ways, by the name of the check that must fail."""
    motion, pose = clip.hands["hand"], clip.bodies["ball"]
    far = Pose(motion.root.position + np.array([0.0, 0.0, 0.5]), motion.root.wxyz)
    large = make_shape("sphere", radius=_RADIUS + 0.003, mass=clip.problem.bodies["ball"].mass)
    leap = pose.position.copy()
    leap[clip.num_frames // 2] += [0.1, 0.0, 0.0]
    heavy = clip.problem.bodies["ball"].with_mass(200.0)
    return {
        "force_residual": replace(clip, hands={"hand": HandMotion(far, motion.q)}),
        "penetration": replace(clip, problem=replace(clip.problem, bodies={"ball": large})),
        "jump": replace(clip, bodies={"ball": Pose(leap, pose.wxyz)}),
        "strength": replace(clip, problem=replace(clip.problem, bodies={"ball": heavy})),
    }


def run() -> dict[str, float | bool]:
    """Measures all; about ten seconds with warm caches."""
    clip, short = carried_ball(), carried_ball(100)
    certificate = certify(clip)
    named = [certify(bad).reasons == (name,) for name, bad in planted_faults(clip).items()]
    seconds = best_seconds(lambda: certify(clip), repeats=3)
    result: dict[str, float | bool] = {
        "verify_s": seconds,
        "verify_ms_frame": 1e3 * seconds / clip.num_frames,
        "verify_short_s": best_seconds(lambda: certify(short), repeats=3),
        "contacts_per_frame": float(
            min(len(frame.bodies["ball"].contacts) for frame in certificate.frames)
        ),
        "is_certified": float(certificate.passed),
        "faults_named": sum(named) / len(named),
    }
    result["bars_met"] = bars_met(result, BARS)
    return result


def describe(result: dict[str, float | bool]) -> Table:
    """The result as a table."""
    return bars_table("The certificate (one thread, best of three)", result, _MEANINGS, BARS)
