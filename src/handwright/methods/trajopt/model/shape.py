"""The body that is moved: its shape, its hinges, and the pushes that its grasp must resist."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.geometry.distance.rods import fit_rod
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.math import rotation
from handwright.methods.trajopt.model.model import FIELD, ROD, Body, PushScenarios

_TETRAHEDRON = np.array(
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
) / np.sqrt(3.0)
_OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
CORNERS = {0: np.zeros((0, 3)), 4: _TETRAHEDRON, 6: _OCTAHEDRON}
"""Unit directions by the number of pushes."""
# Distance of the corners of these solids from the middle, in radii of the inscribed ball.
_REACH = {0: 0.0, 4: 3.0, 6: np.sqrt(3.0)}
_MAX_CORNERS = 48
# Corners up to this far above the lowest rest on the same surface, m.
_RESTING = 2e-3
# Longest arm of moments, m. Small bodies have shorter ones: small moments turn them.
_ARM = 0.1
# Orders of the body's hinges. In the first, the middle hinge tilts the body sideways for a person
# who looks along y.
_HINGE_ORDERS = ((2, 1, 0), (0, 2, 1), (2, 0, 1), (0, 1, 2), (1, 2, 0), (1, 0, 2))
# Shares of the rotation to a goal at which the angle of the middle hinge is checked.
_CHECKED_SHARES = (0.25, 0.5, 0.75, 1.0)


def make_body(problem: Problem, name: str) -> Body:
    """Mass, shape and hinges: a capsule where it has that shape, else a signed distance field."""
    body = problem.bodies[name]
    points = body.vertices - body.center
    # Centres of faces are needed too, because the corners of a cube lie on a sphere.
    rod = fit_rod(np.concatenate([points, points[body.faces].mean(axis=1)]))
    spin = next(
        (np.array(g.spin) for g in problem.goals if g.feature.owner == name and g.spin is not None),
        np.zeros(3),
    )
    if rod is None:
        found = signed_distance_field(body)
        field = Field(
            np.array(found.values), found.origin - body.center, found.spacing, found.margin
        )
        start = end = np.zeros(3)
        radius, corners, corner_radius = 0.0, corner_points(points), 0.0
    else:
        start, end, radius = rod
        # The field of a rod is never read.
        field = Field(np.zeros((2, 2, 2), dtype=np.float32), np.zeros(3), 1.0, 0.0)
        corners, corner_radius = np.unique(np.stack([start, end]), axis=0), radius
    return Body(
        mass=body.mass,
        inertia=np.array(body.inertia),
        arm=min(_ARM, 2.0 * body.radius_of_gyration),
        rotation=np.array(rotation.to_matrix(problem.start[name].wxyz)),
        hinges=_hinge_axes(problem, name),
        spin=spin,
        kind=FIELD if rod is None else ROD,
        rod_start=np.array(start),
        rod_end=np.array(end),
        rod_radius=float(radius),
        field=field,
        corners=corners,
        corner_radius=float(corner_radius),
        reach=float(np.linalg.norm(points, axis=1).max()) + 1e-3,
    )


def corner_points(points: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "K 3"]:
    """Corners of the convex hull, thinned out to the ones that are farthest apart."""
    corners = points[ConvexHull(points).vertices]
    chosen = [int(np.argmax(np.linalg.norm(corners, axis=1)))]
    distance = np.linalg.norm(corners - corners[chosen[0]], axis=1)
    while len(chosen) < min(_MAX_CORNERS, len(corners)) and distance.max() > 1e-4:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(corners - corners[chosen[-1]], axis=1))
    return np.array(corners[chosen])


def _hinge_axes(problem: Problem, name: str) -> Float[np.ndarray, "3 3"]:
    """World axes of the hinges, in the order that keeps the angle of the middle one smallest.

    Three hinges are singular where the middle one is at a quarter turn. With axes a, b and c its
    angle is asin R[a, c], or its negative, for a body that has rotated by R since its start.
    """
    start = rotation.conjugate(problem.start[name].wxyz)
    vectors = [
        rotation.log(rotation.multiply(goal.wxyz, start))
        for goal in problem.goals
        if goal.feature.owner == name and goal.wxyz is not None
    ]
    rotations = np.array(
        [rotation.to_matrix(rotation.exp(s * one)) for one in vectors for s in _CHECKED_SHARES]
    )
    order = _HINGE_ORDERS[0]
    if len(rotations):
        # Rounding makes equally good orders equal, and then the first of them is taken.
        middle = [np.abs(rotations[:, a, c]).max().round(2) for a, _, c in _HINGE_ORDERS]
        order = _HINGE_ORDERS[int(np.argmin(middle))]
    return np.eye(3)[list(order)]


def resting_points(body: Body, count: int) -> Float[np.ndarray, "K 3"]:
    """Two or more of the lowest corners of a body at its start, chosen to be far apart.

    If the body has fewer, some are repeated.
    """
    height = body.corners @ body.rotation[2]
    low = body.corners[height <= height.min() + _RESTING]
    distance = np.linalg.norm(low[:, None] - low, axis=2)
    chosen = [int(n) for n in np.unravel_index(int(distance.argmax()), distance.shape)]
    while len(chosen) < count:
        chosen.append(int(distance[chosen].min(axis=0).argmax()))
    return low[chosen]


def push_corners(count: int, size: float) -> Float[np.ndarray, "D 3"]:
    """Forces whose convex hull contains all forces up to a size, N.

    Friction cones are convex: if contacts can resist two pushes, they can resist every mixture of
    the two with the same mixture of forces. So a few strong pushes stand for all weaker ones.

    Args:
        count: 4 for the corners of a tetrahedron, 6 for those of an octahedron, 0 for none.
        size: Largest of the weaker pushes, N.
    """
    return CORNERS[count] * (_REACH[count] * size)


def tip_pushes(body: RigidBody, count: int, size: float) -> PushScenarios:
    """Pushes at the point of a body that is farthest from its centre of mass.

    They stand for all pushes there up to a size, N; see ``push_corners``.
    """
    arms = body.vertices - body.center
    tip = arms[int(np.argmax(np.linalg.norm(arms, axis=1)))]
    return PushScenarios(
        np.tile(tip, (count, 1)), push_corners(count, size), float(_REACH[count] * size)
    )
