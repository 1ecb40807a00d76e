"""Hands in .glb files: one node for each link, and a skin, or capsules, that follow them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handwright.core.clip import HandMotion
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.hands.colors import NAIL_COLOR, ROBOT_COLOR, SKIN_COLOR
from handwright.hands.skin.whole import bare_capsules, links_between, whole_skin_of
from handwright.io.axes import to_y_up
from handwright.io.gltf.buffers import GltfBuilder, Json
from handwright.io.gltf.meshes import add_surface, coarse_capsule, joined, safe_normals
from handwright.kinematics.skin.skinning import skin_link_poses
from handwright.math import rotation

# Columns of a rotation matrix of our axes, in glTF's.
_TO_Y_UP = to_y_up(np.eye(3)).T


def add_hand(
    builder: GltfBuilder,
    name: str,
    model: HandModel,
    motion: HandMotion,
    times: int,
    others: Mapping[int, str],
) -> Json:
    """Adds a hand that moves; returns what a reader needs to find it.

    A still node with the hand's name holds the moving ones: ``<hand>:root`` for the root link,
    ``<hand>:<joint>`` for the others. Joints that keep one value are placed, not animated. Links
    that only the skin has are named after the joint that they go along with, without a colon.

    Args:
        builder: The file.
        name: Of the hand in the problem.
        model: The hand.
        motion: Its frames.
        times: Accessor of the key times.
        others: Names for the nodes of some links in place of ours.
    """
    joints = model.joints
    # Without a node above the root link, Blender takes the whole scene for the armature.
    root = builder.add_node(others.get(0, f"{name}:root"), parent=builder.add_node(name))
    builder.move(root, times, motion.root.position, motion.root.wxyz)
    links = [root]
    for j, joint in enumerate(joints.names):
        title = others.get(j + 1, f"{name}:{joint}")
        node = builder.add_node(title, parent=links[joints.parent[j]])
        links.append(node)
        builder.place(node, joints.offset[j])
        q = motion.q[:, j]
        is_moving = bool(np.ptp(q) > 0.0)
        if joints.is_slide[j]:
            position = joints.offset[j] + q[:, None] * joints.axis[j]
            if is_moving:
                builder.move(node, times, position)
            else:
                builder.place(node, position[0])
            continue
        wxyz = rotation.from_axis_angle(joints.axis[j], q)
        if is_moving:
            builder.move(node, times, wxyz=wxyz)
        else:
            builder.place(node, wxyz=wxyz[0])
    _add_capsules(builder, model, links)
    between = _add_between(builder, name, model, motion, times, links)
    if model.skin is not None:
        _add_skin(builder, name, model, links + between)
    values = builder.add_array(motion.q.reshape(-1)) if motion.q.size else None
    return {
        "name": name,
        "node": root,
        "joints": list(joints.names),
        "between": [builder.nodes[node]["name"] for node in between],
        "q": values,
    }


def _add_between(
    builder: GltfBuilder,
    name: str,
    model: HandModel,
    motion: HandMotion,
    times: int,
    links: list[int],
) -> list[int]:
    """Nodes of the links that only the skin has."""
    joints, nodes = model.joints, []
    for one in links_between(model):
        node = builder.add_node(f"{name} {one.name}", parent=links[joints.parent[one.joint]])
        nodes.append(node)
        builder.place(node, joints.offset[one.joint])
        q = motion.q[:, one.joint]
        wxyz = rotation.from_axis_angle(joints.axis[one.joint], one.share * q)
        if np.ptp(q) > 0.0:
            builder.move(node, times, wxyz=wxyz)
        else:
            builder.place(node, wxyz=wxyz[0])
    return nodes


def _add_capsules(builder: GltfBuilder, model: HandModel, links: list[int]) -> None:
    """Capsules that no skin covers."""
    has_skin = model.skin is not None
    color = SKIN_COLOR if has_skin else ROBOT_COLOR
    capsules = model.capsules
    for link in np.unique(capsules.link[bare_capsules(model)]):
        meshes = [
            coarse_capsule(capsules.start[c], capsules.end[c], float(capsules.radius[c]))
            for c in np.flatnonzero(capsules.link == link)
        ]
        material = builder.add_material("skin" if has_skin else "hand", color)
        primitive = add_surface(builder, joined(meshes), material)
        title = f"{builder.nodes[links[link]]['name']} capsules"
        builder.nodes[links[link]]["mesh"] = builder.add_mesh(title, [primitive])


def _add_skin(builder: GltfBuilder, name: str, model: HandModel, links: list[int]) -> None:
    skin = whole_skin_of(model)
    rotations, positions = skin_link_poses(model, skin.between, skin.bind)
    wrist = model.wrist_link
    # The mesh is stored in the frame of the root link, at the bind pose.
    vertices = skin.vertices @ rotations[wrist].T + positions[wrist]
    link, weight = _packed_weights(skin, len(links))
    attributes = builder.add_vertices(
        POSITION=to_y_up(vertices),
        NORMAL=to_y_up(safe_normals(vertices, skin.faces)),
        JOINTS_0=link,
        WEIGHTS_0=weight,
    )
    primitives = [
        {
            "attributes": attributes,
            "indices": builder.add_indices(skin.faces[chosen]),
            "material": material,
        }
        for chosen, material in (
            (~skin.is_nail, builder.add_material("skin", SKIN_COLOR)),
            (skin.is_nail, builder.add_material("nails", NAIL_COLOR, 0.35)),
        )
        if chosen.any()
    ]
    builder.skins.append(
        {
            "name": name,
            "joints": links,
            "skeleton": links[0],
            "inverseBindMatrices": builder.add_array(_inverse_bind(rotations, positions)),
        }
    )
    mesh = builder.add_mesh(f"{name} skin", primitives)
    builder.add_node(f"{name} skin", mesh=mesh, skin=len(builder.skins) - 1)


def _inverse_bind(rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """From the mesh to each link at the bind pose: 4 x 4 by columns, in glTF's axes."""
    back = _TO_Y_UP @ np.swapaxes(rotations, 1, 2) @ _TO_Y_UP.T
    matrices = np.zeros((len(rotations), 4, 4))
    matrices[:, :3, :3] = back
    matrices[:, :3, 3] = -np.einsum("lij,lj->li", back, to_y_up(positions))
    matrices[:, 3, 3] = 1.0
    return np.swapaxes(matrices, 1, 2).reshape(-1, 16)


def _packed_weights(skin: Skin, num_links: int) -> tuple[np.ndarray, np.ndarray]:
    """Links and shares as glTF wants them: shares that add up to one in single precision."""
    order = np.argsort(-skin.weights, axis=1, kind="stable")
    link = np.take_along_axis(skin.links, order, axis=1)
    weight = np.maximum(np.take_along_axis(skin.weights, order, axis=1), 0.0)
    # A link named twice is refused by validators: its shares are put together.
    for later in range(1, link.shape[1]):
        for earlier in range(later):
            same = link[:, later] == link[:, earlier]
            weight[same, earlier] += weight[same, later]
            weight[same, later] = 0.0
    single = (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)
    single[:, 0] = np.float32(1.0) - single[:, 1:].sum(axis=1, dtype=np.float32)
    link = np.where(single > 0.0, link, 0)
    return link.astype(np.uint8 if num_links <= 256 else np.uint16), single
