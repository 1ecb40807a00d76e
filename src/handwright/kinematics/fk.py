"""Where the parts of a hand are: batched forward kinematics for callers in Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kinematics.tree import (
    Links,
    Tree,
    forward,
    links_for,
    placed,
    point_jacobian,
    tree_of,
)
from handwright.math import rotation
from handwright.math.compiled import compiled
from handwright.math.pose import Pose


class PosedCapsules(NamedTuple):
    """Capsules in the world."""

    start: Float[np.ndarray, "*B C 3"]
    end: Float[np.ndarray, "*B C 3"]
    radius: Float[np.ndarray, " C"]


class PosedPoints(NamedTuple):
    """Surface points in the world with their outward normals."""

    position: Float[np.ndarray, "*B N 3"]
    normal: Float[np.ndarray, "*B N 3"]


@compiled
def _forward_batch(
    tree: Tree, q: np.ndarray, root_turn: np.ndarray, root_place: np.ndarray, one: Links
) -> tuple[np.ndarray, np.ndarray]:
    count, num_links = q.shape[0], one.position.shape[0]
    turns = np.zeros((count, num_links, 3, 3))
    places = np.zeros((count, num_links, 3))
    for b in range(count):
        one.rotation[0] = root_turn[b]
        one.position[0] = root_place[b]
        forward(tree, q[b], one)
        turns[b] = one.rotation
        places[b] = one.position
    return turns, places


def link_poses(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> tuple[Float[np.ndarray, "*B L 3 3"], Float[np.ndarray, "*B L 3"]]:
    """World rotations and positions (m) of all links, the root first.

    Args:
        model: The hand.
        q: Joint values, rad, with any leading batch axes.
        root: Pose of the root link in the world; the origin by default. Its batch axes
            broadcast against those of ``q``.
    """
    q = np.asarray(q, dtype=np.float64)
    if q.shape[-1:] != (model.num_joints,):
        raise InvalidValueError(
            f"Hand '{model.name}': joint values have shape {q.shape}; expected "
            f"(..., {model.num_joints}), one for each of its joints."
        )
    if not np.isfinite(q).all():
        raise InvalidValueError(f"Hand '{model.name}': joint values hold NaN or infinity.")
    root = Pose.identity() if root is None else root
    batch = np.broadcast_shapes(q.shape[:-1], root.shape)
    flat_q = np.ascontiguousarray(np.broadcast_to(q, (*batch, model.num_joints)))
    turn = np.broadcast_to(rotation.to_matrix(root.wxyz), (*batch, 3, 3)).reshape(-1, 3, 3)
    place = np.broadcast_to(root.position, (*batch, 3)).reshape(-1, 3)
    turns, places = _forward_batch(
        tree_of(model),
        flat_q.reshape(-1, model.num_joints),
        np.ascontiguousarray(turn),
        np.ascontiguousarray(place),
        links_for(model),
    )
    return (
        turns.reshape(*batch, model.num_links, 3, 3),
        places.reshape(*batch, model.num_links, 3),
    )


def _attach(
    turns: np.ndarray, places: np.ndarray, link: np.ndarray, local: np.ndarray
) -> np.ndarray:
    return places[..., link, :] + np.einsum("...nij,nj->...ni", turns[..., link, :, :], local)


def _turn(turns: np.ndarray, link: np.ndarray, local: np.ndarray) -> np.ndarray:
    return np.einsum("...nij,nj->...ni", turns[..., link, :, :], local)


def frame_poses(model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None) -> Pose:
    """World poses of the named frames, with the frames along the last batch axis."""
    turns, places = link_poses(model, q, root)
    link = model.frames.link
    position = _attach(turns, places, link, model.frames.position)
    wxyz = rotation.multiply(rotation.from_matrix(turns[..., link, :, :]), model.frames.wxyz)
    return Pose(position, wxyz)


def posed_capsules(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedCapsules:
    """Collision capsules in the world."""
    turns, places = link_poses(model, q, root)
    capsules = model.capsules
    return PosedCapsules(
        _attach(turns, places, capsules.link, capsules.start),
        _attach(turns, places, capsules.link, capsules.end),
        capsules.radius,
    )


def posed_sites(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Sensor sites in the world."""
    turns, places = link_poses(model, q, root)
    sites = model.sites
    return PosedPoints(
        _attach(turns, places, sites.link, sites.position), _turn(turns, sites.link, sites.normal)
    )


def posed_pads(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Pads of all digits in the world."""
    turns, places = link_poses(model, q, root)
    link = np.array([digit.pad.link for digit in model.digits])
    position = np.array([digit.pad.position for digit in model.digits])
    normal = np.array([digit.pad.normal for digit in model.digits])
    return PosedPoints(_attach(turns, places, link, position), _turn(turns, link, normal))


@compiled
def jacobians_of_points(
    tree: Tree,
    q: np.ndarray,
    links: Links,
    link: np.ndarray,
    local: np.ndarray,
    position: np.ndarray,
    linear: np.ndarray,
    angular: np.ndarray,
) -> None:
    """Forward kinematics, then world positions (N, 3) and Jacobians (N, 3, J) of N points."""
    forward(tree, q, links)
    for n in range(link.shape[0]):
        point = placed(links, link[n], local[n, 0], local[n, 1], local[n, 2])
        position[n, 0], position[n, 1], position[n, 2] = point
        point_jacobian(tree, links, link[n], point, n, linear, angular)


def point_jacobians(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    link: Int[np.ndarray, " N"],
    local: Float[np.ndarray, "N 3"],
    root: Pose | None = None,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3 J"], Float[np.ndarray, "N 3 J"]]:
    """World positions and Jacobians (linear, angular; world axes) of points fixed to links."""
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (model.num_joints,):
        raise InvalidValueError(
            f"Hand '{model.name}': joint values have shape {q.shape}; expected "
            f"({model.num_joints},). Jacobians take one pose at a time."
        )
    links = links_for(model)
    if root is not None:
        links.rotation[0] = rotation.to_matrix(root.wxyz)
        links.position[0] = root.position
    count = len(link)
    position = np.zeros((count, 3))
    linear = np.zeros((count, 3, model.num_joints))
    angular = np.zeros((count, 3, model.num_joints))
    jacobians_of_points(
        tree_of(model),
        q,
        links,
        np.asarray(link, dtype=np.int64),
        np.asarray(local, dtype=np.float64),
        position,
        linear,
        angular,
    )
    return position, linear, angular
