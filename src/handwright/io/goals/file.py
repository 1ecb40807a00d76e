"""Problem files (.yaml): a problem as text that people write.

Hands and bodies with where they start or with tracks, surroundings, and what should become true;
see docs/how-to/write-goals.md for every key.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from pydantic import ValidationError

from handwright.core.body import RigidBody
from handwright.core.events import Grip, Push, Stroke, Toss, TouchSpan
from handwright.core.goal import Feature, Goal
from handwright.core.hand import HandModel
from handwright.core.problem import (
    Problem,
    goal_problems,
    grip_problems,
    push_problems,
    stroke_problems,
    toss_problems,
    touch_problems,
    usual_posture,
)
from handwright.core.surface import EnvironmentBox, HalfSpace, Surface
from handwright.core.track import Track
from handwright.errors import FileFormatError, HandwrightError, InvalidValueError, UnknownNameError
from handwright.geometry.mesh.bodies import load_body
from handwright.geometry.shapes import make_shape
from handwright.hands.registry import HANDS, make_hand
from handwright.io.goals.schema import (
    BodyEntry,
    GoalPart,
    HandEntry,
    Place,
    ProblemFile,
    SurfacePart,
    Turned,
    schema_problems,
)
from handwright.io.goals.strict_yaml import YamlDocument, read_yaml
from handwright.io.goals.tracks import joint_poses, read_poses
from handwright.math import rotation
from handwright.math.pose import Pose

RobotReader = Callable[[Path, Any], HandModel]
"""Makes a hand from a robot's file and what the key ``mapping`` says of it."""

_ROBOT_SUFFIXES = (".xml", ".urdf")


def read_problem(path: str | Path, robot_reader: RobotReader | None = None) -> Problem:
    """Reads a problem from a problem file.

    Args:
        path: A .yaml file; paths within it start from its folder.
        robot_reader: For hands from robot files; without it there are only the shipped ones.

    Raises:
        FileFormatError: Something in the file cannot be used; the text lists all of it by line.
    """
    document = read_yaml(path)
    builder = _Builder(Path(path), document, robot_reader)
    try:
        file = ProblemFile.model_validate(document.value)
    except ValidationError as error:
        for place, text in schema_problems(error):
            builder.say(place, text)
        raise builder.error() from None
    problem = builder.problem(file)
    if problem is None:
        raise builder.error()
    return problem


def turned(degrees: tuple[float, ...]) -> Float[np.ndarray, "4"]:
    """Orientation after turns about x, then y, then z, axes that stay where they are, degrees."""
    x, y, z = (
        rotation.exp(math.radians(d) * axis) for d, axis in zip(degrees, np.eye(3), strict=True)
    )
    return rotation.multiply(z, rotation.multiply(y, x))


@dataclasses.dataclass(slots=True)
class _Builder:
    """Makes nouns of the parts of a file, and notes what cannot be made, and where."""

    path: Path
    document: YamlDocument
    robot_reader: RobotReader | None
    problems: list[str] = dataclasses.field(default_factory=list)

    def say(self, place: tuple[str | int, ...], text: str) -> None:
        name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        where = f"line {self.document.line_of(place)}"
        self.problems.append(f"{where}, {name.lstrip('.')}: {text}" if name else f"{where}: {text}")

    def error(self) -> FileFormatError:
        listed = "".join(f"\n  - {problem}" for problem in self.problems)
        return FileFormatError(f"{self.path}: this problem file cannot be used:{listed}")

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        try:
            yield
        except HandwrightError as error:
            self.say(place, str(error))

    def problem(self, file: ProblemFile) -> Problem | None:
        hands: dict[str, HandModel] = {}
        bodies: dict[str, RigidBody] = {}
        postures: dict[str, Float[np.ndarray, " J"]] = {}
        environment: list[Surface] = []
        for name, hand in file.hands.items():
            with self.at("hands", name):
                hands[name] = self._hand(hand)
                if hand.start is not None or hand.pose is not None or hand.joints_deg:
                    postures[name] = _posture(hands[name], hand)
        for name, body in file.bodies.items():
            with self.at("bodies", name):
                bodies[name] = make_body(name, body, self.path.parent)
        for number, surface in enumerate(file.environment):
            with self.at("environment", number):
                environment.append(_surface(surface))
        times, tracks = self._tracks(file)
        if self.problems:
            return None
        span = float(times[0]), float(times[-1])
        goals: list[Goal] = []
        for number, goal in enumerate(file.goals):
            with self.at("goals", number):
                made = _goals(goal, {*hands, *bodies})
                for text in dict.fromkeys(
                    text for one in made for text in goal_problems(one, hands, bodies, span)
                ):
                    self.say(("goals", number), text)
                goals += made
        touches: list[TouchSpan] = []
        for number, touch in enumerate(file.touches):
            with self.at("touches", number):
                touches.append(TouchSpan(touch.hand, touch.from_, touch.to))
                for text in touch_problems(touches[-1], hands, span):
                    self.say(("touches", number), text)
        strokes: list[Stroke] = []
        for number, part in enumerate(file.strokes):
            with self.at("strokes", number):
                point = np.array(part.point)
                strokes.append(
                    Stroke(part.body, point, part.surface, part.from_, part.to, part.force)
                )
                for text in stroke_problems(strokes[-1], bodies, len(environment), span):
                    self.say(("strokes", number), text)
        grips = self._grips(file, hands, bodies, span)
        pushes = self._pushes(file, bodies, span)
        tosses = self._tosses(file, hands, bodies, environment)
        if self.problems:
            return None
        with self.at():
            return Problem(
                name=file.name,
                times=times,
                hands=hands,
                bodies=bodies,
                tracks=tracks,
                goals=tuple(goals),
                environment=tuple(environment),
                start={
                    name: _pose(part.start)
                    for name, part in (file.hands | file.bodies).items()
                    if part.start is not None
                },
                postures=postures,
                touches=tuple(touches),
                strokes=tuple(strokes),
                grips=grips,
                pushes=pushes,
                tosses=tosses,
                is_cyclic=file.cyclic,
            )
        return None

    def _tosses(
        self,
        file: ProblemFile,
        hands: Mapping[str, HandModel],
        bodies: Mapping[str, RigidBody],
        environment: Sequence[Surface],
    ) -> tuple[Toss, ...]:
        tosses: list[Toss] = []
        for number, part in enumerate(file.tosses):
            with self.at("tosses", number):
                tosses.append(Toss(part.hand, part.body, part.height, part.box))
                for text in toss_problems(tosses[-1], hands, bodies, environment):
                    self.say(("tosses", number), text)
        return tuple(tosses)

    def _tracks(self, file: ProblemFile) -> tuple[Float[np.ndarray, " T"], dict[str, Track]]:
        poses: dict[str, Pose] = {}
        if file.tracks is not None:
            with self.at("tracks"):
                poses = read_poses(self.path.parent / file.tracks)
                known = (*file.hands, *file.bodies)
                for name in poses:
                    if name not in known:
                        raise UnknownNameError(f"hand or body in '{file.tracks}'", name, known)
            if self.problems:
                return np.zeros(0), {}
        times = file.times(len(next(iter(poses.values()))) if poses else 0)
        for name, hand in file.hands.items():
            if hand.bvh is None:
                continue
            with self.at("hands", name, "bvh"):
                if name in poses:
                    raise InvalidValueError(
                        f"'{name}' also has a track in '{file.tracks}'; expected one of them."
                    )
                path = self.path.parent / hand.bvh.file
                poses[name] = joint_poses(path, hand.bvh.joint, _wxyz(hand.bvh), times)
        # What is tossed begins in the hand that tosses it.
        placed = {*poses, *(toss.body for toss in file.tosses)}
        for kind, parts in (("hands", file.hands), ("bodies", file.bodies)):
            for name, part in parts.items():
                if part.start is None and name not in placed:
                    self.say((kind, name, "start"), "is missing, and there is no track")
        return times, {name: Track(times, pose) for name, pose in poses.items()}

    def _grips(
        self,
        file: ProblemFile,
        hands: dict[str, HandModel],
        bodies: dict[str, RigidBody],
        span: tuple[float, float],
    ) -> tuple[Grip, ...]:
        grips: list[Grip] = []
        for number, part in enumerate(file.grips):
            with self.at("grips", number):
                grips.append(Grip(**(part.model_dump() | {"at": _array(part.at)})))
                for text in grip_problems(grips[-1], hands, bodies, span):
                    self.say(("grips", number), text)
        return tuple(grips)

    def _pushes(
        self, file: ProblemFile, bodies: dict[str, RigidBody], span: tuple[float, float]
    ) -> tuple[Push, ...]:
        pushes: list[Push] = []
        for number, part in enumerate(file.pushes):
            with self.at("pushes", number):
                point, force = np.array(part.at), np.array(part.force)
                pushes.append(Push(part.on, part.from_, part.to, point, force))
                for text in push_problems(pushes[-1], bodies, span):
                    self.say(("pushes", number), text)
        return tuple(pushes)

    def _hand(self, part: HandEntry) -> HandModel:
        if part.model.lower().endswith(_ROBOT_SUFFIXES):
            if self.robot_reader is None:
                raise InvalidValueError(
                    f"model is the robot file '{part.model}', which cannot be read here. "
                    "Use handwright.scenes.read_problem."
                )
            model = self.robot_reader(self.path.parent / part.model, part.mapping)
        else:
            if part.mapping is not None:
                raise InvalidValueError(
                    f"mapping is given with model '{part.model}'; expected it with robot files "
                    f"({', '.join(_ROBOT_SUFFIXES)}) only."
                )
            sided = f"{part.model}_{part.side}"
            name = part.model if part.side is None or part.model in HANDS else sided
            if name not in HANDS:
                known = [*HANDS, "human (with side: right or left)"]
                raise UnknownNameError("hand", part.model, known)
            model = make_hand(name)
        if part.side is not None and model.side != part.side:
            raise InvalidValueError(
                f"side is '{part.side}', but the hand '{part.model}' has '{model.side}'."
            )
        return model


def make_body(name: str, part: BodyEntry, folder: Path) -> RigidBody:
    """The body that a part of a file describes.

    Args:
        name: What it is called.
        part: Its shape or mesh, and what differs from that.
        folder: Where mesh files are looked for.
    """
    if part.shape is not None:
        if part.mass is not None and "mass" in part.size:
            raise InvalidValueError(
                f"mass is {part.mass:g} and again {part.size['mass']:g} in size; expected it once. "
                "Remove it from size."
            )
        mass = {} if part.mass is None else {"mass": part.mass}
        body = make_shape(part.shape, **part.size, **mass)
    else:
        body = load_body(folder / str(part.mesh), scale=part.scale, mass=part.mass)
    changes: dict[str, Any] = {"name": name}
    if part.friction is not None:
        changes["friction"] = part.friction
    if part.color is not None:
        changes["color"] = part.color
    if part.center is not None and part.inertia is not None:
        changes["center"], changes["inertia"] = np.array(part.center), np.array(part.inertia)
    return dataclasses.replace(body, **changes)


def _posture(model: HandModel, part: HandEntry) -> Float[np.ndarray, " J"]:
    q = (usual_posture(model) if part.pose is None else model.pose(part.pose)).copy()
    tree = model.joints
    for name, degrees in part.joints_deg.items():
        joint, value = tree.index(name), math.radians(degrees)
        if tree.is_slide[joint] or tree.leader[joint] >= 0:
            raise InvalidValueError(
                f"joints_deg gives '{name}', which slides or follows another joint; "
                "expected joints that turn on their own."
            )
        if not tree.lower[joint] <= value <= tree.upper[joint]:
            low, high = math.degrees(tree.lower[joint]), math.degrees(tree.upper[joint])
            raise InvalidValueError(
                f"joints_deg gives '{name}' {degrees:g} degrees; expected {low:.1f} to {high:.1f}."
            )
        q[joint] = value
    return tree.clamp(q)


def _pose(place: Place) -> Pose:
    wxyz = _wxyz(place)
    return Pose(np.array(place.position), np.array([1.0, 0.0, 0.0, 0.0]) if wxyz is None else wxyz)


def _wxyz(part: Turned) -> Float[np.ndarray, "4"] | None:
    if part.turn_deg is not None:
        return turned(part.turn_deg)
    return _array(part.wxyz)


def _surface(part: SurfacePart) -> Surface:
    if part.plane is not None:
        return HalfSpace(np.array(part.plane.normal), part.plane.offset, part.plane.friction)
    box = part.box
    if box is None:
        raise InvalidValueError("expected one of plane and box")
    return EnvironmentBox(_pose(box), np.array(box.half_extents), box.friction)


def _goals(part: GoalPart, names: set[str]) -> list[Goal]:
    # A name may have a dot of its own.
    owner, _, frame = (part.of, "", "") if part.of in names else part.of.partition(".")
    feature = Feature(owner, frame or None, _array(part.point))
    return [
        Goal(
            feature,
            start,
            end,
            position=_array(position),
            wxyz=_wxyz(part),
            relative_to=part.relative_to,
            weight=part.weight,
            spin=None if part.spin_deg_s is None else np.radians(part.spin_deg_s),
            velocity=_array(part.velocity),
            axes=part.axes,
            axis=_array(part.axis),
        )
        for start, end, position in part.moments
    ]


def _array(numbers: tuple[float, ...] | None) -> Float[np.ndarray, " _"] | None:
    return None if numbers is None else np.array(numbers)
