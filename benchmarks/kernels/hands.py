"""Forward kinematics against mujoco, and inverse kinematics against mink."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.timing import best_seconds
from handwright.core.hand import HandModel
from handwright.errors import require
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kernels.decorators import compiled
from handwright.kinematics import posed_pads
from handwright.kinematics.fk import LinkPoints, link_points, place_points
from handwright.kinematics.ik.digit_table import Rig, rig_of
from handwright.kinematics.ik.hand import HandGoals, idle_weights, solve_hand
from handwright.kinematics.ik.problem import DigitWorkspace, IkWeights, make_work
from handwright.kinematics.obstacles import Around, capsules_around
from handwright.kinematics.tree import Links, Tree, links_for, tree_of
from handwright.physics import to_mjcf

_POSES = 1000
_FRAMES = 120
_ENOUGH = 1e-5


@compiled
def _place_many(tree: Tree, q: np.ndarray, links: Links, points: LinkPoints) -> None:
    for n in range(q.shape[0]):
        place_points(tree, q[n], links, points)


def measure_forward() -> dict[str, float]:
    """Positions and Jacobians (linear and angular) of five fingertips in random poses."""
    model = human()
    q = model.joints.random(np.random.default_rng(0), (_POSES,))
    link = np.array([digit.tip.link for digit in model.digits])
    local = np.array([digit.tip.position for digit in model.digits])
    found = link_points(link, local, model.num_joints)
    tree, links = tree_of(model), links_for(model)
    ours = best_seconds(lambda: _place_many(tree, q, links, found)) / _POSES

    engine = mujoco.MjModel.from_xml_string(to_mjcf(model, fixed_root=True))
    data = mujoco.MjData(engine)
    sites = [engine.site(f"tip:{digit.name}").id for digit in model.digits]
    column = np.array([engine.joint(name).dofadr[0] for name in model.joints.names])
    their_q = np.zeros((_POSES, engine.nq))
    their_q[:, column] = q
    their_linear = [np.zeros((3, engine.nv)) for _ in sites]
    their_angular = [np.zeros((3, engine.nv)) for _ in sites]
    targets = list(zip(sites, their_linear, their_angular, strict=True))

    def through_mujoco() -> None:
        for row in their_q:
            data.qpos[:] = row
            mujoco.mj_kinematics(engine, data)
            mujoco.mj_comPos(engine, data)
            for site, jacp, jacr in targets:
                mujoco.mj_jacSite(engine, data, jacp, jacr, site)

    theirs = best_seconds(through_mujoco) / _POSES
    # Both end at the last pose, so what is left in the arrays can be compared.
    error = max(
        np.abs(found.linear - np.array(their_linear)[:, :, column]).max(),
        np.abs(found.angular - np.array(their_angular)[:, :, column]).max(),
        np.abs(found.position - data.site_xpos[sites]).max(),
    )
    if not error < 1e-9:
        raise ArithmeticError(f"Kinematics disagree with mujoco by {error:g}: times mean nothing.")
    return {
        "fk_us": ours * 1e6,
        "fk_mujoco_us": theirs * 1e6,
        "fk_vs_mujoco": theirs / ours,
        "fk_error": float(error),
    }


def _motion(model: HandModel) -> tuple[np.ndarray, np.ndarray]:
    """A hand that closes and opens irregularly for four seconds at 30 Hz, and its pads."""
    rng = np.random.default_rng(1)
    times = np.arange(_FRAMES)[:, None] / 30.0
    phase, speed = rng.uniform(0.0, 2.0 * np.pi, (2, model.num_joints))
    share = 0.5 + 0.5 * np.sin(2.0 * np.pi * (1.0 + speed / 6.0) * times + phase)
    rest, closed = model.pose("rest"), model.pose("closed")
    q = model.joints.clamp(rest + 0.8 * share * (closed - rest))
    return q, posed_pads(model, q).position


@compiled
def _track(
    rig: Rig,
    around: Around,
    links: Links,
    start: np.ndarray,
    pads: np.ndarray,
    weights: tuple[IkWeights, IkWeights],
    work: DigitWorkspace,
    solved: np.ndarray,
) -> None:
    q = start.copy()
    reference = start.copy()
    normals = np.zeros_like(pads[0])
    active = np.ones(pads.shape[1], dtype=np.bool_)
    cost = np.zeros(pads.shape[1])
    for frame in range(pads.shape[0]):
        reference[:] = q
        goals = HandGoals(
            pads[frame], normals, active, reference, rig.table.lower, rig.table.upper,
            weights[0], weights[1],
        )  # fmt: skip
        solve_hand(rig, around, links, q, goals, 1, work, cost)
        solved[frame] = q


def measure_inverse() -> dict[str, float]:
    """Tracking of fingertip targets that a hand has really visited, frame by frame."""
    model = human()
    q, pads = _motion(model)
    solved = np.zeros_like(q)
    plain = IkWeights(object=0.0, digits=0.0, nail=0.0, posture=1e-12)
    avoiding = IkWeights()
    body_field = signed_distance_field(make_shape("sphere"))

    def arguments(field: Field | None, weights: IkWeights) -> tuple:
        return (
            rig_of(model), capsules_around(model, field), links_for(model), q[0], pads,
            (weights, idle_weights(weights)), make_work(), solved,
        )  # fmt: skip

    with_object = arguments(body_field, avoiding)
    collision = best_seconds(lambda: _track(*with_object)) / _FRAMES
    bare = arguments(None, plain)
    ours = best_seconds(lambda: _track(*bare)) / _FRAMES
    errors = np.linalg.norm(posed_pads(model, solved).position - pads, axis=-1)
    theirs, their_errors = _track_with_mink(model, q[0], pads)
    if errors.max() > their_errors.max():
        raise ArithmeticError(
            f"Our pads miss by {errors.max():g} m, mink's by {their_errors.max():g} m: "
            "the times are not of the same work."
        )
    return {
        "ik_ms": ours * 1e3,
        "ik_mink_ms": theirs * 1e3,
        "ik_vs_mink": theirs / ours,
        "ik_error_mm": float(errors.max() * 1e3),
        "ik_mink_error_mm": float(their_errors.max() * 1e3),
        "ik_collision_ms": collision * 1e3,
    }


def _track_with_mink(
    model: HandModel, start: np.ndarray, pads: np.ndarray
) -> tuple[float, np.ndarray]:
    """The same targets through mink; a frame ends within 0.01 mm of them, or after ten steps.

    Returns:
        Seconds for a frame, and the distances that are left, m.
    """
    mink = require("mink", extra="dev", feature="The inverse-kinematics benchmark")
    engine = mujoco.MjModel.from_xml_string(to_mjcf(model, fixed_root=True))
    column = np.array([engine.joint(name).qposadr[0] for name in model.joints.names])
    tasks = [
        mink.FrameTask(f"pad:{digit.name}", "site", position_cost=1.0, orientation_cost=0.0)
        for digit in model.digits
    ]
    limits = [mink.ConfigurationLimit(engine)]
    first = np.zeros(engine.nq)
    first[column] = start
    reached = np.zeros(pads.shape[:2])

    def track() -> None:
        configuration = mink.Configuration(engine, first)
        sites = [engine.site(f"pad:{digit.name}").id for digit in model.digits]
        for frame, places in enumerate(pads):
            for task, place in zip(tasks, places, strict=True):
                task.set_target(mink.SE3.from_translation(place))
            for _ in range(10):
                velocity = mink.solve_ik(
                    configuration, tasks, dt=1.0, solver="daqp", damping=1e-8, limits=limits
                )
                configuration.integrate_inplace(velocity, 1.0)
                left = np.linalg.norm(configuration.data.site_xpos[sites] - places, axis=-1)
                if left.max() <= _ENOUGH:
                    break
            reached[frame] = left

    return best_seconds(track, repeats=3) / len(pads), reached
