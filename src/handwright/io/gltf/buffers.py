"""A .glb file under construction: its tables, and the bytes that they point to."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from handwright.io.atomic import written_whole
from handwright.io.axes import to_y_up, to_y_up_xyzw

MAGIC = 0x46546C67
JSON_CHUNK = 0x4E4F534A
BIN_CHUNK = 0x004E4942
FLOAT = 5126
_COMPONENTS = {
    np.dtype(np.float32): FLOAT,
    np.dtype(np.uint8): 5121,
    np.dtype(np.uint16): 5123,
    np.dtype(np.uint32): 5125,
}
TYPES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_TYPE_OF_WIDTH = {width: name for name, width in TYPES.items()}
_VERTICES, _INDICES = 34962, 34963

Json = dict[str, Any]


@dataclass(slots=True)
class GltfBuilder:
    """Collects the parts of a file; every ``add`` returns the index of what it added."""

    nodes: list[Json] = field(default_factory=list)
    meshes: list[Json] = field(default_factory=list)
    skins: list[Json] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    """Nodes of the scene that have no parent."""
    _materials: list[Json] = field(default_factory=list)
    _accessors: list[Json] = field(default_factory=list)
    _views: list[Json] = field(default_factory=list)
    _channels: list[Json] = field(default_factory=list)
    _samplers: list[Json] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)

    def add_array(
        self, array: np.ndarray, *, target: int | None = None, bounds: bool = False
    ) -> int:
        """An accessor for rows of 1, 3, 4 or 16 numbers; floats are stored in single precision."""
        if array.dtype.kind == "f":
            array = array.astype(np.float32)
        rows = array.reshape(len(array), -1)
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        view: Json = {
            "buffer": 0,
            "byteOffset": len(self._bytes),
            "byteLength": rows.nbytes,
        }
        if target is not None:
            view["target"] = target
        self._bytes += rows.astype(rows.dtype.newbyteorder("<")).tobytes()
        self._views.append(view)
        accessor: Json = {
            "bufferView": len(self._views) - 1,
            "componentType": _COMPONENTS[array.dtype],
            "count": len(rows),
            "type": _TYPE_OF_WIDTH[rows.shape[1]],
        }
        if bounds:
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def add_vertices(self, **attributes: np.ndarray) -> dict[str, int]:
        """Accessors of vertex attributes by glTF's names, such as ``POSITION``."""
        return {
            name: self.add_array(values, target=_VERTICES, bounds=name == "POSITION")
            for name, values in attributes.items()
        }

    def add_indices(self, faces: Int[np.ndarray, "F 3"]) -> int:
        """An accessor of triangles."""
        # The largest value of each type is reserved by glTF.
        small = faces.max(initial=0) < 65535
        return self.add_array(
            faces.reshape(-1).astype(np.uint16 if small else np.uint32), target=_INDICES
        )

    def add_material(
        self, name: str, color: tuple[float, float, float], roughness: float = 0.7
    ) -> int:
        """A plain surface; the same one is added only once.

        Args:
            name: Shown in editors.
            color: sRGB, each from 0 to 1.
            roughness: 0 (mirror) to 1 (chalk).
        """
        srgb = np.array(color)
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        material = {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [*(round(float(c), 6) for c in linear), 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": roughness,
            },
        }
        if material not in self._materials:
            self._materials.append(material)
        return self._materials.index(material)

    def add_mesh(self, name: str, primitives: list[Json]) -> int:
        """A mesh of primitives with ``attributes``, ``indices`` and ``material``."""
        self.meshes.append({"name": name, "primitives": primitives})
        return len(self.meshes) - 1

    def add_node(self, name: str, *, parent: int | None = None, **properties: Any) -> int:  # noqa: ANN401
        """A node; without a parent it stands in the scene. A name in use gets a number."""
        taken = {node["name"] for node in self.nodes}
        plain, number = name, 2
        while name in taken:
            name, number = f"{plain} ({number})", number + 1
        self.nodes.append({"name": name, **properties})
        index = len(self.nodes) - 1
        if parent is None:
            self.roots.append(index)
        else:
            self.nodes[parent].setdefault("children", []).append(index)
        return index

    def place(
        self,
        node: int,
        position: Float[np.ndarray, "3"] | None = None,
        wxyz: Float[np.ndarray, "4"] | None = None,
    ) -> None:
        """Puts a node at a fixed pose of our axes in its parent, m."""
        if position is not None:
            self.nodes[node]["translation"] = to_y_up(position).tolist()
        if wxyz is not None:
            self.nodes[node]["rotation"] = to_y_up_xyzw(wxyz).tolist()

    def move(
        self,
        node: int,
        times: int,
        position: Float[np.ndarray, "T 3"] | None = None,
        wxyz: Float[np.ndarray, "T 4"] | None = None,
        *,
        scale: Float[np.ndarray, "T 3"] | None = None,
        interpolation: str = "LINEAR",
    ) -> None:
        """Animates a node in our axes.

        Args:
            node: Which.
            times: Accessor of the key times, s.
            position: In the parent, m.
            wxyz: In the parent.
            scale: Along glTF's axes of the node.
            interpolation: ``LINEAR``, or ``STEP`` to hold every value until the next key.
        """
        if position is not None:
            self._channel(node, "translation", times, to_y_up(position), interpolation)
            self.place(node, position[0])
        if wxyz is not None:
            wxyz = _continuous(wxyz)
            self._channel(node, "rotation", times, to_y_up_xyzw(wxyz), interpolation)
            self.place(node, wxyz=wxyz[0])
        if scale is not None:
            self._channel(node, "scale", times, scale, interpolation)
            self.nodes[node]["scale"] = scale[0].tolist()

    def _channel(self, node: int, path: str, times: int, values: np.ndarray, how: str) -> None:
        self._samplers.append(
            {"input": times, "output": self.add_array(values), "interpolation": how}
        )
        self._channels.append(
            {"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}}
        )

    def document(self, name: str, generator: str, extras: Json) -> Json:
        """The JSON of the file; empty tables are left out, as glTF wants."""
        animations = []
        if self._channels:
            animations = [{"name": name, "channels": self._channels, "samplers": self._samplers}]
        tables = {
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self._materials,
            "skins": self.skins,
            "animations": animations,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._bytes)}] if self._bytes else [],
        }
        return {
            "asset": {"version": "2.0", "generator": generator, "extras": extras},
            "scene": 0,
            "scenes": [{"name": name, "nodes": self.roots}],
            **{key: table for key, table in tables.items() if table},
        }

    def write(self, path: str | Path, document: Json) -> None:
        """Writes the file, whole or not at all."""
        text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self._bytes) + b"\0" * (-len(self._bytes) % 4)
        chunks = struct.pack("<II", len(text), JSON_CHUNK) + text
        if data:
            chunks += struct.pack("<II", len(data), BIN_CHUNK) + data
        with written_whole(path) as file:
            file.write(struct.pack("<III", MAGIC, 2, 12 + len(chunks)))
            file.write(chunks)


def _continuous(wxyz: Float[np.ndarray, "T 4"]) -> Float[np.ndarray, "T 4"]:
    """The same turns with signs that never jump: some programs blend components one by one."""
    flips = np.einsum("ti,ti->t", wxyz[1:], wxyz[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])
    return wxyz * signs[:, None]
