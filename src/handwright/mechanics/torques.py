"""What contact forces ask of the joints of a hand."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kinematics import link_poses, point_jacobians
from handwright.math.pose import Pose


def joint_torques(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    link: Int[np.ndarray, " N"],
    points: Float[np.ndarray, "N 3"],
    forces: Float[np.ndarray, "N 3"],
    root: Pose | None = None,
) -> Float[np.ndarray, " J"]:
    """Torques that contacts exert on the joints, - sum J' f: the body pushes back with - f.

    Muscles that hold the pose against the contacts give the opposite.

    Args:
        model: The hand.
        q: Joint values, rad. A follower counts as a joint of its own.
        link: On which link each contact acts.
        points: Where, in the world, m.
        forces: On the body, in the world, N.
        root: Of the hand in the world.

    Returns:
        N m, positive where the contacts push the joint to higher values.
    """
    link, points = np.asarray(link, dtype=np.int64), np.asarray(points, dtype=np.float64)
    forces = np.asarray(forces, dtype=np.float64)
    if not (link.ndim == 1 and points.shape == forces.shape == (len(link), 3)):
        raise InvalidValueError(
            f"link, points and forces have shapes {link.shape}, {points.shape} and "
            f"{forces.shape}; expected (N,), (N, 3) and (N, 3)."
        )
    if not (np.isfinite(points).all() and np.isfinite(forces).all()):
        raise InvalidValueError("points or forces hold NaN or infinity; leave such contacts out.")
    if len(link) == 0:
        return np.zeros(model.num_joints)
    rotations, positions = link_poses(model, q, root)
    if link.min() < 0 or link.max() >= len(rotations):
        raise InvalidValueError(
            f"link holds {link.min()} to {link.max()}; expected 0 to {len(rotations) - 1}."
        )
    local = np.einsum("nji,nj->ni", rotations[link], points - positions[link])
    _, linear, _ = point_jacobians(model, q, link, local, root)
    return -np.einsum("nij,ni->j", linear, forces)


def torque_maps(
    model: HandModel,
    q: Float[np.ndarray, "N J"],
    link: Int[np.ndarray, " N"],
    points: Float[np.ndarray, "N 3"],
    root: Pose | None = None,
) -> Float[np.ndarray, "N J 3"]:
    """What turns forces into torques, for many contacts at once: torque = map @ force.

    A hand that pushes with ``force`` at a point needs these torques from its muscles.

    Args:
        model: The hand.
        q: Joint values at each contact, rad.
        link: On which link each contact acts.
        points: Where, in the world, m.
        root: Of the hand in the world, one for each contact or one for all.

    Returns:
        m for a hinge, 1 for a slide; zero for joints that do not move the link.
    """
    rotations, positions = link_poses(model, q, root)
    axis = np.einsum("njik,jk->nji", rotations[:, 1:], model.joints.axis)
    swept = np.cross(axis, points[:, None] - positions[:, 1:])
    moved = np.where(model.joints.is_slide[:, None], axis, swept)
    return moved * _moves(model)[link][..., None]


def gravity_torques(
    model: HandModel,
    q: Float[np.ndarray, "T J"],
    gravity: Float[np.ndarray, "3"],
    root: Pose | None = None,
) -> Float[np.ndarray, "T J"]:
    """Torques that muscles must give to hold the hand's own weight, N m.

    Args:
        model: The hand.
        q: Joint values, rad.
        gravity: m/s^2.
        root: Of the hand in the world, one for each row of ``q`` or one for all.
    """
    rotations, positions = link_poses(model, q, root)
    masses = model.masses
    center = positions + np.einsum("tlij,lj->tli", rotations, masses.center)
    carried = masses.mass[:, None] * _moves(model)
    mass = carried.sum(axis=0)
    first = np.einsum("tli,lj->tji", center, carried) - mass[:, None] * positions[:, 1:]
    axis = np.einsum("tjik,jk->tji", rotations[:, 1:], model.joints.axis)
    hinge = np.cross(axis, first) @ gravity
    slide = mass * (axis @ gravity)
    return -np.where(model.joints.is_slide, slide, hinge)


def _moves(model: HandModel) -> Float[np.ndarray, "L J"]:
    """1 where a joint moves a link, else 0."""
    moves = np.zeros((model.num_links, model.num_joints))
    for j, parent in enumerate(model.joints.parent):
        moves[j + 1] = moves[parent]
        moves[j + 1, j] = 1.0
    return moves
