"""Torques that forces and the hand's own weight ask of its joints; the judge's own.

A force f at a point p turns a hinge through c with axis a by a . ((p - c) x f); a slide takes
a . f. That is summed over the joints between the root and the link that is loaded.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.evidence.contacts.slip import LinkMotion


def force_to_torque(
    model: HandModel,
    links: LinkMotion,
    frame: Int[np.ndarray, " N"],
    link: Int[np.ndarray, " N"],
    points: Float[np.ndarray, "N 3"],
) -> Float[np.ndarray, "N J 3"]:
    """Matrices that turn a force of the hand at a point into torques of its joints.

    Args:
        model: The hand.
        links: Its links over the frames of a motion.
        frame: Frame of each point.
        link: Link that each point is on.
        points: Points in the world, m.

    Returns:
        m for a hinge, 1 for a slide; zero for joints that do not move the link.
    """
    axis, center = _joint_lines(model, links)
    arm = points[:, None] - center[frame]
    # a . ((p - c) x f) is (a x (p - c)) . f.
    per_force = np.where(model.joints.is_slide[:, None], axis[frame], np.cross(axis[frame], arm))
    return np.where(_carried(model)[:, link].T[..., None], per_force, 0.0)


def weight_torques(
    model: HandModel, links: LinkMotion, gravity: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "T J"]:
    """Torques that hold the hand's own weight in each frame, N m.

    Args:
        model: The hand.
        links: Its links over the frames of a motion.
        gravity: m/s^2.
    """
    axis, center = _joint_lines(model, links)
    carried = _carried(model)
    held = links.positions + np.einsum("tlij,lj->tli", links.rotations, model.masses.center)
    total = np.zeros(axis.shape[:2])
    for number, mass in enumerate(model.masses.mass):
        lift = -mass * gravity
        hinge = np.einsum("tji,tji->tj", axis, np.cross(held[:, number, None] - center, lift))
        torque = np.where(model.joints.is_slide, axis @ lift, hinge)
        total += np.where(carried[:, number], torque, 0.0)
    return total


def _joint_lines(model: HandModel, links: LinkMotion) -> tuple[np.ndarray, np.ndarray]:
    """Axes (T, J, 3) and points (T, J, 3) of the joints: each moves the link after the root."""
    axis = np.einsum("tjik,jk->tji", links.rotations[:, 1:], model.joints.axis)
    return axis, links.positions[:, 1:]


def _carried(model: HandModel) -> Bool[np.ndarray, "J L"]:
    """Whether a joint moves a link, found by going from each link to the root."""
    carried = np.zeros((model.num_joints, model.num_links), dtype=bool)
    for link in range(1, model.num_links):
        at = link
        while at > 0:
            carried[at - 1, link] = True
            at = int(model.joints.parent[at - 1])
    return carried
