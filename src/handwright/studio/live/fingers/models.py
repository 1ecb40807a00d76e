"""Props to choose from, and their models for the page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from handwright.core.problem import Problem
from handwright.io.gltf.write import save_glb
from handwright.math.pose import Pose
from handwright.methods.neural.sensing.body import sensed_body
from handwright.studio.live.fingers.props import handled_prop, prop_kinds
from handwright.studio.server.request_errors import unknown
from handwright.studio.uploads.catalogue import preview


def list_props() -> list[str]:
    """Names of all props."""
    return list(prop_kinds())


def make_prop_model(name: str) -> bytes:
    """A .glb of a prop alone; its distance grids are in the cache then, for the live process."""
    if name not in prop_kinds():
        raise unknown("prop", name)
    body = handled_prop(name).body
    sensed_body(body)
    problem = Problem(name, np.array([0.0, 1.0]), {}, {name: body}, start={name: Pose.identity()})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "prop.glb"
        save_glb(preview(problem), path, contacts=False, forces=False)
        return path.read_bytes()
