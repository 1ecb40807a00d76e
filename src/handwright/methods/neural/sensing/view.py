"""One hand and the object that it senses, over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.surface import Surface
from handwright.errors import InvalidValueError, UnknownNameError, refuse
from handwright.geometry.distance.environment import (
    EnvironmentArrays,
    pack_environment,
    resized,
)
from handwright.geometry.distance.sdf import Field, make_field, sample_field
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.joints import sensed_hand
from handwright.methods.neural.sensing.load import Load, load_of
from handwright.methods.neural.sensing.motion import Motion, fill_spin
from handwright.methods.neural.sensing.resampling import even_times, resampled
from handwright.methods.neural.sensing.taught_size import at_taught_size, size_of


@dataclass(frozen=True, slots=True, eq=False)
class HandView:
    """A hand and the object that it senses, at 60 frames a second.

    Make one by ``hand_view`` or ``hand_views``, which resample, and which scale the scenes of hands
    of another size than the taught one.
    """

    model: HandModel
    """In the size of the taught hand."""
    body: SensedBody
    """Distance grids and centre of mass of the object, in its frame."""
    times: Float[np.ndarray, " T"]
    """s."""
    wrist_rotation: Float[np.ndarray, "T 3 3"]
    """Maps the wrist frame to the world."""
    wrist_position: Float[np.ndarray, "T 3"]
    """m."""
    object_rotation: Float[np.ndarray, "T 3 3"]
    """Maps the object's frame to the world."""
    object_position: Float[np.ndarray, "T 3"]
    """m."""
    other_position: Float[np.ndarray, "T 3"] | None = None
    """Of the other hand's wrist, m; None if there is no other hand."""
    load: Load | None = None
    """What hands must do to the object; None if nothing is to be held."""
    surroundings: EnvironmentArrays = dataclasses.field(
        default_factory=lambda: pack_environment(())
    )
    """Tables, walls and floors that fingers stay out of, in the world; networks do not see them."""
    packed: tuple[Any, ...] = dataclasses.field(init=False, repr=False, default=())
    """Hand, body and motion for the kernels."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        count = len(self.times)
        shapes = {
            "wrist_rotation": (count, 3, 3), "wrist_position": (count, 3),
            "object_rotation": (count, 3, 3), "object_position": (count, 3),
        }  # fmt: skip
        if self.other_position is not None:
            shapes["other_position"] = (count, 3)
        refuse("HandView", [
            f"{name} has shape {getattr(self, name).shape}, expected {shape} of numbers"
            for name, shape in shapes.items()
            if getattr(self, name).shape != shape or not np.isfinite(getattr(self, name)).all()
        ])  # fmt: skip
        motion = Motion(
            self.wrist_rotation,
            self.wrist_position,
            self.object_rotation,
            self.object_position,
            _unwritable(np.zeros((count, 3)))
            if self.other_position is None
            else self.other_position,
            _unwritable(_spin(np.array(self.object_rotation))),
            self.other_position is not None,
        )
        hand = sensed_hand(self.model)
        object.__setattr__(self, "packed", (Packed(hand), Packed(self.body), Packed(motion)))

    def __len__(self) -> int:
        return len(self.times)

    def __reduce__(self) -> tuple[Any, ...]:
        # What is packed holds addresses, which mean nothing in another process.
        tracks = [getattr(self, item.name) for item in dataclasses.fields(self)[2:-1]]
        return _revived, (self.model, tuple(self.body), *tracks)

    @property
    def sign(self) -> float:
        """Of y: 1 for a right hand, -1 for a left one, which is seen in a mirror."""
        return -1.0 if self.model.side == "left" else 1.0

    @property
    def field(self) -> Field:
        """Signed distance grid of the object, in its frame."""
        return self.body.near

    @property
    def center_of_mass(self) -> Float[np.ndarray, "3"]:
        """In the object's frame, m."""
        return self.body.center


def _revived(model: HandModel, body: tuple[Any, ...], *tracks: Any) -> HandView:  # noqa: ANN401
    near, far, *rest = body
    return HandView(model, SensedBody(make_field(*near), make_field(*far), *rest), *tracks)


def _unwritable(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _spin(turns: np.ndarray) -> np.ndarray:
    spin = np.zeros((len(turns), 3))
    fill_spin(turns, spin)
    return spin


def hand_view(
    model: HandModel,
    body: RigidBody | SensedBody,
    times: Float[np.ndarray, " T"],
    wrist: Pose,
    object_pose: Pose,
    other_wrist: Pose | None = None,
    *,
    load: Load | None = None,
    environment: Sequence[Surface] = (),
) -> HandView:
    """One hand and its object from tracks of any rate from 24 to 120 frames a second.

    Tracks at 60 frames a second are taken frame by frame; others are resampled. Lengths of the
    view are divided by the hand's size; see ``taught_size``.

    Args:
        model: The hand, of any size.
        body: The object that it senses; grids that are ready must be for the hand's size.
        times: Of all poses, s.
        wrist: (T,) poses of the wrist in the world.
        object_pose: (T,) poses of the object in the world.
        other_wrist: (T,) poses of the other hand's wrist, if there is one.
        load: What hands must do to the object, at 60 frames a second.
        environment: Tables, walls and floors that fingers stay out of.
    """
    times = np.asarray(times, dtype=np.float64)
    given = {"wrist": wrist, "object": object_pose}
    if other_wrist is not None:
        given["other wrist"] = other_wrist
    refuse(f"Tracks of hand '{model.name}'", [
        f"the {name} has {pose.shape} poses for {times.shape} times"
        for name, pose in given.items()
        if pose.shape != times.shape
    ])  # fmt: skip
    wanted, size = even_times(times), size_of(model)
    poses = {name: resampled(times, pose, wanted) for name, pose in given.items()}
    return HandView(
        at_taught_size(model),
        body if isinstance(body, SensedBody) else sensed_body(body, size),
        wanted,
        rotation.to_matrix(poses["wrist"].wxyz),
        poses["wrist"].position / size,
        rotation.to_matrix(poses["object"].wxyz),
        poses["object"].position / size,
        poses["other wrist"].position / size if other_wrist is not None else None,
        load,
        resized(pack_environment(environment), 1.0 / size),
    )


def hand_views(problem: Problem, objects: Mapping[str, str] | None = None) -> dict[str, HandView]:
    """Views of all hands of a problem that have a track.

    A hand senses the only body with a track; of several the one that its palm is nearest to, in
    the mean over all frames.

    Args:
        problem: With tracks of wrists and bodies.
        objects: Bodies that hands sense, by the names of the hands, where they are to be others.
    """
    poses = {name: track.at(problem.times) for name, track in problem.tracks.items()}
    return _views(problem, problem.times, poses, objects)


def clip_views(clip: Clip, objects: Mapping[str, str] | None = None) -> dict[str, HandView]:
    """Views of all hands of a motion; see ``hand_views``.

    Args:
        clip: The motion. At 60 frames a second, a frame of the views is one of the clip.
        objects: Bodies that hands sense, by the names of the hands, where they are to be others.
    """
    roots = {name: motion.root for name, motion in clip.hands.items()}
    return _views(clip.problem, clip.times, {**roots, **clip.bodies}, objects)


def _views(
    problem: Problem,
    times: Float[np.ndarray, " T"],
    poses: Mapping[str, Pose],
    objects: Mapping[str, str] | None,
) -> dict[str, HandView]:
    hands = {name: model for name, model in problem.hands.items() if name in poses}
    bodies = {name: body for name, body in problem.bodies.items() if name in poses}
    if not hands or not bodies:
        raise InvalidValueError(
            f"Problem '{problem.name}' has tracks of {', '.join(poses) or 'nothing'}; expected "
            "those of a wrist and of a body. Give both, or use a method that finds them."
        )
    for name, model in hands.items():
        if model.wrist_link != 0:
            raise InvalidValueError(
                f"Hand '{name}' of problem '{problem.name}' has an arm, so that its track is that "
                "of the shoulder; expected the wrist's. Give a hand without an arm."
            )
    views, loads = {}, dict[str, Load]()
    even = even_times(times)
    for name, model in hands.items():
        chosen = (objects or {}).get(name) or _nearest_body(model, poses[name], bodies, poses)
        if chosen not in bodies:
            raise UnknownNameError(f"body with a track of '{problem.name}'", chosen, bodies)
        other = next((poses[one] for one in hands if one != name), None)
        if chosen not in loads:
            pose = resampled(times, poses[chosen], even)
            loads[chosen] = load_of(problem, chosen, pose, even)
        views[name] = hand_view(
            model,
            bodies[chosen],
            times,
            poses[name],
            poses[chosen],
            other,
            load=loads[chosen],
            environment=problem.environment,
        )
    return views


def _nearest_body(
    model: HandModel, wrist: Pose, bodies: Mapping[str, RigidBody], poses: Mapping[str, Pose]
) -> str:
    """The body that the palm of a hand is nearest to in the mean."""
    if len(bodies) == 1:
        return next(iter(bodies))
    gaps = palm_distances(model, wrist, bodies, poses)
    return min(gaps, key=lambda name: float(gaps[name].mean()))


def palm_distances(
    model: HandModel, wrist: Pose, bodies: Mapping[str, RigidBody], poses: Mapping[str, Pose]
) -> dict[str, Float[np.ndarray, " T"]]:
    """How far the palm of a flat hand is from each body over time, m.

    Args:
        model: The hand.
        wrist: (T,) poses of its wrist in the world.
        bodies: By name.
        poses: (T,) poses of these in the world.
    """
    flat = frame_poses(model, np.zeros(model.num_joints))
    palm = wrist.apply(flat.position[model.frames.index("palm")])
    return {
        name: sample_field(sensed_body(body).far, poses[name].inverse().apply(palm))[0]
        for name, body in bodies.items()
    }
