"""Everything that the compiled search reads about one hold of one body, in the body's frame.

A hold covers the frames in which hands must act on a body, and the frames of approach and retreat
around them. In the body's frame the body stands still, its distance field is fixed, and a contact
that does not slide is a fixed point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.kinematics.ik.digit_table import DigitTable
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.obstacles import seen_over
from handwright.kinematics.skin.samples import SkinSamples
from handwright.kinematics.tree import Tree
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import required_wrench
from handwright.methods.sampling.setup.ground_contacts import GroundContacts, ground_contacts
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne, sunk_pads
from handwright.methods.sampling.setup.limits import SearchLimits

# How far digits that are off the body open, as shares of the way from the relaxed to the open hand:
# while other digits of the hand hold the body, and while none does.
_READY = (0.4, 1.0)


class SoftTissue(NamedTuple):
    """How deep soft skin may sink into a body, m."""

    pad_depth: float = 0.0
    """Depth to which pads that hold the body sink in."""
    skin_depth: float = 0.0
    """Depth to which other skin of digits that hold the body may sink in."""


NO_SOFT_TISSUE = SoftTissue()


class HoldTracks(NamedTuple):
    """Given motions over the T frames of a hold, in the world."""

    times: Float[np.ndarray, " T"]
    """s."""
    body: Pose
    """(T,) poses of the body."""
    roots: tuple[Pose, ...]
    """(T,) poses of the roots of the hands."""


class HoldData(NamedTuple):
    """Data of the search over T frames, with H hands, D digits, J joints and C capsules."""

    tree: Tree
    table: DigitTable
    """Its ``tip_link`` and ``pad`` hold the guiding points of the frame at hand."""
    pad_link: Int[np.ndarray, " D"]
    """The last link of each digit."""
    pads: Float[np.ndarray, "D V 3"]
    """Points of a digit's skin that may touch, the middle of its pad first, m."""
    pad_links: Int[np.ndarray, "D V"]
    """The links that carry these points; -1 where a digit has fewer."""
    samples: SkinSamples
    offset: Int[np.ndarray, " H"]
    """First joint, and root link, of each hand."""
    hand_of_digit: Int[np.ndarray, " D"]
    digit_of_capsule: Int[np.ndarray, " C"]
    """The digit that a capsule belongs to; -1 for palms and arms."""
    hand_of_capsule: Int[np.ndarray, " C"]
    rest: Float[np.ndarray, " J"]
    """Relaxed joint values, rad."""
    curled: Float[np.ndarray, " J"]
    """Joint values that digits on the body tend to, rad: relaxed, or closed to wrap it."""
    ready: Float[np.ndarray, "2 J"]
    """Joint values of digits that are off the body, rad: while others of the hand hold it, and more
    open, so that the body finds its way into a hand that comes to it."""
    low: Float[np.ndarray, "T J"]
    """Least joint values, rad: limits, or narrower where an artist fixed a joint."""
    high: Float[np.ndarray, "T J"]
    """Largest joint values, rad."""
    may_touch: Bool[np.ndarray, "T D"]
    """Whether a digit may touch the body."""
    field: Field
    environment: EnvironmentArrays
    """The surroundings in the frame of the body, from ``seen_over``."""
    root_rotation: Float[np.ndarray, "T H 3 3"]
    root_position: Float[np.ndarray, "T H 3"]
    """m."""
    wrench: Float[np.ndarray, "T 6"]
    """Force and moment about the centre of mass that contacts must give, N and N m."""
    center: Float[np.ndarray, " 3"]
    """Centre of mass, m."""
    weight: float
    """N."""
    gyration: float
    """Radius of gyration, m."""
    friction: float
    ground: GroundContacts
    hold_weights: IkWeights
    """Weights of the inverse kinematics for digits that have a guiding point."""
    idle_weights: IkWeights
    """Weights of the inverse kinematics for digits that are off the body."""
    limits: SearchLimits

    @property
    def num_joints(self) -> int:
        """Number of joints of all hands."""
        return len(self.rest)

    @property
    def num_digits(self) -> int:
        """Number of digits of all hands."""
        return len(self.hand_of_digit)

    @property
    def num_capsules(self) -> int:
        """Number of capsules of all hands."""
        return len(self.digit_of_capsule)


def make_hold_data(
    problem: Problem,
    body: RigidBody,
    tracks: HoldTracks,
    hands: HandsAsOne,
    limits: SearchLimits,
    *,
    cutoff_hz: float | None,
    tissue: SoftTissue = NO_SOFT_TISSUE,
    fills_hollows: bool = False,
) -> HoldData:
    """Puts everything into the frame of the body.

    Args:
        problem: The problem, of which surroundings and gravity are used.
        body: The body that is held.
        tracks: Motions of the body and of the roots of the hands.
        hands: The hands.
        limits: What frames must keep to.
        cutoff_hz: Low-pass for accelerations of noisy tracks; None for none.
        tissue: How deep soft skin may sink in.
        fills_hollows: Whether the body is taken as solid where it is hollow.
    """
    frames = len(tracks.times)
    hold_weights = IkWeights(
        nail=2e-5,
        least_nail_cosine=0.3,
        posture=3e-6,
        object_margin=-2e-4 - tissue.skin_depth,
        digit_margin=-3e-4,
        num_object_capsules=3,
        max_iterations=15,
        polish=1e-10,
    )
    field = signed_distance_field(body)
    local = [tracks.body.inverse() @ root for root in tracks.roots]
    return HoldData(
        tree=hands.tree,
        table=hands.table._replace(
            tip_link=hands.table.tip_link.copy(), pad=hands.table.pad.copy()
        ),
        pad_link=hands.table.tip_link.copy(),
        pads=sunk_pads(hands, tissue.pad_depth),
        pad_links=np.tile(hands.table.tip_link[:, None], hands.pads.shape[1]),
        samples=hands.samples,
        offset=hands.offset,
        hand_of_digit=hands.hand_of_digit,
        digit_of_capsule=hands.digit_of_capsule,
        hand_of_capsule=hands.hand_of_capsule,
        rest=hands.rest,
        curled=hands.rest,
        ready=hands.rest + np.array(_READY)[:, None] * (hands.open - hands.rest),
        low=np.tile(hands.table.lower, (frames, 1)),
        high=np.tile(hands.table.upper, (frames, 1)),
        may_touch=np.ones((frames, len(hands.hand_of_digit)), dtype=np.bool_),
        field=filled_field(body, field) if fills_hollows else field,
        environment=seen_over(pack_environment(problem.environment), tracks.body),
        root_rotation=np.ascontiguousarray(
            np.stack([rotation.to_matrix(pose.wxyz) for pose in local], axis=1)
        ),
        root_position=np.ascontiguousarray(np.stack([pose.position for pose in local], axis=1)),
        wrench=_wrench_in_body_frame(problem, body, tracks, cutoff_hz),
        center=np.array(body.center),
        weight=body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0),
        gyration=body.radius_of_gyration,
        friction=body.friction,
        ground=ground_contacts(problem, body, tracks.body, tracks.times),
        hold_weights=hold_weights,
        idle_weights=hold_weights._replace(pad=0.0, nail=0.0, posture=1e-5, object_margin=1.5e-3),
        limits=limits,
    )


def _wrench_in_body_frame(
    problem: Problem, body: RigidBody, tracks: HoldTracks, cutoff_hz: float | None
) -> Float[np.ndarray, "T 6"]:
    """Force and moment that contacts must give in every frame, N and N m."""
    required = required_wrench(
        Track(tracks.times, tracks.body), body, gravity=problem.gravity, cutoff_hz=cutoff_hz
    )
    body_rotation = rotation.to_matrix(tracks.body.wxyz)
    parts = [
        np.einsum("tji,tj->ti", body_rotation, part) for part in (required.force, required.moment)
    ]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def slice_hold_data(data: HoldData, start: int, stop: int) -> HoldData:
    """The same data with the frames from ``start`` to before ``stop`` only."""
    world, ground = data.environment, data.ground
    return data._replace(
        low=data.low[start:stop],
        high=data.high[start:stop],
        may_touch=data.may_touch[start:stop],
        environment=world._replace(
            normals=world.normals[start:stop],
            offsets=world.offsets[start:stop],
            positions=world.positions[start:stop],
            rotations=world.rotations[start:stop],
        ),
        root_rotation=data.root_rotation[start:stop],
        root_position=data.root_position[start:stop],
        wrench=data.wrench[start:stop],
        ground=ground._replace(first=ground.first[start : stop + 1]),
    )
