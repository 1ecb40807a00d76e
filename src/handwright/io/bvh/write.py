"""Skeletons in motion as the text of BVH."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.io.atomic import written_whole
from handwright.io.bvh.motion import BvhMotion


def write_motion(motion: BvhMotion, path: str | Path) -> None:
    """Writes a skeleton in motion; every number is kept to its last digit.

    Args:
        motion: In the unit and axes that the file shall have; BVH itself does not state them.
        path: Where to; the file appears whole or not at all.
    """
    # Joints are written in the order of the tree, and so must be their values.
    order = _tree_order(motion)
    first = np.cumsum([0, *(len(channels) for channels in motion.channels)])
    columns = [c for joint in order for c in range(first[joint], first[joint + 1])]
    with written_whole(path) as file:
        for line in _hierarchy(motion):
            file.write(line.encode() + b"\n")
        file.write(b"MOTION\n")
        file.write(f"Frames: {len(motion)}\nFrame Time: {motion.frame_time!r}\n".encode())
        for row in motion.values[:, columns].tolist():
            file.write(" ".join(map(repr, row)).encode() + b"\n")


def _children(motion: BvhMotion) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in motion.names]
    for joint, parent in enumerate(motion.parent.tolist()):
        if parent >= 0:
            children[parent].append(joint)
    return children


def _tree_order(motion: BvhMotion) -> list[int]:
    children, order = _children(motion), []
    waiting = np.flatnonzero(motion.parent < 0).tolist()[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += children[joint][::-1]
    return order


def _hierarchy(motion: BvhMotion) -> Iterator[str]:
    yield "HIERARCHY"
    depth = 0
    opened: list[int] = []
    for joint in _tree_order(motion):
        while opened and opened[-1] != motion.parent[joint]:
            opened.pop()
            depth -= 1
            yield "\t" * depth + "}"
        yield "\t" * depth + ("JOINT " if opened else "ROOT ") + motion.names[joint]
        yield "\t" * depth + "{"
        depth += 1
        opened.append(joint)
        yield "\t" * depth + _offset(motion.offset[joint])
        channels = motion.channels[joint]
        if channels:
            yield "\t" * depth + f"CHANNELS {len(channels)} " + " ".join(channels)
        for end in np.flatnonzero(motion.end_joint == joint):
            yield "\t" * depth + "End Site"
            yield "\t" * depth + "{"
            yield "\t" * (depth + 1) + _offset(motion.end_offset[end])
            yield "\t" * depth + "}"
    while depth:
        depth -= 1
        yield "\t" * depth + "}"


def _offset(offset: Float[np.ndarray, "3"]) -> str:
    return "OFFSET " + " ".join(map(repr, offset.tolist()))
