"""Reads back the .glb files that ``save_glb`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.clip import HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.frozen import freeze_arrays
from handwright.core.read_limits import over_limit
from handwright.core.track import time_problems
from handwright.errors import HandwrightError
from handwright.io.axes import to_z_up, to_z_up_wxyz
from handwright.io.gltf.chunks import GlbParts, read_parts
from handwright.io.gltf.write import EXTRAS, VERSION
from handwright.math.pose import Pose

# Poses that a file may have: nodes times frames; each takes 56 bytes.
_MAX_POSES = 20_000_000
# Norm that single precision leaves a unit quaternion with, and some room.
_NORM_SLACK = 1e-4
_CONTACT_COLUMNS: dict[str, tuple[type[np.float64] | type[np.int64], tuple[int, ...]]] = {
    "frame": (np.int64, ()),
    "toucher": (np.int64, ()),
    "part": (np.int64, ()),
    "body": (np.int64, ()),
    "mode": (np.int64, ()),
    "point": (np.float64, (3,)),
    "normal": (np.float64, (3,)),
    "gap": (np.float64, ()),
    "force": (np.float64, (3,)),
}


@dataclass(frozen=True, slots=True, eq=False)
class GlbMotion:
    """The motion in a .glb file, in our axes; single precision but for the times."""

    times: Float[np.ndarray, " T"]
    """s."""
    nodes: Mapping[str, Pose]
    """(T,) poses in the world of every node, by name; scales are left out."""
    hands: Mapping[str, HandMotion]
    joint_names: Mapping[str, tuple[str, ...]]
    """Names of the joint values of each hand."""
    bodies: Mapping[str, Pose]
    """(T,) poses in the world."""
    contacts: ContactTrack
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze_arrays(self)


def load_glb(path: str | Path) -> GlbMotion:
    """Reads the motion of a .glb file that this package wrote.

    Args:
        path: The file; others than our own are refused.
    """
    parts = read_parts(path)
    asset = parts.table(parts.document, "asset", dict, "the document")
    extras = asset.get("extras")
    ours = extras.get(EXTRAS) if isinstance(extras, dict) else None
    if not isinstance(ours, dict):
        raise parts.error(
            f"asset/extras/{EXTRAS} is missing: the file was not written by handwright, or "
            "another program has rewritten it."
        )
    version = parts.table(ours, "version", int, f"extras/{EXTRAS}")
    if not 1 <= version <= VERSION:
        raise parts.error(f"version of the extras is {version}; expected 1 to {VERSION}.")
    times = _times(parts, ours)
    world = _world_poses(parts, len(times))
    hands, joint_names = {}, {}
    for number, entry in enumerate(parts.table(ours, "hands", list, "extras")):
        where = f"extras/hands/{number}"
        name, node = _named_node(parts, entry, where, len(world))
        joints = parts.texts(entry, "joints", where)
        q = _joint_values(parts, entry, where, (len(times), len(joints)))
        hands[name] = HandMotion(world[node], q)
        joint_names[name] = joints
    bodies = {}
    for number, entry in enumerate(parts.table(ours, "bodies", list, "extras")):
        name, node = _named_node(parts, entry, f"extras/bodies/{number}", len(world))
        bodies[name] = world[node]
    return GlbMotion(
        times=times,
        nodes=_by_name(parts, world),
        hands=hands,
        joint_names=joint_names,
        bodies=bodies,
        contacts=_contacts(parts, ours, len(times)),
        provenance=_provenance(parts, ours),
    )


def _times(parts: GlbParts, ours: dict[str, Any]) -> np.ndarray:
    listed = parts.table(ours, "times", list, "extras")
    if over := over_limit("frames", len(listed)):
        raise parts.error(f"extras/times: {over}.")
    times = parts.numbers(listed, np.float64, (len(listed),), "extras/times")
    if problems := time_problems(times):
        raise parts.error(f"extras/times: {'; '.join(problems)}.")
    return times


def _named_node(parts: GlbParts, entry: Any, where: str, num_nodes: int) -> tuple[str, int]:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise parts.error(f"{where} is no object.")
    name = parts.table(entry, "name", str, where)
    return name, parts.index(entry, "node", num_nodes, where)


def _joint_values(
    parts: GlbParts, entry: dict[str, Any], where: str, shape: tuple[int, int]
) -> np.ndarray:
    if shape[1] == 0:
        return np.zeros(shape)
    values = parts.floats(parts.table(entry, "q", int, where), "SCALAR", f"{where}/q")
    if values.size != shape[0] * shape[1]:
        raise parts.error(f"{where}/q has {values.size} values; expected {shape[0]} x {shape[1]}.")
    return values.reshape(shape)


def _world_poses(parts: GlbParts, num_frames: int) -> list[Pose]:
    """Poses in the world of every node."""
    nodes = parts.rows("nodes")
    if len(nodes) * num_frames > _MAX_POSES:
        raise parts.error(f"{len(nodes)} nodes in {num_frames} frames are too many.")
    parent = _parents(parts, nodes)
    tracks = _animated(parts, len(nodes), num_frames)
    world: list[Pose | None] = [None] * len(nodes)
    for number in range(len(nodes)):
        # From the nearest ancestor that is known down to the node itself.
        chain = [number]
        while parent[chain[-1]] >= 0 and world[chain[-1]] is None:
            chain.append(parent[chain[-1]])
            if len(chain) > len(nodes):
                raise parts.error(f"nodes/{number} is its own ancestor.")
        for node in reversed(chain):
            if world[node] is None:
                local = _local_pose(parts, nodes[node], node, tracks, num_frames)
                above = world[parent[node]] if parent[node] >= 0 else None
                world[node] = local if above is None else above @ local
    return [pose for pose in world if pose is not None]


def _parents(parts: GlbParts, nodes: list[dict[str, Any]]) -> list[int]:
    parent = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for k, _ in enumerate(parts.optional(node, "children", list, [], f"nodes/{number}")):
            child = parts.index(node["children"], k, len(nodes), f"nodes/{number}/children")
            if parent[child] >= 0:
                raise parts.error(f"nodes/{child} has two parents.")
            parent[child] = number
    return parent


def _animated(
    parts: GlbParts, num_nodes: int, num_frames: int
) -> dict[tuple[int, str], np.ndarray]:
    """Values of the animated properties by node and path, one for each frame."""
    tracks = {}
    for a, animation in enumerate(parts.rows("animations")):
        where = f"animations/{a}"
        samplers = parts.table(animation, "samplers", list, where)
        for c, channel in enumerate(parts.table(animation, "channels", list, where)):
            where = f"animations/{a}/channels/{c}"
            if not isinstance(channel, dict):
                raise parts.error(f"{where} is no object.")
            target = parts.table(channel, "target", dict, where)
            node = parts.index(target, "node", num_nodes, where)
            path = parts.table(target, "path", str, where)
            sampler = samplers[parts.index(channel, "sampler", len(samplers), where)]
            if not isinstance(sampler, dict):
                raise parts.error(f"{where}: its sampler is no object.")
            if path not in ("translation", "rotation"):
                continue
            kind = "VEC4" if path == "rotation" else "VEC3"
            values = parts.floats(parts.table(sampler, "output", int, where), kind, where)
            if len(values) != num_frames:
                raise parts.error(f"{where} has {len(values)} keys; expected {num_frames}.")
            tracks[node, path] = values
    return tracks


def _local_pose(
    parts: GlbParts,
    node: dict[str, Any],
    number: int,
    tracks: dict[tuple[int, str], np.ndarray],
    num_frames: int,
) -> Pose:
    where = f"nodes/{number}"
    values = {}
    for path, still in (("translation", [0.0, 0.0, 0.0]), ("rotation", [0.0, 0.0, 0.0, 1.0])):
        found = tracks.get((number, path))
        if found is None:
            listed = parts.optional(node, path, list, still, where)
            found = parts.numbers(listed, np.float64, (len(still),), f"{where}/{path}")
        values[path] = np.broadcast_to(found, (num_frames, len(still)))
    norm = np.linalg.norm(values["rotation"], axis=-1)
    if np.any(np.abs(norm - 1.0) > _NORM_SLACK):
        raise parts.error(f"{where}: a rotation has length {norm[np.argmax(abs(norm - 1.0))]:g}.")
    return Pose.normalized(to_z_up(values["translation"]), to_z_up_wxyz(values["rotation"]))


def _by_name(parts: GlbParts, world: list[Pose]) -> dict[str, Pose]:
    named = {}
    for number, (node, pose) in enumerate(zip(parts.rows("nodes"), world, strict=True)):
        name = parts.table(node, "name", str, f"nodes/{number}")
        if name in named:
            raise parts.error(f"two nodes are named '{name}'.")
        named[name] = pose
    return named


def _contacts(parts: GlbParts, ours: dict[str, Any], num_frames: int) -> ContactTrack:
    where = "extras/contacts"
    table = parts.table(ours, "contacts", dict, "extras")
    count = len(parts.table(table, "frame", list, where))
    columns = {}
    for name, (dtype, width) in _CONTACT_COLUMNS.items():
        rows = parts.table(table, name, list, where)
        if name == "force":
            given = [row for row in rows if row is not None]
            filled = np.full((len(rows), 3), np.nan)
            filled[[row is not None for row in rows]] = parts.numbers(
                given, dtype, (len(given), 3), f"{where}/{name}"
            )
            columns[name] = filled
        else:
            columns[name] = parts.numbers(rows, dtype, (count, *width), f"{where}/{name}")
    touchers = parts.texts(table, "touchers", where)
    bodies = parts.texts(table, "bodies", where)
    if len(columns["force"]) != count:
        raise parts.error(f"{where}/force has {len(columns['force'])} rows; expected {count}.")
    try:
        contacts = ContactTrack(touchers, bodies, **columns)
    except HandwrightError as error:
        raise parts.error(f"{where}: {error}") from error
    if count and int(contacts.frame[-1]) >= num_frames:
        raise parts.error(f"{where}: a contact is in frame {contacts.frame[-1]} of {num_frames}.")
    return contacts


def _provenance(parts: GlbParts, ours: dict[str, Any]) -> Provenance:
    where = "extras/provenance"
    stamp = parts.table(ours, "provenance", dict, "extras")
    return Provenance(
        scene=parts.table(stamp, "scene", str, where),
        method=parts.table(stamp, "method", str, where),
        settings=parts.table(stamp, "settings", dict, where),
        seed=parts.table(stamp, "seed", int, where),
        version=parts.table(stamp, "version", str, where),
    )
