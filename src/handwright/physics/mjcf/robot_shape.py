"""Shapes, masses and frames of an imported hand, in link frames."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Capsules, Frames, Masses
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import MassProperties, combine
from handwright.math import rotation
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.fit_capsule import FittedCapsule, fit_box, fit_hull
from handwright.physics.mjcf.hand_mapping import HandMapping
from handwright.physics.mjcf.robot_file import RobotFile
from handwright.physics.mjcf.robot_joints import RobotTree

_Geom = mujoco.mjtGeom
_PLACEHOLDER_RADIUS = 0.003
"""Shapes within a ball of this radius only mark a place, m."""


def read_masses(robot: RobotFile, tree: RobotTree) -> Masses:
    """Mass, centre and inertia of each link; zero for steps between joints of one body."""
    num_links = len(tree.joints) + 1
    mass, center, inertia = (
        np.zeros(num_links),
        np.zeros((num_links, 3)),
        np.zeros((num_links, 3, 3)),
    )
    for link in range(num_links):
        parts = []
        for body in tree.bodies:
            if tree.link_of_body[body] != link or robot.model.body_mass[body] == 0.0:
                continue
            axes = tree.aim(np.asarray(robot.data.ximat[body]).reshape(3, 3).T)
            moments = axes.T @ np.diag(robot.model.body_inertia[body]) @ axes
            place = tree.place(robot.data.xipos[body], link)
            parts.append(MassProperties(float(robot.model.body_mass[body]), place, moments))
        if parts:
            whole = combine(*parts)
            mass[link], center[link], inertia[link] = whole.mass, whole.center, whole.inertia
    return Masses(mass, center, inertia)


def read_frames(robot: RobotFile, mapping: HandMapping, tree: RobotTree) -> Frames:
    """The file's body frames by name, and ``wrist``: the palm's origin, along the root's axes."""
    names, links, positions, rotations = [], [], [], []
    for body in tree.bodies:
        name = mapping.short(robot.model.body(body).name)
        if name:
            names.append(name)
            links.append(tree.link_of_body[body])
            positions.append(tree.place(robot.data.xpos[body], links[-1]))
            rotations.append(tree.turn.T @ robot.turn(body))
    if "wrist" not in names:
        palm = robot.body(mapping.root)
        names.append("wrist")
        links.append(tree.link_of_body[palm])
        positions.append(tree.place(robot.data.xpos[palm], links[-1]))
        rotations.append(np.eye(3))
    wxyz = np.array([rotation.from_matrix(_orthonormal(turn)) for turn in rotations])
    return Frames(tuple(names), np.array(links), np.array(positions), wxyz)


def _orthonormal(turn: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(turn)
    return np.asarray(left @ right)


def read_capsules(
    robot: RobotFile, mapping: HandMapping, tree: RobotTree, digit_of_link: np.ndarray
) -> Capsules:
    """Capsules fitted to the colliding shapes of the hand, or to all if none collide."""
    model = robot.model
    geoms = [
        geom
        for geom in range(model.ngeom)
        if int(model.geom_bodyid[geom]) in tree.link_of_body
        and model.geom_rbound[geom] > _PLACEHOLDER_RADIUS
    ]
    solid = [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]]
    rows: dict[str, tuple[int, np.ndarray, np.ndarray, float]] = {}
    for geom in solid or geoms:
        body = int(model.geom_bodyid[geom])
        link = tree.link_of_body[body]
        turn = np.asarray(robot.data.geom_xmat[geom]).reshape(3, 3)
        label = mapping.short(model.geom(geom).name) or mapping.short(model.body(body).name)
        for fit in _fits(robot, geom):
            name, suffix = label, 1
            while name in rows:
                suffix += 1
                name = f"{label}_{suffix}"
            ends = np.array([fit.start, fit.end]) @ turn.T + robot.data.geom_xpos[geom]
            start, end = tree.place(ends, link)
            rows[name] = link, start, end, fit.radius
    if not rows:
        raise InvalidValueError(
            f"'{robot.path.name}': the hand at '{mapping.root}' has no shapes to make capsules of; "
            "give its links collision or visual geometry."
        )
    links, starts, ends, radii = zip(*rows.values(), strict=True)
    link_array = np.array(links)
    return Capsules(
        tuple(rows),
        link_array,
        np.array(starts),
        np.array(ends),
        np.array(radii),
        digit_of_link[link_array],
    )


def _fits(robot: RobotFile, geom: int) -> list[FittedCapsule]:
    """Capsules in the frame of a geom."""
    model = robot.model
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom])
    up = np.array([0.0, 0.0, 1.0])
    if kind == _Geom.mjGEOM_SPHERE.value:
        return [FittedCapsule(np.zeros(3), np.zeros(3), float(size[0]))]
    if kind == _Geom.mjGEOM_CAPSULE.value:
        return [FittedCapsule(-size[1] * up, size[1] * up, float(size[0]))]
    if kind == _Geom.mjGEOM_CYLINDER.value and size[1] >= size[0]:
        reach = (size[1] - size[0]) * up
        return [FittedCapsule(-reach, reach, float(size[0]))]
    if kind == _Geom.mjGEOM_BOX.value:
        return fit_box(size)
    if kind == _Geom.mjGEOM_CYLINDER.value:
        return fit_hull(_disc(float(size[0]), float(size[1])))
    if kind == _Geom.mjGEOM_ELLIPSOID.value:
        return fit_hull(_ball() * size)
    if kind in (_Geom.mjGEOM_MESH.value, _Geom.mjGEOM_SDF.value):
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        vertices = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        return fit_hull(np.array(vertices, dtype=np.float64))
    raise InvalidValueError(
        f"'{robot.path.name}': geom '{model.geom(geom).name}' of the hand is a "
        f"{_Geom(kind).name[7:].lower()}, which has no inside; use a box or a mesh."
    )


def _disc(radius: float, half: float) -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
    rim = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(32)])
    up = np.array([0.0, 0.0, half])
    return np.concatenate([rim + up, rim - up])


def _ball() -> np.ndarray:
    """Even points of the unit sphere along a golden spiral."""
    k = np.arange(400) + 0.5
    z = 1.0 - 2.0 * k / 400.0
    angle = np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - z**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
