"""Mesh files are read and mended without networkx, which trimesh would use if it were there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from handwright.geometry.mesh.bodies import MESH_SUFFIXES

_CODE = """
import sys
sys.modules["networkx"] = None
import json
import numpy as np
import trimesh
from handwright.geometry.mesh.bodies import load_body, load_mesh, parts_overlap, repair_mesh

folder = sys.argv[1]
box = trimesh.creation.box((0.04, 0.05, 0.06))
ball = trimesh.creation.icosphere(subdivisions=2, radius=0.02)
ball.apply_translation((0.1, 0.0, 0.0))
both = trimesh.util.concatenate([box, ball])
found = {}
for suffix in sys.argv[2:]:
    path = f"{folder}/both{suffix}"
    both.export(path)
    vertices, faces = load_mesh(path)
    mended, closed, report = repair_mesh(vertices, faces[1:])
    body = load_body(path, density=1000.0)
    found[suffix] = [len(faces), report.filled_holes, body.mass, parts_overlap(mended, closed)]
print(json.dumps(found))
"""


def test_every_format_is_read_and_mended(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(tmp_path), *MESH_SUFFIXES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted(found) == sorted(MESH_SUFFIXES)
    for faces, holes, mass, overlap in found.values():
        assert faces == 12 + 320
        assert holes == [3]
        # A ball of 320 faces has 94 % of the volume of a round one.
        assert mass == pytest.approx(1000.0 * (0.04 * 0.05 * 0.06 + 3.17e-5), rel=0.01)
        assert not overlap
