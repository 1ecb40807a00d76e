"""One hand and the object that it senses, over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError, refuse
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.joints import sensed_hand
from handwright.methods.neural.sensing.motion import Motion, fill_spin
from handwright.methods.neural.sensing.resampling import even_times, resampled


@dataclass(frozen=True, slots=True, eq=False)
class HandView:
    """A hand and the object that it senses, at 60 frames a second.

    Make one by ``hand_view`` or ``hand_views``, which resample.
    """

    model: HandModel
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
) -> HandView:
    """One hand and its object from tracks of any rate from 24 to 120 frames a second.

    Tracks at 60 frames a second are taken frame by frame; others are resampled.

    Args:
        model: The hand.
        body: The object that it senses.
        times: Of all poses, s.
        wrist: (T,) poses of the wrist in the world.
        object_pose: (T,) poses of the object in the world.
        other_wrist: (T,) poses of the other hand's wrist, if there is one.
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
    wanted = even_times(times)
    poses = {name: resampled(times, pose, wanted) for name, pose in given.items()}
    return HandView(
        model,
        body if isinstance(body, SensedBody) else sensed_body(body),
        wanted,
        rotation.to_matrix(poses["wrist"].wxyz),
        poses["wrist"].position,
        rotation.to_matrix(poses["object"].wxyz),
        poses["object"].position,
        poses["other wrist"].position if other_wrist is not None else None,
    )


def hand_views(problem: Problem, objects: Mapping[str, str] | None = None) -> dict[str, HandView]:
    """Views of all hands of a problem that have a track.

    A hand senses the only body with a track; of several the one that its palm is nearest to, in
    the mean over all frames.

    Args:
        problem: With tracks of wrists and bodies.
        objects: Bodies that hands sense, by the names of the hands, where they are to be others.
    """
    hands = [name for name in problem.hands if name in problem.tracks]
    bodies = [name for name in problem.bodies if name in problem.tracks]
    if not hands or not bodies:
        raise InvalidValueError(
            f"Problem '{problem.name}' has tracks of {', '.join(problem.tracks) or 'nothing'}; "
            "expected those of a wrist and of a body. Give both, or use a method that moves them."
        )
    for name in hands:
        if problem.hands[name].wrist_link != 0:
            raise InvalidValueError(
                f"Hand '{name}' of problem '{problem.name}' has an arm, so that its track is that "
                "of the shoulder; expected the wrist's. Give a hand without an arm."
            )
    times = problem.times
    poses = {name: problem.tracks[name].at(times) for name in [*hands, *bodies]}
    views = {}
    for name in hands:
        chosen = (objects or {}).get(name) or _nearest_body(problem, name, bodies, poses)
        if chosen not in bodies:
            raise UnknownNameError(f"body with a track of '{problem.name}'", chosen, bodies)
        others = [poses[other] for other in hands if other != name]
        views[name] = hand_view(
            problem.hands[name],
            problem.bodies[chosen],
            times,
            poses[name],
            poses[chosen],
            others[0] if others else None,
        )
    return views


def _nearest_body(problem: Problem, hand: str, bodies: list[str], poses: Mapping[str, Pose]) -> str:
    """The body that the palm of a hand is nearest to in the mean."""
    if len(bodies) == 1:
        return bodies[0]
    model = problem.hands[hand]
    flat = frame_poses(model, np.zeros(model.num_joints))
    palm = poses[hand].apply(flat.position[model.frames.index("palm")])
    mean = {
        name: sample_field(
            sensed_body(problem.bodies[name]).far, poses[name].inverse().apply(palm)
        )[0].mean()
        for name in bodies
    }
    return min(mean, key=lambda name: float(mean[name]))
