"""Run by Blender's Python: imports a .glb file and writes down what came in, as JSON and arrays.

Arguments: the .glb file, a .npz file to write vertices to
(and, beside it, a .json file to write the rest to), the frames per second,
and the times (s) at which to take the vertices.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np

path, out, fps, *times = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = int(fps)
bpy.ops.import_scene.gltf(filepath=path)

skinned = [thing for thing in scene.objects if any(m.type == "ARMATURE" for m in thing.modifiers)]
arrays = {}
for number, time in enumerate(times):
    # The importer puts time zero at frame zero.
    frame = float(time) * scene.render.fps
    scene.frame_set(int(frame), subframe=frame - int(frame))
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for thing in scene.objects:
        if thing.type != "MESH":
            continue
        seen = thing.evaluated_get(depsgraph)
        mesh = seen.to_mesh()
        points = np.zeros(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        matrix = np.array(seen.matrix_world)
        arrays[f"{number}/{thing.name}"] = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        seen.to_mesh_clear()
np.savez(out, **arrays)

report = {
    "blender": bpy.app.version_string,
    "armatures": {
        thing.name: [bone.name for bone in thing.data.bones]
        for thing in scene.objects
        if thing.type == "ARMATURE"
    },
    "skinned": {
        thing.name: {
            "groups": len(thing.vertex_groups),
            "vertices": len(thing.data.vertices),
            "materials": [material.name for material in thing.data.materials],
        }
        for thing in skinned
    },
    "actions": {action.name: list(action.frame_range) for action in bpy.data.actions},
    "meshes": [thing.name for thing in scene.objects if thing.type == "MESH"],
}
Path(out).with_suffix(".json").write_text(json.dumps(report), encoding="utf-8")
