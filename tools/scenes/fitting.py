"""Fits a wrist and the postures of its hand to a body, in all key poses at once.

Least squares over the wrist pose and one posture for each key pose: pads lie on the surface, face
it, stay at the same places of the body and away from its edges; postures are comfortable; nothing
is pushed into the body or what it stands on; the palm keeps its distance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics import posed_capsules, posed_pads
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.task import Task, comfortable_pose, is_free

# Units in which a residual of one is as bad as another: m, rad.
_TOUCH = 0.0006
_DRIFT = 0.004
_ROUGH = 0.004
_DEPTH = 0.0004
_PALM = 0.0015
_EDGE_ROOM, _EDGE = 0.007, 0.002
_POSTURE = np.radians(28.0)
_PALM_JOINTS = np.radians(8.0)
_WRIST_TURN = np.radians(25.0)
_FLOOR_ROOM = 0.006
# Steps of the variables: m, rad.
_STEP_PLACE, _STEP_TURN, _STEP_Q = 1e-2, 0.2, 0.3
_AXIS_SAMPLES = 5
_MAX_EDGES = 40


class Fit(NamedTuple):
    """A fitted wrist with its postures."""

    wrist: Pose
    q: Float[np.ndarray, "K J"]
    cost: float


class _Layout(NamedTuple):
    start: Pose
    reference: np.ndarray
    tolerance: np.ndarray
    used: np.ndarray


def fit_wrist(task: Task, start: Pose, *, max_steps: int = 40) -> Fit:
    """Fits from one wrist pose in the body's frame."""
    model, keys = task.model, len(task.turns)
    reference = comfortable_pose(model, task.style)
    tolerance = np.where(is_free(model), _POSTURE, 2.0 * _POSTURE)
    tolerance[(model.joints.upper - model.joints.lower) < np.radians(30.0)] = _PALM_JOINTS
    layout = _Layout(start, reference, tolerance, np.flatnonzero(task.digits))
    room = np.minimum(0.03, 0.2 * (model.joints.upper - model.joints.lower))
    low = np.concatenate([np.full(6, -8.0), np.tile((model.joints.lower + room) / _STEP_Q, keys)])
    high = np.concatenate([np.full(6, 8.0), np.tile((model.joints.upper - room) / _STEP_Q, keys)])
    if task.swaps:
        low[3:5] = high[3:5] = 0.0
    x = np.concatenate([np.zeros(6), np.tile(reference / _STEP_Q, keys)])
    x = np.clip(x, low, high)
    # First to the spots through whatever is in the way, so that no digit ends on a wrong side.
    _, x = _descend(lambda x: _residuals(task, layout, x, rough=True), x, low, high, 12)
    cost, x = _descend(lambda x: _residuals(task, layout, x), x, low, high, max_steps)
    wrist, q = _unpack(task, layout, x[None])
    return Fit(wrist[0], q[0], cost)


def _descend(
    residuals: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    max_steps: int,
) -> tuple[float, np.ndarray]:
    """Levenberg-Marquardt between bounds; all differences of a step are taken in one call."""
    damping = 1e-2
    here = residuals(x[None])[0]
    for _ in range(max_steps):
        step = np.where(x + 1e-4 < high, 1e-4, -1e-4)
        J = ((residuals(x + np.diag(step)) - here) / step[:, None]).T
        gradient = J.T @ here
        # Variables that press against a bound stay where they are.
        free = (low < high) & ~(((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0)))
        H = J[:, free].T @ J[:, free]
        for _ in range(6):
            change = np.zeros_like(x)
            change[free] = -np.linalg.solve(
                H + damping * np.diag(np.diag(H) + 1e-3), gradient[free]
            )
            trial = np.clip(x + change, low, high)
            there = residuals(trial[None])[0]
            if there @ there < here @ here:
                break
            damping *= 5.0
        else:
            break
        gain = 1.0 - (there @ there) / (here @ here)
        x, here, damping = trial, there, max(damping / 5.0, 1e-6)
        if gain < 1e-4:
            break
    return 0.5 * float(here @ here), x


def _unpack(task: Task, layout: _Layout, x: np.ndarray) -> tuple[Pose, np.ndarray]:
    q = _STEP_Q * x[:, 6:].reshape(len(x), len(task.turns), task.model.num_joints)
    if task.swaps:
        shift = Pose(_STEP_PLACE * x[:, :3], rotation.exp(_STEP_TURN * x[:, 5:6] * [0.0, 0.0, 1.0]))
        return shift @ layout.start, q
    turn = rotation.exp(_STEP_TURN * x[:, 3:6])
    wrist = Pose.normalized(
        layout.start.position + _STEP_PLACE * x[:, :3],
        rotation.multiply(layout.start.wxyz, turn),
    )
    return wrist, q


def _residuals(task: Task, layout: _Layout, x: np.ndarray, *, rough: bool = False) -> np.ndarray:
    wrist, q = _unpack(task, layout, x)
    count, keys = len(x), len(task.turns)
    used = layout.used
    parts: list[np.ndarray] = [
        (_STEP_TURN / _WRIST_TURN) * x[:, 3:6],
        ((q - layout.reference) / layout.tolerance / np.sqrt(keys)).reshape(count, -1),
    ]
    pads = []
    for k in range(keys):
        root = task.relative[k] @ wrist
        posed = posed_pads(task.model, q[:, k], root)
        here = posed.position[:, used]
        pads.append(here)
        if rough:
            continue
        value, gradient = _sample(task, here)
        facing = np.einsum("ndi,ndi->nd", posed.normal[:, used], gradient)
        # A thumb presses with its side, too.
        ease = np.where(used == 0, 0.8, 2.0)
        parts += [value / _TOUCH, ease * (1.0 + facing)]
        parts.append(np.maximum(_EDGE_ROOM - _edge_distance(task, here), 0.0) / _EDGE)
        parts += _clearances(task, q[:, k], root)
    middle = pads[keys // 2]
    parts += [((here - middle) / _DRIFT).reshape(count, -1) for here in pads if here is not middle]
    parts.append(
        ((middle - task.spots[used]) / (_ROUGH if rough else task.spread)).reshape(count, -1)
    )
    return np.concatenate(parts, axis=1)


def _clearances(task: Task, q: np.ndarray, root: Pose) -> list[np.ndarray]:
    """Depths of the digits and of the palm's skin, and the height over what the body stands on."""
    capsules = task.model.capsules
    posed = posed_capsules(task.model, q, root)
    share = np.linspace(0.0, 1.0, _AXIS_SAMPLES)[:, None]
    axis = posed.start[:, :, None] + share * (posed.end - posed.start)[:, :, None]
    value, _ = _sample(task, axis.reshape(len(q), -1, 3))
    gap = value.reshape(*axis.shape[:3]).min(axis=2) - capsules.radius
    low = axis[..., 2].min(axis=2) - capsules.radius
    palm = capsules.digit < 0
    nearest = gap[:, palm].min(axis=1, keepdims=True)
    least, most = task.palm_gap
    parts = [
        np.maximum(-gap[:, ~palm], 0.0) / _DEPTH,
        np.maximum(least - gap[:, palm], 0.0) / _PALM,
        0.3 * np.maximum(nearest - most, 0.0) / _PALM,
    ]
    if np.isfinite(task.lowest):
        parts.append(np.maximum(task.lowest + _FLOOR_ROOM - low, 0.0) / _PALM)
    return parts


def _edge_distance(task: Task, points: np.ndarray) -> np.ndarray:
    """Distance of points to the nearest sharp edge, m; infinity on a body with few or none."""
    edges = task.body.sharp_edges
    if not 0 < len(edges) <= _MAX_EDGES:
        return np.full(points.shape[:-1], np.inf)
    start, end = task.body.vertices[edges[:, 0]], task.body.vertices[edges[:, 1]]
    along = end - start
    share = np.einsum("...ei,ei->...e", points[..., None, :] - start, along)
    share = np.clip(share / np.einsum("ei,ei->e", along, along), 0.0, 1.0)
    nearest = start + share[..., None] * along
    return np.linalg.norm(points[..., None, :] - nearest, axis=-1).min(axis=-1)


def _sample(task: Task, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value, gradient = sample_field(task.distances, np.ascontiguousarray(points.reshape(-1, 3)))
    return value.reshape(points.shape[:-1]), gradient.reshape(points.shape)
