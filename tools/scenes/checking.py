"""What can be said of a scene without solving it: clearances, reach, forces, the arm.

The fingers are those of ``sketch``. Depths are of the skin, by exact distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.clip import Clip
from handwright.core.frozen import freeze_arrays
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.geometry.distance.capsules import capsule_capsule
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.support import surface_contacts
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.hands.skin.build import skin_of
from handwright.kinematics import posed_capsules, posed_skin
from handwright.kinematics.skin.samples import vertex_capsules
from handwright.mechanics import force_contacts, least_forces, required_wrench
from handwright.scenes import load_scene
from tools.scenes.files import load_holds, load_person
from tools.scenes.person import FOREARM, UPPER_ARM
from tools.scenes.registry import SCENES
from tools.scenes.sketch import sketch
from tools.scenes.stage import SHOULDERS
from tools.scenes.task import Span

_TOUCH = 0.0015
_SWIVELS = 48


@dataclass(frozen=True, slots=True, eq=False)
class SceneReport:
    """Figures of one scene, by frame."""

    palm_depth: Float[np.ndarray, " T"]
    """Deepest skin of palms, metacarpals and wrists in any body, m."""
    skin_depth: Float[np.ndarray, " T"]
    """Deepest skin of all in any body, m."""
    table_depth: Float[np.ndarray, " T"]
    """Deepest skin in the surroundings, m."""
    body_depth: Float[np.ndarray, " T"]
    """Deepest body in the surroundings or in another body, m."""
    hand_depth: Float[np.ndarray, " T"]
    """Deepest capsule of one hand in another hand's, m."""
    num_touching: Int[np.ndarray, " T"]
    """Digits whose last phalanx touches the body that it should hold, over all hands."""
    is_held: Bool[np.ndarray, " T"]
    """Whether some hand should hold some body."""
    is_feasible: Bool[np.ndarray, " T"]
    """Whether these contacts, with those of the surroundings, give every body its motion."""
    wrist_bend: Float[np.ndarray, " T"]
    """Least angle between hand and forearm for an arm that reaches the wrist, rad; infinity
    where none does."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __str__(self) -> str:
        held = self.is_held
        share = 100.0 * self.is_feasible[held].mean() if held.any() else 0.0
        deepest = (
            f"{what} {1e3 * float(depth.max()):.2f}"
            for what, depth in (
                ("palm", self.palm_depth),
                ("skin", self.skin_depth),
                ("skin in surroundings", self.table_depth),
                ("bodies", self.body_depth),
                ("hand in hand", self.hand_depth),
            )
        )
        return (
            f"deepest, mm: {', '.join(deepest)}; digits "
            f"{self.num_touching[held].min() if held.any() else 0} to {self.num_touching.max()}; "
            f"forces in {share:.0f} % of held frames, in {100.0 * self.is_feasible.mean():.0f} % "
            f"of all; wrist bent by up to {np.degrees(self.wrist_bend.max()):.0f} degrees"
        )


def check_scene(name: str, *, step: int = 1) -> SceneReport:
    """Looks at every ``step``-th frame of a scene."""
    problem, spans = load_scene(name), SCENES[name].spans
    clip = sketch(problem, spans, load_holds())
    shoulders = dict(SHOULDERS)
    if SCENES[name].make_person is not None:
        person = load_person(name)
        for side in problem.hands:
            shoulders[side] = person.joint_pose(f"{side.capitalize()}Arm").position
    return check_clip(clip, spans, shoulders, step=step)


def check_clip(
    clip: Clip,
    spans: tuple[Span, ...],
    shoulders: Mapping[str, Float[np.ndarray, "*T 3"]],
    *,
    step: int = 1,
) -> SceneReport:
    """Looks at every ``step``-th frame of a clip with stand-in fingers.

    Args:
        clip: From ``sketch``.
        spans: Which hand holds what.
        shoulders: By side, one place or one for each frame, m.
        step: How many frames to go on each time.
    """
    frames = np.arange(0, clip.num_frames, step)
    exact = {name: ExactDistance.from_body(b) for name, b in clip.problem.bodies.items()}
    palm, skin, table = _depths(clip, frames, exact)
    touching, held, feasible = _forces(clip, frames, spans, exact)
    bend = np.max([_wrist_bend(clip, name, frames, shoulders) for name in clip.hands], axis=0)
    bodies = _body_depths(clip, frames, exact)
    hands = _hand_depths(clip, frames)
    return SceneReport(palm, skin, table, bodies, hands, touching, held, feasible, bend)


def _depths(
    clip: Clip, frames: np.ndarray, exact: dict[str, ExactDistance]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    palm, whole, table = (np.zeros(len(frames)) for _ in range(3))
    for name, motion in clip.hands.items():
        model = clip.problem.hands[name]
        skin = skin_of(model)
        is_palm = model.capsules.digit[vertex_capsules(model, skin)] < 0
        for row, t in enumerate(frames):
            vertices = posed_skin(model, skin, motion.q[t], motion.root[t])
            for body, poses in clip.bodies.items():
                local = poses[t].inverse().apply(vertices)
                low, high = clip.problem.bodies[body].bounds
                near = np.flatnonzero(np.all((local > low) & (local < high), axis=1))
                if near.size:
                    depth = -exact[body].signed_distance(local[near])[0]
                    whole[row] = max(whole[row], depth.max())
                    palm[row] = max(palm[row], depth[is_palm[near]].max(initial=0.0))
            for surface in clip.problem.environment:
                table[row] = max(table[row], -surface_distance(surface, vertices)[0].min())
    return palm, whole, table


def _body_depths(clip: Clip, frames: np.ndarray, exact: dict[str, ExactDistance]) -> np.ndarray:
    depth = np.zeros(len(frames))
    for name, poses in clip.bodies.items():
        body = clip.problem.bodies[name]
        for row, t in enumerate(frames):
            vertices = poses[t].apply(body.vertices)
            for surface in clip.problem.environment:
                depth[row] = max(depth[row], -surface_contacts(surface, body, poses[t]).distance)
            for other, others in clip.bodies.items():
                local = others[t].inverse().apply(vertices)
                low, high = clip.problem.bodies[other].bounds
                if other != name and np.all((local > low) & (local < high), axis=1).any():
                    depth[row] = max(depth[row], -exact[other].signed_distance(local)[0].min())
    return depth


def _hand_depths(clip: Clip, frames: np.ndarray) -> np.ndarray:
    depth = np.zeros(len(frames))
    for one, other in combinations(clip.hands, 2):
        for row, t in enumerate(frames):
            a, b = (
                posed_capsules(
                    clip.problem.hands[name], clip.hands[name].q[t], clip.hands[name].root[t]
                )
                for name in (one, other)
            )
            for i, j in product(range(len(a.radius)), range(len(b.radius))):
                gap = capsule_capsule(
                    a.start[i], a.end[i], a.radius[i], b.start[j], b.end[j], b.radius[j]
                )[0]
                depth[row] = max(depth[row], -gap)
    return depth


def _forces(
    clip: Clip, frames: np.ndarray, spans: tuple[Span, ...], exact: dict[str, ExactDistance]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    touching = np.zeros(len(frames), dtype=np.int64)
    held, feasible = np.zeros(len(frames), dtype=bool), np.ones(len(frames), dtype=bool)
    for name, body in clip.problem.bodies.items():
        need = required_wrench(clip.problem.track(name), body, gravity=clip.problem.gravity)
        mine = [span for span in spans if span.body == name]
        for row, t in enumerate(frames):
            points, normals, friction = support_contacts(clip.problem, name, int(t))
            for span in mine:
                if not span.first <= t <= span.last:
                    continue
                held[row] = True
                found, into, digits = _hand_contacts(clip, span, int(t), exact[name])
                touching[row] += digits
                points, normals = np.concatenate([points, found]), np.concatenate([normals, into])
                friction = np.append(friction, np.full(len(found), body.friction))
            if len(points) == 0:
                feasible[row] = False
                continue
            contacts = force_contacts(points, normals, center=need.center[t], friction=friction)
            solved = least_forces(
                contacts, need.wrench[t], force_scale=9.81 * body.mass,
                length_scale=body.radius_of_gyration, tolerance=1e-2,
            )  # fmt: skip
            feasible[row] &= solved.is_feasible
    return touching, held, feasible


def _hand_contacts(
    clip: Clip, span: Span, t: int, exact: ExactDistance
) -> tuple[np.ndarray, np.ndarray, int]:
    """Points and inward normals where a hand touches a body, and how many digits do so."""
    model, motion, body = (
        clip.problem.hands[span.hand],
        clip.hands[span.hand],
        clip.bodies[span.body][t],
    )
    posed = posed_capsules(model, motion.q[t], body.inverse() @ motion.root[t])
    gaps = capsule_gaps(exact, posed.start, posed.end, posed.radius, reach=_TOUCH)
    near = np.flatnonzero(gaps.gap < _TOUCH)
    tips = [digit.pad.link for digit in model.digits]
    digits = int(np.isin(model.capsules.link[near], tips).sum())
    return body.apply(gaps.point[near]), -body.rotate(gaps.outward[near]), digits


def support_contacts(
    problem: Problem, name: str, t: int, reach: float = 1e-3
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Float[np.ndarray, " N"]]:
    """Where a body rests on the surroundings: points, normals into the body, friction."""
    body, pose = problem.bodies[name], problem.track(name).pose[t]
    points, normals, friction = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros(0)]
    for surface in problem.environment:
        found = surface_contacts(surface, body, pose)
        rests = found.gap < reach
        points.append(found.point[rests])
        normals.append(found.normal[rests])
        friction.append(np.full(int(rests.sum()), surface.friction))
    return np.concatenate(points), np.concatenate(normals), np.concatenate(friction)


def _wrist_bend(
    clip: Clip, name: str, frames: np.ndarray, shoulders: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Least bend of the wrist over the ways in which the elbow can swing, rad."""
    root, side = clip.hands[name].root, clip.problem.hands[name].side
    places = np.broadcast_to(shoulders[side], root.position.shape)
    tables = [s for s in clip.problem.environment if isinstance(s, EnvironmentBox)]
    bends = np.full(len(frames), np.inf)
    for row, t in enumerate(frames):
        shoulder = places[t]
        reach = root.position[t] - shoulder
        distance = float(np.linalg.norm(reach))
        if distance >= UPPER_ARM + FOREARM:
            continue
        along = reach / distance
        share = (distance**2 + UPPER_ARM**2 - FOREARM**2) / (2.0 * distance)
        radius = np.sqrt(max(UPPER_ARM**2 - share**2, 0.0))
        first = np.cross(along, [0.0, 0.0, 1.0])
        first /= np.linalg.norm(first)
        second = np.cross(along, first)
        angle = np.linspace(0.0, 2.0 * np.pi, _SWIVELS, endpoint=False)[:, None]
        elbow = shoulder + share * along + radius * (np.cos(angle) * first + np.sin(angle) * second)
        clear = np.ones(len(elbow), dtype=bool)
        for surface in tables:
            middle = 0.5 * (elbow + root.position[t])
            clear &= (surface_distance(surface, elbow)[0] > 0.03) & (
                surface_distance(surface, middle)[0] > 0.03
            )
        # An elbow is not lifted above the shoulder.
        clear &= elbow[:, 2] < shoulder[2]
        forearm = (root.position[t] - elbow) / FOREARM
        x = root[t].rotate(np.array([1.0, 0.0, 0.0]))
        if clear.any():
            bends[row] = np.arccos(np.clip(forearm[clear] @ x, -1.0, 1.0)).min()
    return bends
