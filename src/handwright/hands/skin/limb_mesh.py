"""One closed mesh of hand and arm: the hand's own, opened behind the wrist, and rings of an arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.errors import InvalidValueError
from handwright.hands.skin.limb import Limb
from handwright.hands.skin.mesh import Faces, Vertices

# Where the hand's mesh is opened, in half thicknesses of the palm before the wrist: at a section
# that hand and arm have in common.
_OPENED = 1.27
_NUM_AROUND = 60
# Steps from ring to ring, m: at the wrist, where triangles are the hand's, and further on; closer
# at the elbow, where the skin stretches.
_FIRST_STEP = 2.4e-3
_STEP = 5.5e-3
_ELBOW_STEP = 3.8e-3
_ELBOW_REACH = 0.06
_NUM_CAP_RINGS = 12


class GrownSkin(NamedTuple):
    """A mesh of hand and arm; what is left of the hand comes first."""

    vertices: Vertices
    faces: Faces
    hand_vertices: Int[np.ndarray, " H"]
    """For the first vertices, which they are of the hand's own mesh."""
    hand_faces: Int[np.ndarray, " G"]
    """For the first faces, which they are of the hand's own mesh."""


def with_arm(limb: Limb, vertices: Vertices, faces: Faces) -> GrownSkin:
    """Opens the mesh of a hand behind the wrist and lets an arm grow from there.

    Args:
        limb: The arm.
        vertices: Of the hand's skin, m.
        faces: Of the hand's skin.
    """
    start = -_OPENED * limb.hand.thickness
    kept = _without_ears(faces, (vertices[faces][:, :, 0] >= start).all(axis=1))
    used = np.unique(faces[kept])
    number = np.full(len(vertices), -1)
    number[used] = np.arange(len(used))
    hand, hand_faces = vertices[used], number[faces[kept]]
    rim = _rim(hand_faces)
    angles = 2.0 * np.pi * np.arange(_NUM_AROUND) / _NUM_AROUND
    places = _places(limb, float(hand[rim, 0].min()))
    rings = np.concatenate([limb.ring(x, angles) for x in places])
    pole = limb.ring(limb.end, angles[:1])
    whole = np.concatenate([hand, rings, pole])
    numbers = len(hand) + np.arange(len(rings)).reshape(-1, _NUM_AROUND)
    last, tip = numbers[-1], np.full(_NUM_AROUND, len(whole) - 1)
    cap = np.stack([last, tip, np.roll(last, -1)], axis=1)
    parts = [hand_faces, _zipped(whole, rim, numbers[0]), _tube(numbers), cap]
    return GrownSkin(whole, np.concatenate(parts), used, np.flatnonzero(kept))


def _without_ears(faces: Faces, kept: Bool[np.ndarray, " F"]) -> Bool[np.ndarray, " F"]:
    """Which faces to keep, less those that hang on by one edge or a corner: the rim is even."""
    kept = kept.copy()
    while True:
        rows = np.flatnonzero(kept)
        start, end = faces[rows], np.roll(faces[rows], -1, axis=1)
        base = int(faces.max()) + 1
        keys = np.minimum(start, end) * base + np.maximum(start, end)
        _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
        open_edges = (count[number.reshape(-1, 3)] == 1).sum(axis=1)
        if not (open_edges >= 2).any():
            return kept
        kept[rows[open_edges >= 2]] = False


def _rim(faces: Faces) -> Int[np.ndarray, " R"]:
    """The border of an open mesh as one loop of vertices, against the sense of its faces."""
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2).tolist()
    there = {(a, b) for a, b in edges}
    after = {b: a for a, b in edges if (b, a) not in there}
    loop = [min(after)] if after else []
    while loop and (following := after[loop[-1]]) != loop[0] and len(loop) <= len(after):
        loop.append(following)
    if not after or len(loop) != len(after):
        raise InvalidValueError(
            "The skin of this hand has no wrist that an arm could be joined to; check its bones "
            "and girths."
        )
    return np.array(loop)


def _places(limb: Limb, start: float) -> list[float]:
    """Where the rings are along x, m, from the rim to just before the end of the shoulder."""
    places, step = [start - _FIRST_STEP], _FIRST_STEP
    while places[-1] - _STEP > limb.shoulder:
        is_elbow = abs(places[-1] - limb.elbow) < _ELBOW_REACH
        step = min(1.12 * step, _ELBOW_STEP if is_elbow else _STEP)
        places.append(places[-1] - step)
    turns = 0.5 * np.pi * np.arange(_NUM_CAP_RINGS) / _NUM_CAP_RINGS
    return [*places[:-1], *(limb.shoulder + (limb.end - limb.shoulder) * np.sin(turns))]


def _tube(numbers: Int[np.ndarray, "R N"]) -> Faces:
    """Triangles between neighbouring rings."""
    a, b = numbers[:-1], numbers[1:]
    c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    return np.concatenate(
        [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([c, b, d], axis=-1).reshape(-1, 3)]
    )


def _zipped(
    vertices: Float[np.ndarray, "V 3"],
    rim: Int[np.ndarray, " R"],
    ring: Int[np.ndarray, " N"],
) -> Faces:
    """Triangles between the rim of the hand and the first ring, the shorter diagonal each time."""
    # Both loops turn from y to z; they start where they are nearest to each other.
    if _turn(vertices[rim]) < 0.0:
        rim = rim[::-1]
    near = np.linalg.norm(vertices[rim] - vertices[ring[0]], axis=1).argmin()
    rim = np.roll(rim, -near)
    faces, i, j = [], 0, 0
    while i < len(rim) or j < len(ring):
        here, there = rim[i % len(rim)], ring[j % len(ring)]
        next_rim, next_ring = rim[(i + 1) % len(rim)], ring[(j + 1) % len(ring)]
        along_rim = np.linalg.norm(vertices[next_rim] - vertices[there])
        along_ring = np.linalg.norm(vertices[next_ring] - vertices[here])
        if j == len(ring) or (i < len(rim) and along_rim < along_ring):
            faces.append((here, there, next_rim))
            i += 1
        else:
            faces.append((here, there, next_ring))
            j += 1
    return np.array(faces)


def _turn(loop: Float[np.ndarray, "R 3"]) -> float:
    """Twice the area that a loop goes round about x, m^2; positive from y to z."""
    after = np.roll(loop, -1, axis=0)
    return float((loop[:, 1] * after[:, 2] - loop[:, 2] * after[:, 1]).sum())
