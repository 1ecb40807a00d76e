"""The equilibrium of equation (9) as residuals: what contact forces leave over of a wrench.

For given contacts the forces that leave least are found by non-negative least squares over the
edges of friction pyramids. What is left over is a residual of the posture; by the envelope theorem
its gradient is that of the contact points alone, with each force turning as its normal turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import Field, sample_field
from handwright.kernels.decorators import kernel
from handwright.mechanics import edge_wrenches, force_contacts, nonnegative_rows

# Edges of a pyramid.
_EDGES = 5
# Weight of the sum of normal forces, which keeps forces within bounds.
_EFFORT = 0.02
# Contacts that are less sure than this bear nothing.
_SURE = 0.2
# Distance over which the turn of the normal is measured, m.
_STEP = 0.004


class Load(NamedTuple):
    """What contacts must bear, in the frame of the body."""

    wrenches: Float[np.ndarray, "W 6"]
    """N and N m."""
    center: Float[np.ndarray, "3"]
    friction: float
    weight: float
    """Unit of force, N."""
    length: float
    """Unit of length, m."""
    field: Field


def balance(
    load: Load,
    points: Float[np.ndarray, "N 3"],
    outward: Float[np.ndarray, "N 3"],
    share: Float[np.ndarray, " N"],
) -> tuple[Float[np.ndarray, " 14"], Float[np.ndarray, "N 14 3"]]:
    """What is left over of the first and of the worst wrench, and the Jacobian by the points.

    Seven numbers for each: force in weights, moment, and the weighted sum of the normal forces.

    Args:
        load: What to bear.
        points: Contacts on the surface, m.
        outward: Unit normals.
        share: How sure each contact is, 0 to 1: others count as weak.
    """
    sure = np.flatnonzero(share > _SURE)
    value, jacobian = np.zeros(14), np.zeros((len(points), 14, 3))
    if not len(sure):
        first = load.wrenches[0] / load.weight
        value[:6] = np.append(first[:3], first[3:] / load.length)
        return value, jacobian
    points, outward = points[sure], outward[sure]
    contacts = force_contacts(points, -outward, center=load.center, friction=load.friction)
    edges, owner = edge_wrenches(contacts, _EDGES)
    scale = np.array([1.0, 1.0, 1.0, *[1.0 / load.length] * 3])[:, None]
    columns = np.concatenate([scale * edges, np.full((1, edges.shape[1]), _EFFORT)])
    columns[:6] *= share[sure][owner]
    # Levels of the edges for every wrench, and the wrench for which they leave most.
    wanted = np.zeros((len(load.wrenches), 7))
    wanted[:, :6] = load.wrenches / load.weight * scale[:, 0]
    levels = nonnegative_rows(columns, wanted)
    left = wanted - levels @ columns.T
    worst = int(np.einsum("ij,ij->i", left, left).argmax())
    turn = _normal_turn(load.field, points, outward)
    change = np.zeros((len(points), 6, 3))
    for k, row in enumerate((0, worst)):
        forces = np.zeros((len(points), 3))
        np.add.at(forces, owner, (columns[:3] * levels[row]).T)
        value[7 * k : 7 * k + 7] = left[row]
        _wrench_gradients(forces, points - load.center, -outward, turn, load.length, change)
        jacobian[sure, 7 * k : 7 * k + 6] = -change
    return value, jacobian


def _normal_turn(field: Field, points: np.ndarray, outward: np.ndarray) -> np.ndarray:
    """(N, 3, 3) change of the outward normal with the place."""
    # Steps along the surface: three axes made tangential, there and back.
    flat = np.eye(3) - outward[:, :, None] * outward[:, None, :]
    steps = _STEP * np.concatenate([flat, -flat], axis=1)
    around = (points[:, None] + steps).reshape(-1, 3)
    normals = _unit(sample_field(field, around)[1]).reshape(len(points), 6, 3)
    turn = (normals[:, :3] - normals[:, 3:]) / (2.0 * _STEP)
    return np.ascontiguousarray(turn.transpose(0, 2, 1))


@kernel
def _wrench_gradients(
    forces: np.ndarray,
    arm: np.ndarray,
    inward: np.ndarray,
    turn: np.ndarray,
    length: float,
    out: np.ndarray,
) -> None:
    """Writes the change (N, 6, 3) of the wrench of each contact with its place."""
    for n in range(forces.shape[0]):
        fx, fy, fz = forces[n, 0], forces[n, 1], forces[n, 2]
        px, py, pz = arm[n, 0], arm[n, 1], arm[n, 2]
        nx, ny, nz = inward[n, 0], inward[n, 1], inward[n, 2]
        for k in range(3):
            tx, ty, tz = -turn[n, 0, k], -turn[n, 1, k], -turn[n, 2, k]
            # The force turns with the normal.
            sx, sy, sz = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
            cx, cy, cz = sy * fz - sz * fy, sz * fx - sx * fz, sx * fy - sy * fx
            mx, my, mz = py * cz - pz * cy, pz * cx - px * cz, px * cy - py * cx
            if k == 0:
                my, mz = my - fz, mz + fy
            elif k == 1:
                mx, mz = mx + fz, mz - fx
            else:
                mx, my = mx - fy, my + fx
            out[n, 0, k], out[n, 1, k], out[n, 2, k] = cx, cy, cz
            out[n, 3, k], out[n, 4, k], out[n, 5, k] = mx / length, my / length, mz / length


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
