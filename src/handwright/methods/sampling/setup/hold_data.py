"""One holding of one body: everything that the compiled search reads, in the body's frame.

A holding is the span of frames in which hands must act on a body. In the body's frame the body
stands still, its distance field is fixed, and a contact that does not slide is a fixed point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.kinematics.ik.digit import IkWeights
from handwright.kinematics.ik.digit_table import DigitTable
from handwright.kinematics.obstacles import seen_over
from handwright.kinematics.skin.samples import SkinSamples
from handwright.kinematics.tree import Tree
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import required_wrench
from handwright.methods.sampling.setup.ground_contacts import GroundContacts, ground_contacts
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne, sunk_pads

# How far digits that are off the body open, between rest and open.
_READY = (0.4, 1.0)


class Limits(NamedTuple):
    """What a frame must keep to; lengths in m."""

    gap: float
    """A contact is within this distance."""
    penetration: float
    """Of the skin in the body and the surroundings."""
    digits: float
    """Overlap of two digits."""
    anchor: float
    """A touching point may miss its place by this much."""
    slip: float
    """A material point that moves further between two frames slides."""
    shear: float
    """How far skin that sticks gives way before its contact slides."""
    step: float
    """Largest change of a joint between two frames, rad."""
    force: float
    """Sum of all normal forces of hands, in weights of the body."""
    friction_margin: float
    """Share of the friction that may be used."""
    max_samples: int
    """Skin points of a capsule that are looked at."""


class HoldData(NamedTuple):
    """Data of the search over T frames, with H hands, D digits, J joints and C capsules."""

    tree: Tree
    table: DigitTable
    """Its ``tip_link`` and ``pad`` hold the guiding points of the frame at hand."""
    pad_link: np.ndarray
    """(D,) last link of each digit."""
    pads: np.ndarray
    """(D, V, 3) points of its skin that may touch, the middle of its pad first, m."""
    pad_links: np.ndarray
    """(D, V) the links that carry them; -1 where a digit has fewer."""
    samples: SkinSamples
    offset: np.ndarray
    hand_of_digit: np.ndarray
    digit_of_capsule: np.ndarray
    hand_of_capsule: np.ndarray
    rest: np.ndarray
    """(J,) relaxed joint values, rad."""
    curled: np.ndarray
    """(J,) joint values that digits on the body tend to, rad: at rest, or closed to wrap it."""
    ready: np.ndarray
    """(2, J) joint values of digits that are off the body, rad: while others of the hand hold it,
    and more open, so that the body finds its way into a hand that comes to it."""
    low: np.ndarray
    """(T, J) least joint values, rad: limits, or narrower where an artist fixed a joint."""
    high: np.ndarray
    """(T, J) largest joint values, rad."""
    may_touch: np.ndarray
    """(T, D) whether a digit may touch the body."""
    field: Field
    environment: EnvironmentArrays
    """In the frame of the body, from ``seen_over``."""
    root_rotation: np.ndarray
    """(T, H, 3, 3)"""
    root_position: np.ndarray
    """(T, H, 3)"""
    wrench: np.ndarray
    """(T, 6) that contacts must give, about the centre of mass."""
    center: np.ndarray
    weight: float
    """N."""
    gyration: float
    friction: float
    ground: GroundContacts
    hold_weights: IkWeights
    idle_weights: IkWeights
    limits: Limits


def make_hold_data(
    problem: Problem,
    body: RigidBody,
    body_pose: Pose,
    roots: list[Pose],
    times: np.ndarray,
    hands: HandsAsOne,
    limits: Limits,
    *,
    cutoff_hz: float | None,
    pad_depth: float = 0.0,
    skin_depth: float = 0.0,
    fills_hollows: bool = False,
) -> HoldData:
    """Puts everything into the frame of the body.

    Args:
        problem: Surroundings and gravity.
        body: The body that is held.
        body_pose: (T,) of the body in the world.
        roots: (T,) of the roots of the hands in the world.
        times: s.
        hands: The hands.
        limits: What frames must keep to.
        cutoff_hz: Low-pass for accelerations of noisy tracks; None for none.
        pad_depth: To which pads that hold sink in, m.
        skin_depth: To which other skin of digits that hold may, m.
        fills_hollows: Whether the body is taken as solid where it is hollow.
    """
    wanted = required_wrench(
        Track(times, body_pose), body, gravity=problem.gravity, cutoff_hz=cutoff_hz
    )
    body_rotation = rotation.to_matrix(body_pose.wxyz)
    local = [body_pose.inverse() @ root for root in roots]
    wrench = np.concatenate(
        [np.einsum("tji,tj->ti", body_rotation, part) for part in (wanted.force, wanted.moment)],
        axis=1,
    )
    pull = max(float(np.linalg.norm(problem.gravity)), 1.0)
    hold_weights = IkWeights(
        nail=2e-5,
        least_nail_cosine=0.3,
        posture=3e-6,
        object_margin=-2e-4 - skin_depth,
        digit_margin=-3e-4,
        num_object_capsules=3,
        max_iterations=15,
        polish=1e-10,
    )
    field = signed_distance_field(body)
    return HoldData(
        tree=hands.tree,
        table=hands.table._replace(
            tip_link=hands.table.tip_link.copy(), pad=hands.table.pad.copy()
        ),
        pad_link=hands.table.tip_link.copy(),
        pads=sunk_pads(hands, pad_depth),
        pad_links=np.tile(hands.table.tip_link[:, None], hands.pads.shape[1]),
        samples=hands.samples,
        offset=hands.offset,
        hand_of_digit=hands.hand_of_digit,
        digit_of_capsule=hands.digit_of_capsule,
        hand_of_capsule=hands.hand_of_capsule,
        rest=hands.rest,
        curled=hands.rest,
        ready=hands.rest + np.array(_READY)[:, None] * (hands.open - hands.rest),
        low=np.tile(hands.table.lower, (len(times), 1)),
        high=np.tile(hands.table.upper, (len(times), 1)),
        may_touch=np.ones((len(times), len(hands.hand_of_digit)), dtype=np.bool_),
        field=filled_field(body, field) if fills_hollows else field,
        environment=seen_over(pack_environment(problem.environment), body_pose),
        root_rotation=np.ascontiguousarray(
            np.stack([rotation.to_matrix(pose.wxyz) for pose in local], axis=1)
        ),
        root_position=np.ascontiguousarray(np.stack([pose.position for pose in local], axis=1)),
        wrench=np.ascontiguousarray(wrench),
        center=np.array(body.center),
        weight=body.mass * pull,
        gyration=body.radius_of_gyration,
        friction=body.friction,
        ground=ground_contacts(problem, body, body_pose, times),
        hold_weights=hold_weights,
        idle_weights=hold_weights._replace(pad=0.0, nail=0.0, posture=1e-5, object_margin=1.5e-3),
        limits=limits,
    )


def slice_hold_data(data: HoldData, start: int, stop: int) -> HoldData:
    """The frames from ``start`` to before ``stop``."""
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
