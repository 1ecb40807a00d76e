"""Where the parts of a hand are: batched forward kinematics for callers in Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel, SurfacePoint
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled, kernel
from handwright.kinematics.tree import (
    Links,
    Tree,
    forward,
    links_for,
    placed_row,
    point_jacobian,
    tree_of,
)
from handwright.math import rotation
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


class LinkPoints(NamedTuple):
    """Points fixed to links, with room for where they are and how they move with the joints."""

    link: Int[np.ndarray, " N"]
    local: Float[np.ndarray, "N 3"]
    """In the links' frames, m."""
    position: Float[np.ndarray, "N 3"]
    """In the world, m."""
    linear: Float[np.ndarray, "N 3 J"]
    """Jacobian of the position, world axes."""
    angular: Float[np.ndarray, "N 3 J"]
    """Jacobian of the rotation, world axes."""


def link_points(
    link: Int[np.ndarray, " N"], local: Float[np.ndarray, "N 3"], num_joints: int
) -> LinkPoints:
    """Points of a hand with this many joints; nothing is placed."""
    jacobians = np.zeros((2, len(link), 3, num_joints))
    return LinkPoints(link, local, np.zeros(local.shape), *jacobians)


@kernel
def _forward_batch(
    tree: Tree,
    q: np.ndarray,
    root_turn: np.ndarray,
    root_place: np.ndarray,
    one: Links,
    rotations: np.ndarray,
    positions: np.ndarray,
) -> None:
    """Writes the links of a batch of postures into the last two."""
    # Loops, because assignments of whole rows take long to compile.
    for b in range(q.shape[0]):
        for i in range(3):
            one.position[0, i] = root_place[b, i]
            for j in range(3):
                one.rotation[0, i, j] = root_turn[b, i, j]
        forward(tree, q[b], one)
        for link in range(one.position.shape[0]):
            for i in range(3):
                positions[b, link, i] = one.position[link, i]
                for j in range(3):
                    rotations[b, link, i, j] = one.rotation[link, i, j]


def checked_values(model: HandModel, q: Float[np.ndarray, "*B J"]) -> Float[np.ndarray, "*B J"]:
    """Joint values as float64; those of another hand, NaN and infinity are refused.

    Args:
        model: The hand.
        q: Joint values, rad, with any leading batch axes.
    """
    q = np.asarray(q, dtype=np.float64)
    if q.shape[-1:] != (model.num_joints,):
        raise InvalidValueError(
            f"Hand '{model.name}': joint values have shape {q.shape}; expected "
            f"(..., {model.num_joints}), one for each of its joints."
        )
    if not np.isfinite(q).all():
        raise InvalidValueError(f"Hand '{model.name}': joint values hold NaN or infinity.")
    return q


def one_pose(model: HandModel, q: Float[np.ndarray, " J"]) -> Float[np.ndarray, " J"]:
    """As ``checked_values``, and a batch is refused too."""
    q = checked_values(model, q)
    if q.ndim != 1:
        raise InvalidValueError(
            f"Hand '{model.name}': joint values have shape {q.shape}; expected "
            f"({model.num_joints},). Give one pose at a time."
        )
    return q


def checked_points(
    model: HandModel, link: Int[np.ndarray, " N"], local: Float[np.ndarray, "N 3"]
) -> tuple[Int[np.ndarray, " N"], Float[np.ndarray, "N 3"]]:
    """Points fixed to links, in the dtypes of the kernels; links that are not there are refused.

    Args:
        model: The hand.
        link: Links of the points.
        local: In the links' frames, m.
    """
    link, local = np.asarray(link), np.asarray(local, dtype=np.float64)
    if link.ndim != 1 or local.shape != (len(link), 3):
        raise InvalidValueError(
            f"Hand '{model.name}': {link.shape} links and local points of shape {local.shape}; "
            "expected (N,) and (N, 3)."
        )
    if len(link) and not (link.min() >= 0 and link.max() < model.num_links):
        raise InvalidValueError(
            f"Hand '{model.name}': links {link.min()} to {link.max()} are asked for; expected 0 "
            f"to {model.num_links - 1}."
        )
    if not np.isfinite(local).all():
        raise InvalidValueError(f"Hand '{model.name}': local points hold NaN or infinity.")
    return link.astype(np.int64), local


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
    q = checked_values(model, q)
    root = Pose.identity() if root is None else root
    batch = np.broadcast_shapes(q.shape[:-1], root.shape)
    flat_q = np.ascontiguousarray(np.broadcast_to(q, (*batch, model.num_joints)))
    turn = np.broadcast_to(rotation.to_matrix(root.wxyz), (*batch, 3, 3)).reshape(-1, 3, 3)
    place = np.broadcast_to(root.position, (*batch, 3)).reshape(-1, 3)
    one = links_for(model)
    rotations = np.zeros((len(place), model.num_links, 3, 3))
    positions = np.zeros((len(place), model.num_links, 3))
    _forward_batch(
        tree_of(model),
        # Copies, for numba would compile anew for arrays that may not be written to.
        np.array(flat_q.reshape(-1, model.num_joints)),
        np.array(turn, order="C"),
        np.array(place, order="C"),
        one,
        rotations,
        positions,
    )
    return (
        rotations.reshape(*batch, model.num_links, 3, 3),
        positions.reshape(*batch, model.num_links, 3),
    )


def _turn(rotations: np.ndarray, link: np.ndarray, local: np.ndarray) -> np.ndarray:
    return np.einsum("...nij,nj->...ni", rotations[..., link, :, :], local)


def _attach(
    rotations: np.ndarray, positions: np.ndarray, link: np.ndarray, local: np.ndarray
) -> np.ndarray:
    return positions[..., link, :] + _turn(rotations, link, local)


def frame_poses(model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None) -> Pose:
    """World poses of the named frames, with the frames along the last batch axis."""
    rotations, positions = link_poses(model, q, root)
    link = model.frames.link
    position = _attach(rotations, positions, link, model.frames.position)
    wxyz = rotation.multiply(rotation.from_matrix(rotations[..., link, :, :]), model.frames.wxyz)
    return Pose(position, wxyz)


def posed_capsules(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedCapsules:
    """Collision capsules in the world."""
    rotations, positions = link_poses(model, q, root)
    capsules = model.capsules
    return PosedCapsules(
        _attach(rotations, positions, capsules.link, capsules.start),
        _attach(rotations, positions, capsules.link, capsules.end),
        capsules.radius,
    )


def posed_sites(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Sensor sites in the world."""
    rotations, positions = link_poses(model, q, root)
    sites = model.sites
    return PosedPoints(
        _attach(rotations, positions, sites.link, sites.position),
        _turn(rotations, sites.link, sites.normal),
    )


def posed_pads(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Pads of all digits in the world."""
    return _posed(model, [digit.pad for digit in model.digits], q, root)


def posed_tips(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Tips of all digits in the world; their normals point along the last bones."""
    return _posed(model, [digit.tip for digit in model.digits], q, root)


def posed_nails(
    model: HandModel, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> PosedPoints:
    """Nails in the world, of those digits that have one."""
    nails = [digit.nail for digit in model.digits if digit.nail is not None]
    return _posed(model, nails, q, root)


def _posed(
    model: HandModel, points: list[SurfacePoint], q: np.ndarray, root: Pose | None
) -> PosedPoints:
    rotations, positions = link_poses(model, q, root)
    link = np.array([point.link for point in points], dtype=np.int64)
    position = np.array([point.position for point in points]).reshape(-1, 3)
    normal = np.array([point.normal for point in points]).reshape(-1, 3)
    return PosedPoints(
        _attach(rotations, positions, link, position), _turn(rotations, link, normal)
    )


@compiled
def place_points(tree: Tree, q: np.ndarray, links: Links, points: LinkPoints) -> None:
    """Forward kinematics, then positions and Jacobians of points of links."""
    forward(tree, q, links)
    for n in range(points.link.shape[0]):
        link = points.link[n]
        point = placed_row(links, link, points.local, n)
        points.position[n, 0], points.position[n, 1], points.position[n, 2] = point
        point_jacobian(tree, links, link, point, n, points.linear, points.angular)


def point_jacobians(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    link: Int[np.ndarray, " N"],
    local: Float[np.ndarray, "N 3"],
    root: Pose | None = None,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3 J"], Float[np.ndarray, "N 3 J"]]:
    """World positions and Jacobians (linear, angular; world axes) of points fixed to links."""
    q = one_pose(model, q)
    points = link_points(*checked_points(model, link, local), model.num_joints)
    place_points(tree_of(model), q, links_for(model, root), points)
    return points.position, points.linear, points.angular
