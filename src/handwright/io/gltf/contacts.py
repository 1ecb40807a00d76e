"""Contacts in .glb files: points, force arrows, and the table in the extras.

Both are groups of nodes, ``contacts`` and ``forces``, which an editor or a page can hide as a
whole; a group with nothing in it is left out. Within a group there is one node for each pair of a
hand's part and a body that ever touch; in the frames where they do not, its scale is zero, which
glTF defines as not drawn.
"""

from __future__ import annotations

import numpy as np

from handwright.core.contact import ContactTrack
from handwright.io.axes import scale_to_y_up
from handwright.io.gltf.buffers import GltfBuilder, Json
from handwright.io.gltf.meshes import add_surface, arrow, ball
from handwright.math import rotation

CONTACTS = "contacts"
FORCES = "forces"

_POINT_RADIUS = 0.003
_SHAFT_RADIUS = 0.0015
_POINT_COLOR = (0.98, 0.62, 0.10)
_FORCE_COLOR = (0.82, 0.12, 0.16)
_UP = np.array([0.0, 0.0, 1.0])


def contact_table(contacts: ContactTrack) -> Json:
    """The contacts by columns; a force that no method has given is null."""
    force = [[_short(x) for x in row] if np.isfinite(row).all() else None for row in contacts.force]
    return {
        "touchers": list(contacts.touchers),
        "bodies": list(contacts.bodies),
        **{
            name: getattr(contacts, name).tolist()
            for name in ("frame", "toucher", "part", "body", "mode")
        },
        **{
            name: [[_short(x) for x in row] for row in getattr(contacts, name)]
            for name in ("point", "normal")
        },
        "gap": [_short(x) for x in contacts.gap],
        "force": force,
    }


def _short(value: float) -> float:
    """Nine digits: below a nanometre, and a third of the text."""
    return float(f"{value:.9g}")


def add_contact_points(
    builder: GltfBuilder, contacts: ContactTrack, num_frames: int, times: int
) -> None:
    """Adds the group of contact points: small balls, shown in the frames where they touch."""
    if len(contacts) == 0:
        return
    group = builder.add_node(CONTACTS)
    mesh = -1
    for name, rows in _slots(contacts).items():
        if mesh < 0:
            material = builder.add_material(CONTACTS, _POINT_COLOR, 0.5)
            primitive = add_surface(builder, ball(_POINT_RADIUS), material)
            mesh = builder.add_mesh("contact point", [primitive])
        node = builder.add_node(f"contact {name}", parent=group, mesh=mesh)
        held = _held(contacts.frame[rows], num_frames)
        shown = np.zeros((num_frames, 1))
        shown[contacts.frame[rows]] = 1.0
        builder.move(
            node,
            times,
            contacts.point[rows][held],
            scale=np.repeat(shown, 3, axis=1),
            interpolation="STEP",
        )


def add_force_arrows(
    builder: GltfBuilder, contacts: ContactTrack, num_frames: int, times: int, metres: float
) -> None:
    """Adds the group of force arrows, which end at the contact point and show the force's length.

    Args:
        builder: The file.
        contacts: The contacts; those without a force get no arrow.
        num_frames: Of the motion.
        times: Accessor of the key times.
        metres: Length of the arrow of one newton, m.
    """
    size = np.linalg.norm(contacts.force, axis=1)
    if not np.any(size > 0.0):
        return
    group = builder.add_node(FORCES)
    mesh = -1
    for name, every in _slots(contacts).items():
        rows = every[size[every] > 0.0]
        if len(rows) == 0:
            continue
        if mesh < 0:
            material = builder.add_material(FORCES, _FORCE_COLOR, 0.5)
            primitive = add_surface(builder, arrow(_SHAFT_RADIUS), material)
            mesh = builder.add_mesh("force arrow", [primitive])
        node = builder.add_node(f"force {name}", parent=group, mesh=mesh)
        held = _held(contacts.frame[rows], num_frames)
        scale = np.zeros((num_frames, 3))
        scale[contacts.frame[rows]] = [1.0, 1.0, 0.0]
        scale[contacts.frame[rows], 2] = metres * size[rows]
        builder.move(
            node,
            times,
            contacts.point[rows][held],
            rotation.between(_UP, contacts.force[rows])[held],
            scale=scale_to_y_up(scale),
            interpolation="STEP",
        )


def _slots(contacts: ContactTrack) -> dict[str, np.ndarray]:
    """Rows of the table for each node, in the order of their frames, by its name."""
    slots: dict[str, list[int]] = {}
    seen: dict[tuple[int, str], int] = {}
    for row in range(len(contacts)):
        toucher = contacts.touchers[contacts.toucher[row]]
        pair = f"{toucher} {contacts.part[row]} on {contacts.bodies[contacts.body[row]]}"
        # The same pair may touch in several places at once.
        number = seen.get((int(contacts.frame[row]), pair), 0)
        seen[int(contacts.frame[row]), pair] = number + 1
        slots.setdefault(f"{pair} #{number}", []).append(row)
    return {name: np.array(rows) for name, rows in slots.items()}


def _held(frames: np.ndarray, num_frames: int) -> np.ndarray:
    """For every frame, which of the given frames came last; the first before it."""
    last = np.searchsorted(frames, np.arange(num_frames), side="right") - 1
    return np.maximum(last, 0)
