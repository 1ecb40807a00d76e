"""The skin of a hand in any pose: linear blend skinning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.core.skin import InBetween, Skin
from handwright.kernels.decorators import kernel
from handwright.kinematics.fk import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose


def posed_skin(
    model: HandModel, skin: Skin, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> Float[np.ndarray, "*B V 3"]:
    """World positions (m) of the skin's vertices.

    Args:
        model: The hand that the skin was made for.
        skin: Its skin.
        q: Joint values, rad, with any leading batch axes.
        root: Pose of the root link in the world; the origin by default.
    """
    rest, change, shift = blended_links(model, skin, q, root)
    vertices = np.zeros((*change.shape[:-3], *rest.shape))
    changes, shifts = change.reshape(-1, *change.shape[-3:]), shift.reshape(-1, *shift.shape[-2:])
    for batch, out in enumerate(vertices.reshape(-1, *rest.shape)):
        blend_skin(rest, changes[batch], shifts[batch], skin.links, skin.weights, out)
    return vertices


def blended_links(
    model: HandModel, skin: Skin, q: Float[np.ndarray, "*B J"], root: Pose | None = None
) -> tuple[Float[np.ndarray, "V 3"], Float[np.ndarray, "*B L 3 3"], Float[np.ndarray, "*B L 3"]]:
    """Vertices in the bind pose, m, and what each link does to them: x -> change @ x + shift.

    Args:
        model: The hand.
        skin: Its skin.
        q: rad.
        root: Pose of the hand's root, in the frame that the vertices are wanted in.
    """
    rotations, positions = skin_link_poses(model, skin.between, q, root)
    bind_rotations, bind_positions = skin_link_poses(model, skin.between, skin.bind)
    change = np.einsum("...lij,lkj->...lik", rotations, bind_rotations)
    shift = positions - np.einsum("...lij,lj->...li", change, bind_positions)
    return bound_vertices(model, skin), change, shift


def skin_link_poses(
    model: HandModel,
    between: Sequence[InBetween],
    q: Float[np.ndarray, "*B J"],
    root: Pose | None = None,
) -> tuple[Float[np.ndarray, "*B L 3 3"], Float[np.ndarray, "*B L 3"]]:
    """World rotations and positions (m) of all links that a skin follows.

    Args:
        model: The hand.
        between: Links that only the skin has; they come after the hand's own.
        q: rad.
        root: Pose of the root link in the world; the origin by default.
    """
    rotations, positions = link_poses(model, q, root)
    if not between:
        return rotations, positions
    joint = np.array([one.joint for one in between])
    share = np.array([one.share for one in between])
    turn = rotation.from_axis_angle(model.joints.axis[joint], share * q[..., joint])
    turned = rotations[..., model.joints.parent[joint], :, :] @ rotation.to_matrix(turn)
    return (
        np.concatenate([rotations, turned], axis=-3),
        np.concatenate([positions, positions[..., joint + 1, :]], axis=-2),
    )


def link_travel(
    model: HandModel,
    skin: Skin,
    change: Float[np.ndarray, "T L 3 3"],
    shift: Float[np.ndarray, "T L 3"],
) -> Float[np.ndarray, "T L"]:
    """How far a link moves the vertices that follow it since the last frame, at most, m."""
    # A motion is affine, so none of a box moves farther than the farthest of its corners.
    world = np.einsum("tlij,lkj->tlki", change, _link_boxes(model, skin)) + shift[:, :, None]
    travel = np.zeros(change.shape[:2])
    travel[1:] = np.linalg.norm(np.diff(world, axis=0), axis=-1).max(axis=-1)
    return travel


@lru_cache(maxsize=8)
def bound_vertices(model: HandModel, skin: Skin) -> Float[np.ndarray, "V 3"]:
    """Vertices in the bind pose, m; those of the skin are in the wrist's frame, not the root's."""
    rotations, positions = link_poses(model, skin.bind)
    rest = skin.vertices @ rotations[model.wrist_link].T + positions[model.wrist_link]
    rest.flags.writeable = False
    return rest


@lru_cache(maxsize=8)
def _link_boxes(model: HandModel, skin: Skin) -> Float[np.ndarray, "L 8 3"]:
    """Corners of boxes around the vertices that follow each link, in the bind pose, m."""
    rest = bound_vertices(model, skin)
    low = np.full((model.num_links + len(skin.between), 3), np.inf)
    high = -low
    for slot in range(skin.links.shape[1]):
        follows = skin.weights[:, slot] > 0.0
        np.minimum.at(low, skin.links[follows, slot], rest[follows])
        np.maximum.at(high, skin.links[follows, slot], rest[follows])
    used = np.isfinite(low[:, 0])
    low, high = np.where(used[:, None], low, 0.0), np.where(used[:, None], high, 0.0)
    side = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    return np.asarray(low[:, None] + side * (high - low)[:, None])


@kernel
def blend_skin(
    rest: np.ndarray,
    change: np.ndarray,
    shift: np.ndarray,
    links: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Writes vertices that follow up to four links each.

    Args:
        rest: (V, 3) vertices in the bind pose, m.
        change: (L, 3, 3) turn of each link since then.
        shift: (L, 3) shift of each link since then, m.
        links: (V, 4) links of each vertex.
        weights: (V, 4) their shares.
        out: (V, 3) overwritten, m.
    """
    for v in range(rest.shape[0]):
        x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
        for i in range(3):
            total = 0.0
            for slot in range(links.shape[1]):
                k = links[v, slot]
                moved = change[k, i, 0] * x + change[k, i, 1] * y + change[k, i, 2] * z
                total += weights[v, slot] * (moved + shift[k, i])
            out[v, i] = total


def vertex_normals(
    vertices: Float[np.ndarray, "*B V 3"], faces: Int[np.ndarray, "F 3"]
) -> Float[np.ndarray, "*B V 3"]:
    """Unit normals at vertices: those of the faces around, weighted by their angles there."""
    corners = vertices[..., faces, :]
    normals = np.zeros(vertices.shape)
    flat = normals.reshape(-1, *vertices.shape[-2:])
    for k in range(3):
        u = corners[..., (k + 1) % 3, :] - corners[..., k, :]
        v = corners[..., (k + 2) % 3, :] - corners[..., k, :]
        cross = np.cross(u, v)
        size = np.linalg.norm(cross, axis=-1, keepdims=True)
        angle = np.arctan2(size[..., 0], np.einsum("...i,...i->...", u, v))
        share = angle[..., None] * cross / np.maximum(size, 1e-30)
        for one, part in zip(flat, share.reshape(-1, *share.shape[-2:]), strict=True):
            np.add.at(one, faces[:, k], part)
    return normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-30)
