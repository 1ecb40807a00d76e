"""The skin of a hand in any pose: linear blend skinning."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.kinematics.fk import link_poses
from handwright.math.compiled import kernel
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
    turns, places = link_poses(model, q, root)
    bind_turns, bind_places = link_poses(model, skin.bind)
    wrist = model.wrist_link
    # Vertices are given in the wrist frame; with an arm that is not the root's.
    rest = skin.vertices @ bind_turns[wrist].T + bind_places[wrist]
    # From the bind pose to now, for every link: x -> change @ x + shift.
    change = np.einsum("...lij,lkj->...lik", turns, bind_turns)
    shift = places - np.einsum("...lij,lj->...li", change, bind_places)
    vertices = np.zeros((*turns.shape[:-3], *rest.shape))
    changes, shifts = change.reshape(-1, *change.shape[-3:]), shift.reshape(-1, *shift.shape[-2:])
    for batch, out in enumerate(vertices.reshape(-1, *rest.shape)):
        blend_skin(rest, changes[batch], shifts[batch], skin.links, skin.weights, out)
    return vertices


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
