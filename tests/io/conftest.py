"""Small clips that the tests of files share."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactMode, ContactTrack
from handwright.core.events import TouchSpan
from handwright.core.goal import Feature, Goal
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.core.track import Track
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.scripted import Scripted
from handwright.synthesis import synthesize


def _wandering(times: np.ndarray, seed: int) -> Track:
    """A smooth track with turns about changing axes, some tenths of a metre long."""
    rng = np.random.default_rng(seed)
    angles = times[:, None] * rng.uniform(0.5, 2.0, 3) + rng.uniform(0.0, 6.0, 3)
    position = 0.2 * np.sin(angles) + np.array([0.1, 0.2, 0.6])
    turns = rotation.exp(np.cos(angles) * rng.uniform(0.3, 1.0, 3))
    return Track(times, Pose(position, turns))


def _contacts(hand: str, body: str, num_frames: int, touches: list[int]) -> ContactTrack:
    """One environment contact in every second frame; hand contacts in the second half."""
    rng = np.random.default_rng(3)
    rows = [
        (frame, part, toucher)
        for frame in range(num_frames)
        for toucher, parts in ((0, [0] if frame % 2 == 0 else []), (1, touches))
        for part in parts
        if toucher == 0 or frame >= num_frames // 2
    ]
    frame, part, toucher = np.array(rows).T
    count = len(rows)
    normal = rng.standard_normal((count, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    force = 2.0 * normal + 0.1 * rng.standard_normal((count, 3))
    force[toucher == 0] = np.nan
    return ContactTrack(
        touchers=("environment", hand),
        bodies=(body,),
        frame=frame,
        toucher=toucher,
        part=part,
        body=np.zeros(count, dtype=np.int64),
        point=rng.uniform(-0.1, 0.1, (count, 3)) + np.array([0.0, 0.0, 0.6]),
        normal=normal,
        gap=rng.uniform(-1e-3, 1e-3, count),
        force=force,
        mode=np.where(toucher == 0, int(ContactMode.SLIDING), int(ContactMode.STATIC)),
    )


@pytest.fixture(scope="session")
def human_clip() -> Clip:
    """A right hand that closes, and a ball, both on wandering tracks; 31 frames, with contacts."""
    times = 0.5 + np.linspace(0.0, 1.0, 31)
    problem = Problem(
        "käse / ball",
        times,
        {"right": human()},
        {"ball": make_shape("sphere")},
        {"right": _wandering(times, 1), "ball": _wandering(times, 2)},
        goals=(
            Goal(Feature("right", "index_tip", np.array([0.0, 0.0, 0.01])), 0.6, 0.9, np.ones(3)),
            Goal(
                Feature("ball"), 1.5, 1.5, wxyz=np.array([1.0, 0.0, 0.0, 0.0]), relative_to="ball"
            ),
        ),
        environment=(
            HalfSpace(np.array([0.1, 0.2, 3.0]), -0.1),
            EnvironmentBox(
                Pose(np.array([0.0, 0.1, 0.2]), rotation.exp(np.array([0.1, 0.2, 0.3]))),
                np.array([0.3, 0.2, 0.1]),
                friction=0.4,
            ),
        ),
    )
    clip = synthesize(problem, Scripted("open", "closed"), seed=7, certify=False).best
    return Clip(
        problem=problem,
        times=times,
        hands=clip.hands,
        bodies=clip.bodies,
        contacts=_contacts("right", "ball", len(times), [3, 7, 7]),
        provenance=clip.provenance,
    )


@pytest.fixture(scope="session")
def tiny_clip() -> Clip:
    """A hand without a skin and a coarse body; 5 frames, uneven in time."""
    times = np.array([0.0, 0.1, 0.25, 0.3, 0.5])
    model = trident()
    track = _wandering(times, 4)
    problem = Problem(
        "tiny",
        times,
        {"claw": model},
        {"block": make_shape("tetrahedron")},
        {"claw": track},
        goals=(
            Goal(
                Feature("claw"),
                0.0,
                0.5,
                wxyz=np.array([1.0, 0.0, 0.0, 0.0]),
                spin=np.array([0.0, -0.5, 1.0]),
                velocity=np.array([0.1, 0.0, 0.2]),
                axes="xz",
            ),
        ),
        postures={"claw": model.joints.clamp(0.25 * model.joints.upper)},
        touches=(TouchSpan("claw", 0.0, 0.2), TouchSpan("claw", 0.25, 0.5)),
        is_cyclic=True,
    )
    q = model.joints.random(np.random.default_rng(5), (5,))
    return Clip(
        problem=problem,
        times=times,
        hands={"claw": HandMotion(track.pose, q)},
        bodies={"block": _wandering(times, 6).pose},
        contacts=_contacts("claw", "block", 5, [1]),
        provenance=Provenance("tiny", "by hand", {"depth": 0.1, "steps": [1, 2]}, 3, "0.0"),
    )


@pytest.fixture(scope="session")
def two_hands_clip() -> Clip:
    """Two hands with different numbers of joints, and a body, with starts and no tracks."""
    times = np.array([0.0, 0.5, 1.0])
    hands = {"claw": trident(), "left": human("left")}
    roots = {"claw": _wandering(times, 1).pose, "left": _wandering(times, 2).pose}
    block = _wandering(times, 3).pose
    postures = {name: model.pose("open") for name, model in hands.items()}
    problem = Problem(
        "two hands",
        times,
        hands,
        {"block": make_shape("tetrahedron")},
        start={"block": block[0]} | {name: root[0] for name, root in roots.items()},
        postures=postures,
        touches=(TouchSpan("left", 0.5, 1.0),),
    )
    return Clip(
        problem=problem,
        times=times,
        hands={name: HandMotion(roots[name], np.tile(postures[name], (3, 1))) for name in hands},
        bodies={"block": block},
        contacts=ContactTrack.empty(),
        provenance=Provenance("two hands", "by hand"),
    )
