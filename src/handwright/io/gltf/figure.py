"""Upper bodies behind hands with arms in .glb files: context, apart from hands and bodies."""

from __future__ import annotations

import numpy as np

from handwright.core.clip import Clip
from handwright.hands.colors import FIGURE_COLOR
from handwright.hands.figure import bust, figures
from handwright.io.gltf.buffers import GltfBuilder
from handwright.io.gltf.meshes import add_surface

GROUP = "figure"
"""Name of the group and of its material, by which pages know it."""


def add_figures(builder: GltfBuilder, clip: Clip, times: int) -> None:
    """Adds a group with the bodies of a clip's arms; nothing if there are no arms.

    Args:
        builder: The file.
        clip: The motion.
        times: Accessor of the key times.
    """
    hands = {name: (clip.problem.hands[name], motion.root) for name, motion in clip.hands.items()}
    found = figures(hands)
    if not found:
        return
    group = builder.add_node(GROUP)
    material = builder.add_material(GROUP, FIGURE_COLOR, 0.9)
    vertices, faces = bust()
    for number, (size, poses) in enumerate(found):
        title = f"{GROUP} {number}"
        primitive = add_surface(builder, (size * vertices, faces), material)
        node = builder.add_node(title, parent=group, mesh=builder.add_mesh(title, [primitive]))
        if np.ptp(poses.position, axis=0).any() or np.ptp(poses.wxyz, axis=0).any():
            builder.move(node, times, poses.position, poses.wxyz)
        else:
            builder.place(node, poses.position[0], poses.wxyz[0])
