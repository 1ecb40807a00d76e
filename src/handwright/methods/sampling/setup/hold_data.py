"""Everything that the compiled search reads about one hold of one body, in the body's frame.

A hold covers the frames in which hands must act on a body, and the frames of approach and retreat
around them. In the body's frame the body stands still, its distance field is fixed, and a contact
that does not slide is a fixed point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.obstacles import seen_over
from handwright.math import rotation
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne, hands_as_one, sunk_pads
from handwright.methods.sampling.setup.intervals import (
    CarryInterval,
    GroundContacts,
    ground_contacts,
    weight_of,
    wrench_in_body_frame,
)
from handwright.methods.sampling.setup.limits import SearchLimits, search_limits
from handwright.methods.sampling.structs import Struct

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

# How far digits that are off the body open, as shares of the way from the relaxed to the open hand:
# while other digits of the hand hold the body, and while none does.
_READY = (0.4, 1.0)
PAD_SHARE, SKIN_SHARE = 0.2, 0.4
"""Shares of the depth of soft tissue to which pads that hold sink in, and other skin may: the rest
is for what the search and smoothing miss."""


class HoldData(NamedTuple):
    """Data of the search over T frames, with H hands, D digits, J joints and C capsules."""

    hands: HandsAsOne
    """``tip_link`` and ``pad`` of its table hold the guiding points of the frame at hand."""
    pad_link: Int[np.ndarray, " D"]
    """The last link of each digit."""
    pads: Float[np.ndarray, "D V 3"]
    """Points of a digit's skin that may touch, the middle of its pad first, m."""
    pad_links: Int[np.ndarray, "D V"]
    """The links that carry these points; -1 where a digit has fewer."""
    comfortable: Float[np.ndarray, "T J"]
    """Joint values from which discomfort is measured, rad: relaxed, or those of a guide."""
    curled: Float[np.ndarray, "T J"]
    """Joint values that digits on the body tend to, rad: relaxed, or closed to wrap it."""
    ready: Float[np.ndarray, "T 2 J"]
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
    alone_weights: IkWeights
    """Weights of the inverse kinematics of one digit as if there were no others."""
    idle_force_factor: float
    """Factor on the weight of the force of digits that carried nothing in the frame before."""
    limits: SearchLimits

    @property
    def sizes(self) -> dict[str, int]:
        """Number of joints, digits and capsules by the letters of their axes."""
        capsules = len(self.hands.digit_of_capsule)
        return {"J": self.curled.shape[1], "D": len(self.pad_link), "C": capsules}


def make_hold_data(
    problem: Problem,
    interval: CarryInterval,
    times: Float[np.ndarray, " T"],
    method: ContactSampling,
) -> HoldData:
    """Puts the hold of a body by some hands, at the given times, s, into the frame of the body."""
    body, frames = problem.bodies[interval.body], len(times)
    hands = hands_as_one(tuple(interval.hands.values()))
    table = hands.table
    track = Track(times, problem.track(interval.body).at(times))
    local = [track.pose.inverse() @ problem.track(name).at(times) for name in interval.hands]
    weight = weight_of(problem, body)
    field = signed_distance_field(body)
    hold_weights = IkWeights(
        nail=2e-5,
        least_nail_cosine=0.3,
        posture=3e-6,
        object_margin=-2e-4 - SKIN_SHARE * method.soft_tissue,
        digit_margin=-3e-4,
        num_object_capsules=3,
        max_iterations=15,
        polish=1e-10,
    )
    return HoldData(
        hands=hands._replace(
            table=table._replace(tip_link=table.tip_link.copy(), pad=table.pad.copy())
        ),
        pad_link=table.tip_link.copy(),
        pads=sunk_pads(hands, PAD_SHARE * method.soft_tissue),
        pad_links=np.tile(table.tip_link[:, None], hands.pads.shape[1]),
        comfortable=np.tile(hands.rest, (frames, 1)),
        curled=np.tile(hands.rest, (frames, 1)),
        ready=np.tile(
            hands.rest + np.array(_READY)[:, None] * (hands.open - hands.rest), (frames, 1, 1)
        ),
        low=np.tile(table.lower, (frames, 1)),
        high=np.tile(table.upper, (frames, 1)),
        may_touch=np.ones((frames, len(hands.hand_of_digit)), dtype=np.bool_),
        field=filled_field(body, field) if method.treat_as_solid else field,
        environment=seen_over(pack_environment(problem.environment), track.pose),
        root_rotation=np.ascontiguousarray(
            np.stack([rotation.to_matrix(pose.wxyz) for pose in local], axis=1)
        ),
        root_position=np.ascontiguousarray(np.stack([pose.position for pose in local], axis=1)),
        wrench=wrench_in_body_frame(problem, body, track, method.smoothing_hz),
        center=np.array(body.center),
        weight=weight,
        gyration=body.radius_of_gyration,
        friction=body.friction,
        ground=ground_contacts(problem, body, track.pose, times),
        hold_weights=hold_weights,
        idle_weights=hold_weights._replace(pad=0.0, nail=0.0, posture=1e-5, object_margin=1.5e-3),
        alone_weights=hold_weights._replace(digits=0.0),
        idle_force_factor=method.idle_force_weight,
        limits=search_limits(method, float(np.median(np.diff(problem.times))), weight),
    )


def slice_hold_data(data: HoldData, start: int, stop: int) -> HoldData:
    """The same data with the frames from ``start`` to before ``stop`` only."""

    def cut(part: Struct, *names: str) -> Struct:
        return part._replace(**{name: getattr(part, name)[start:stop] for name in names})

    postures = ("comfortable", "curled", "ready", "low", "high")
    return cut(data, *postures, "may_touch", "root_rotation", "root_position", "wrench")._replace(
        environment=cut(data.environment, "normals", "offsets", "positions", "rotations"),
        ground=data.ground._replace(first=data.ground.first[start : stop + 1]),
    )
