"""What digits must keep out of: an object, the surroundings, and how finely the skin is looked at.

Everything is in the frame of the object.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import Field, make_field
from handwright.kernels.decorators import inlined
from handwright.kinematics.skin.samples import SkinSamples, no_samples
from handwright.math import rotation
from handwright.math.pose import Pose


class Around(NamedTuple):
    """An object and its surroundings, as the kernels of inverse kinematics see them."""

    field: Field
    environment: EnvironmentArrays
    samples: SkinSamples
    max_samples: int
    """Skin points that are looked at for each capsule, at most; 0 to go by the capsules."""


class Obstacles(NamedTuple):
    """What a moving hand keeps out of, in the frame of the object; None where there is nothing."""

    field: Field | None = None
    """Signed distances of the object."""
    environment: EnvironmentArrays | None = None
    """Surroundings, from ``seen_over``."""
    samples: SkinSamples | None = None
    """Skin points that keep out; those of ``skin_samples`` by default."""


@inlined
def environment_at(world: EnvironmentArrays, frame: int) -> EnvironmentArrays:
    """One frame of surroundings over all frames, for kernels only: it does not own its arrays."""
    return EnvironmentArrays(
        world.normals[frame],
        world.offsets[frame],
        world.positions[frame],
        world.rotations[frame],
        world.half_extents,
        world.frictions,
    )


def no_object() -> Field:
    """A field with nothing in it: every point is a kilometre from the surface."""
    return make_field(np.full((2, 2, 2), 1e3), np.zeros(3), 1.0)


def capsules_around(model: HandModel, field: Field | None) -> Around:
    """An object alone, to be kept out of by the capsules of a hand."""
    return Around(
        no_object() if field is None else field, pack_environment(()), no_samples(model), 0
    )


def seen_from(environment: EnvironmentArrays, body: Pose) -> EnvironmentArrays:
    """Surroundings in the frame of a body.

    Args:
        environment: In the world.
        body: One pose of the body.
    """
    back = body.inverse()
    turn = rotation.to_matrix(back.wxyz)
    return environment._replace(
        normals=environment.normals @ turn.T,
        offsets=environment.offsets - environment.normals @ body.position,
        positions=environment.positions @ turn.T + back.position,
        rotations=np.ascontiguousarray(np.einsum("ij,bjk->bik", turn, environment.rotations)),
    )


def seen_over(environment: EnvironmentArrays, body: Pose) -> EnvironmentArrays:
    """Surroundings in the frame of a moving body: arrays get a leading frame axis.

    Sizes and frictions stay as they are.

    Args:
        environment: In the world.
        body: (T,) poses of the body.
    """
    back = body.inverse()
    turn = rotation.to_matrix(back.wxyz)
    normals = np.einsum("tij,pj->tpi", turn, environment.normals)
    positions = np.einsum("tij,bj->tbi", turn, environment.positions) + back.position[:, None]
    return environment._replace(
        normals=np.ascontiguousarray(normals),
        offsets=environment.offsets - body.position @ environment.normals.T,
        positions=np.ascontiguousarray(positions),
        rotations=np.ascontiguousarray(np.einsum("tij,bjk->tbik", turn, environment.rotations)),
    )
