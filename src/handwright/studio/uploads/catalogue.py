"""What there is to choose from: scenes, methods and shapes; and scenes to look at."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.goal import XYZ, Goal
from handwright.core.problem import Problem
from handwright.core.track import still
from handwright.errors import HandwrightError, InvalidValueError
from handwright.folders import cache_dir
from handwright.geometry.shapes import SHAPES
from handwright.io.atomic import written_whole
from handwright.io.gltf.write import save_glb
from handwright.math.pose import Pose
from handwright.methods import default_method
from handwright.scenes import SCENES, goal_scenes, toss_scenes
from handwright.studio.forms import method_infos
from handwright.studio.messages import BodyInfo, GoalRequest, MethodInfo, SceneInfo, ShapeInfo
from handwright.studio.server.request_errors import unknown
from handwright.studio.uploads.scenes import find_scene, own_scenes, packaged_scenes


def list_shapes() -> list[ShapeInfo]:
    """Every parametric body."""
    return [ShapeInfo(name=name, summary=shape.summary) for name, shape in SHAPES.items()]


def list_methods() -> list[MethodInfo]:
    """Every method, with a form for its settings."""
    return method_infos()


def list_scenes(hidden: Path) -> list[SceneInfo]:
    """Every scene; those of the package are looked up once for each state of its sources."""
    return [*_packaged_infos(hidden), *_own_infos(hidden)]


def _packaged_infos(hidden: Path) -> list[SceneInfo]:
    # Masses and sizes of bodies take a while: their meshes are made.
    kept = cache_dir() / "studio" / f"scenes-{source_digest()}.json"
    if kept.is_file():
        return [SceneInfo.model_validate(info) for info in json.loads(kept.read_bytes())]
    infos = [describe_scene(hidden, name) for name in packaged_scenes()]
    kept.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(kept) as file:
        file.write(json.dumps([info.model_dump() for info in infos]).encode())
    return infos


@functools.cache
def source_digest() -> str:
    """Of all that scenes and shapes are made from, for names of what is kept of them."""
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    # What is kept has the form of the messages, too.
    digest.update((package / "studio" / "messages.py").read_bytes())
    for part in ("scenes", "geometry", "hands", "io/goals"):
        for path in sorted((package / part).rglob("*.*")):
            if path.suffix in (".py", ".yaml", ".csv", ".npz", ".bvh"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _own_infos(hidden: Path) -> list[SceneInfo]:
    infos = []
    for name in own_scenes(hidden):
        try:
            infos.append(describe_scene(hidden, name))
        except HandwrightError:
            continue  # Its upload is gone; whoever asks for it by name is told so.
    return infos


def describe_scene(hidden: Path, name: str) -> SceneInfo:
    """A scene, for lists and for the editor."""
    problem = find_scene(hidden, name)
    listed = {n: s.summary for n, s in SCENES.items()}
    listed |= {n: s.summary for n, s in (goal_scenes() | toss_scenes()).items()}
    return SceneInfo(
        name=name,
        summary=listed.get(name, "brought by you"),
        method=default_method(problem),
        num_frames=len(problem.times),
        duration=float(problem.times[-1] - problem.times[0]),
        hands=list(problem.hands),
        bodies=[
            BodyInfo(
                name=body_name,
                mass=body.mass,
                friction=body.friction,
                size=np.ptp(body.vertices, axis=0).tolist(),
            )
            for body_name, body in problem.bodies.items()
        ],
        digits=digit_names(problem),
        goals=_last_goals(problem),
        is_live=bool(problem.grips),
        is_uploaded=name not in listed,
    )


def _last_goals(problem: Problem) -> list[GoalRequest]:
    """For each body the goal that a goal of the page takes the place of, if that is a place."""
    owners = dict.fromkeys(goal.feature.owner for goal in problem.goals)
    last = {name: last_goal(problem, name) for name in owners}
    return [
        GoalRequest(
            body=name,
            position=goal.position.tolist(),
            wxyz=None if goal.wxyz is None else goal.wxyz.tolist(),
            time=goal.start,
        )
        for name, goal in last.items()
        if name in problem.bodies
        and goal is not None
        and goal.position is not None
        and goal.axes == XYZ
        and goal.relative_to is None
        and not np.any(goal.feature.point)
    ]


def last_goal(problem: Problem, owner: str) -> Goal | None:
    """The goal that a goal of the page takes the place of; the first of several that end last."""
    mine = [goal for goal in problem.goals if goal.feature.owner == owner]
    return max(mine, key=lambda goal: goal.end, default=None)


def digit_names(problem: Problem) -> list[str]:
    """Digits as pins name them; behind their hand's name if there are several hands."""
    return [
        digit.name if len(problem.hands) == 1 else f"{hand}.{digit.name}"
        for hand, model in problem.hands.items()
        for digit in model.digits
    ]


def make_scene_model(hidden: Path, name: str) -> bytes:
    """A .glb of a scene on its tracks, or as it starts, with fingers that nobody has moved yet."""
    if name not in (*packaged_scenes(), *own_scenes(hidden)):
        raise unknown("scene", name)
    problem = find_scene(hidden, name)
    path = hidden / "models" / f"{name}-{source_digest()}.glb"
    is_own = name not in packaged_scenes()
    if is_own or not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        save_glb(preview(problem), path, contacts=False, forces=False)
    return path.read_bytes()


def preview(problem: Problem) -> Clip:
    """A clip of a problem before anything has been found."""
    # What stands still needs no more than its first and last frame.
    times = problem.times if problem.tracks else problem.times[[0, -1]]

    def poses(name: str) -> Pose:
        if name in problem.tracks:
            return problem.tracks[name].at(times)
        if name in problem.start:
            return still(problem.start[name], times).pose
        raise InvalidValueError(f"Problem '{problem.name}': '{name}' has neither track nor start.")

    return Clip(
        problem=problem,
        times=times,
        hands={
            name: HandMotion(poses(name), np.tile(problem.posture(name), (len(times), 1)))
            for name in problem.hands
        },
        bodies={name: poses(name) for name in problem.bodies},
        contacts=ContactTrack.empty(),
        provenance=Provenance(problem.name, "preview"),
    )
