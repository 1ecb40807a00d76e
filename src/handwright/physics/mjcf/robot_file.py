"""Loads MJCF and URDF files, with errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from handwright.core.read_limits import check_limit
from handwright.errors import FileFormatError, InvalidValueError, UnknownNameError
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.hand_mapping import Coupling

# Elements that stand for many.
_REPEATING = ("replicate", "flexcomp", "composite", "hfield")


@dataclass(frozen=True, slots=True, eq=False)
class RobotFile:
    """A compiled description, posed with every hinge and slide at zero."""

    path: Path
    model: mujoco.MjModel
    data: mujoco.MjData
    mimics: dict[str, Coupling]
    """Mimic joints of a URDF."""

    def body(self, name: str) -> int:
        """Index of a body."""
        return self._index("body", [self.model.body(k).name for k in range(self.model.nbody)], name)

    def site(self, name: str) -> int:
        """Index of a site."""
        return self._index("site", [self.model.site(k).name for k in range(self.model.nsite)], name)

    def _index(self, kind: str, known: list[str], name: str) -> int:
        if name not in known:
            raise UnknownNameError(f"{kind} of '{self.path.name}'", name, filter(None, known))
        return known.index(name)

    def subtree(self, root: int) -> list[int]:
        """The body and all that hang on it, parents first."""
        bodies = [root]
        for body in range(root + 1, self.model.nbody):
            if self.model.body_parentid[body] in bodies:
                bodies.append(body)
        return bodies

    def turn(self, body: int) -> np.ndarray:
        """Rotation of a body in the world, (3, 3)."""
        return np.asarray(self.data.xmat[body]).reshape(3, 3)


def load_robot_file(path: str | Path) -> RobotFile:
    """Reads and compiles an MJCF or URDF file."""
    path = Path(path)
    if not path.is_file():
        raise InvalidValueError(f"No file '{path}'; expected the path of an MJCF or URDF file.")
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"'{path}' is not XML ({error}); expected an MJCF or URDF file."
        ) from error
    if root.tag not in ("mujoco", "robot"):
        raise FileFormatError(
            f"'{path}' starts with <{root.tag}>; expected <mujoco> (MJCF) or <robot> (URDF)."
        )
    check_limit(path, "elements", _num_elements(root))
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        # Fixed links may be what the mapping names, and visual meshes may be all there is.
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = False
        model = spec.compile()
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        raise FileFormatError(
            f"MuJoCo cannot compile '{path}': {' '.join(str(error).split())}. Mend the file; "
            "meshes must lie where it says (for a URDF, in its own folder)."
        ) from error
    data = mujoco.MjData(model)
    is_scalar = np.isin(
        model.jnt_type, [mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value]
    )
    data.qpos[model.jnt_qposadr[is_scalar]] = 0.0
    mujoco.mj_kinematics(model, data)
    return RobotFile(path, model, data, _mimics(root.iter("joint")))


def _num_elements(root: ElementTree.Element) -> float:
    """How much a description comes to with all that it says to repeat; grids count their points.

    MuJoCo would build it all before it could be counted.
    """
    own = 1.0
    for name in ("count", "nrow", "ncol"):
        for word in root.get(name, "").split():
            # Anything else is for MuJoCo to refuse.
            own *= max(float(word), 1.0) if re.fullmatch(r"\+?[0-9]{1,15}", word) else 1.0
    if root.tag not in _REPEATING:
        own = 1.0
    if root.tag == "hfield":
        # Read at once; a row of a thousand is as much as one body.
        own /= 1000.0
    return own * (1.0 + sum(_num_elements(child) for child in root))


def _mimics(joints: Iterable[ElementTree.Element]) -> dict[str, Coupling]:
    mimics = {}
    for joint in joints:
        mimic = joint.find("mimic")
        if mimic is not None:
            ratio, bias = mimic.get("multiplier", "1"), mimic.get("offset", "0")
            leader = str(mimic.get("joint"))
            name = str(joint.get("name"))
            try:
                mimics[name] = Coupling(leader, float(ratio), float(bias))
            except ValueError as error:
                raise FileFormatError(
                    f"Joint '{name}' mimics '{leader}' with multiplier '{ratio}' and offset "
                    f"'{bias}'; expected numbers."
                ) from error
    return mimics
