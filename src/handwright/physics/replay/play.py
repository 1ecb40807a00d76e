"""A motion played again by a simulated hand, to see whether it holds what it holds in the plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.events import Push
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math.pose import Pose
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.free_bodies import BODY
from handwright.physics.replay.plan import HandPlan, hand_plan, skin_over_capsules
from handwright.physics.replay.world import GUIDE, GUIDE_LAG, Contacting, replay_mjcf
from handwright.physics.shapes import body_shape


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How a motion is replayed, and what counts as dropped."""

    squeeze: float = 4.0
    """Normal force that each contact is to have beyond the planned one, N, as people press harder
    than they must. It is given as far as the forces then still add up to the planned wrench."""
    cone_share: float = 0.7
    """How much of the friction cones pressing joints count on."""
    contacting: Contacting = field(default_factory=Contacting)
    stray: float = 0.02
    """How far the centre of mass of a body may be off the plan, m."""
    turn: float = np.pi / 6.0
    """How far a body may be turned off the plan, rad."""
    sink: float = 0.01
    """How far a body may go down after the plan's end, m."""


@dataclass(frozen=True, slots=True)
class BodyOutcome:
    """How one body fared."""

    position_error: float
    """Largest distance of its centre of mass from the plan, while that lasts, m."""
    turn_error: float
    """Largest turn of its visible axes against the plan, while that lasts, rad; 0 for a ball."""
    drift: float
    """How far it has moved between the plan's end and the end of the hold, m."""
    sunk: float
    """How far it has gone down in that time, m."""
    dropped: bool
    """Whether it left the plan by more than the settings allow, or sank after the plan's end."""


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What happened."""

    motion: Clip
    """As simulated, with the hold after the plan's end; without contacts."""
    bodies: Mapping[str, BodyOutcome]
    notes: tuple[str, ...]
    """What the simulation leaves out for this clip."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", MappingProxyType(dict(self.bodies)))

    @property
    def dropped(self) -> bool:
        """Whether any body was."""
        return any(outcome.dropped for outcome in self.bodies.values())


def replay(
    clip: Clip,
    *,
    hold: float = 2.0,
    pushes: Sequence[Push] = (),
    settings: ReplaySettings | None = None,
) -> Replayed:
    """Simulates a motion: hands follow the plan, bodies do what contacts make them do.

    Roots follow the planned ones, stiffly. Joints are driven by position servos that follow the
    planned values, and by the torques with which the planned contact forces press, so that the
    servos need not give way to press. After the plan's end its last pose and torques stay.

    Args:
        clip: The plan, with contact forces.
        hold: How long the end is held, s.
        pushes: What disturbs the bodies; see ``random_pushes``.
        settings: See there.
    """
    settings = ReplaySettings() if settings is None else settings
    if not (np.isfinite(hold) and hold >= 0.0):
        raise InvalidValueError(f"hold is {hold}; expected seconds, 0 or more.")
    for push in pushes:
        if push.body not in clip.problem.bodies:
            raise UnknownNameError("body of a push", push.body, clip.problem.bodies)
    bulges = {name: skin_over_capsules(clip, name) for name in clip.hands}
    model = mujoco.MjModel.from_xml_string(replay_mjcf(clip.problem, bulges, settings.contacting))
    times = _frames(clip, hold)
    run = _Replay(clip, model, times, pushes, settings)
    motion = run.simulate()
    outcomes = {
        name: _outcome(clip, motion, name, body, settings)
        for name, body in clip.problem.bodies.items()
    }
    return Replayed(motion, outcomes, _notes(clip))


def _frames(clip: Clip, hold: float) -> Float[np.ndarray, " N"]:
    """The clip's frames, and as many a second while it is held."""
    step = 1.0 / clip.fps if clip.num_frames > 1 else 1.0 / 60.0
    return np.concatenate(
        [clip.times, clip.times[-1] + step * np.arange(1, round(hold / step) + 1)]
    )


class _Replay:
    """One simulation."""

    def __init__(
        self,
        clip: Clip,
        model: mujoco.MjModel,
        times: Float[np.ndarray, " N"],
        pushes: Sequence[Push],
        settings: ReplaySettings,
    ) -> None:
        self.clip, self.model, self.times, self.pushes = clip, model, times, pushes
        self.data = mujoco.MjData(model)
        step = model.opt.timestep
        # Frames may lie between steps; the last one too has to be reached.
        num_steps = math.ceil(float(times[-1] - times[0]) / step - 1e-6) + 1
        self.steps = times[0] + step * np.arange(num_steps)
        self.plans = {
            name: hand_plan(
                clip,
                name,
                self.steps,
                squeeze=settings.squeeze,
                share=settings.cone_share,
                lead=2.0 * GUIDE_LAG,
            )
            for name in clip.hands
        }
        self.drives = {
            name: _Drive(model, name, clip.problem.hands[name].joints.names) for name in clip.hands
        }
        self.bodies = {name: model.body(BODY + name).id for name in clip.bodies}

    def simulate(self) -> Clip:
        """Runs it, and gives the motion at the frames."""
        self._start()
        hands: dict[str, list[tuple[Pose, np.ndarray]]] = {name: [] for name in self.plans}
        bodies: dict[str, list[Pose]] = {name: [] for name in self.bodies}
        frame = 0
        data = self.data
        half = 0.5 * self.model.opt.timestep
        for k, time in enumerate(self.steps):
            if frame < len(self.times) and time >= self.times[frame] - half:
                for name, drive in self.drives.items():
                    hands[name].append((_pose(data.qpos[drive.root]), data.qpos[drive.q].copy()))
                for name in self.bodies:
                    bodies[name].append(_pose(data.joint(BODY + name).qpos))
                frame += 1
            for name, drive in self.drives.items():
                drive.apply(data, self.plans[name], k)
            self._push(float(time))
            mujoco.mj_step(self.model, data)
        return Clip(
            self.clip.problem,
            self.times,
            {
                name: HandMotion(
                    Pose.stack([root for root, _ in rows]), np.array([q for _, q in rows])
                )
                for name, rows in hands.items()
            },
            {name: Pose.stack(poses) for name, poses in bodies.items()},
            ContactTrack.empty(),
            self.clip.provenance,
        )

    def _start(self) -> None:
        for name, drive in self.drives.items():
            drive.start(self.data, self.clip.hands[name])
        for name, pose in self.clip.bodies.items():
            self.data.joint(BODY + name).qpos = [*pose.position[0], *pose.wxyz[0]]
        mujoco.mj_forward(self.model, self.data)

    def _push(self, time: float) -> None:
        self.data.xfrc_applied[:] = 0.0
        for push in self.pushes:
            if push.start <= time < push.end:
                row = self.bodies[push.body]
                turn = self.data.xmat[row].reshape(3, 3)
                arm = turn @ push.point + self.data.xpos[row] - self.data.xipos[row]
                self.data.xfrc_applied[row, :3] += push.force
                self.data.xfrc_applied[row, 3:] += np.cross(arm, push.force)


class _Drive:
    """Where a hand's numbers are in the simulation, and how it is driven."""

    def __init__(self, model: mujoco.MjModel, name: str, joints: Sequence[str]) -> None:
        prefix = f"{name}/"
        first = int(model.joint(prefix + "root").qposadr[0])
        self.root = slice(first, first + 7)
        self.guide = int(model.body(prefix + GUIDE).mocapid[0])
        found = [model.joint(prefix + joint) for joint in joints]
        self.q = np.array([int(joint.qposadr[0]) for joint in found], dtype=np.int64)
        self.dof = np.array([int(joint.dofadr[0]) for joint in found], dtype=np.int64)
        self.damping = model.dof_damping[self.dof].copy()
        ids = [joint.id for joint in found]
        actuated = [ids.index(int(j)) if int(j) in ids else -1 for j in model.actuator_trnid[:, 0]]
        self.controls = np.flatnonzero(np.array(actuated) >= 0)
        self.controlled = np.array(actuated, dtype=np.int64)[self.controls]

    def start(self, data: mujoco.MjData, motion: HandMotion) -> None:
        """Puts the hand where the plan begins."""
        data.qpos[self.root] = [*motion.root.position[0], *motion.root.wxyz[0]]
        data.qpos[self.q] = motion.q[0]

    def apply(self, data: mujoco.MjData, plan: HandPlan, step: int) -> None:
        """Sets guide, servos and torques."""
        data.mocap_pos[self.guide] = plan.root.position[step]
        data.mocap_quat[self.guide] = plan.root.wxyz[step]
        data.ctrl[self.controls] = plan.q[step, self.controlled]
        # Dampers should resist only what is not planned.
        data.qfrc_applied[self.dof] = plan.torque[step] + self.damping * plan.velocity[step]


def _pose(qpos: Float[np.ndarray, " 7"]) -> Pose:
    return Pose.normalized(qpos[:3].copy(), qpos[3:].copy())


def _outcome(
    clip: Clip, motion: Clip, name: str, body: RigidBody, settings: ReplaySettings
) -> BodyOutcome:
    planned, found = clip.bodies[name], motion.bodies[name]
    during = found[: clip.num_frames]
    error = np.linalg.norm(during.apply(body.center) - planned.apply(body.center), axis=-1)
    turn = 0.0
    for axis in body_shape(body).axes:
        cosine = np.einsum("ti,ti->t", during.rotate(axis), planned.rotate(axis))
        turn = max(turn, float(np.arccos(np.clip(cosine, -1.0, 1.0)).max()))
    held = found[clip.num_frames - 1 :].apply(body.center)
    moved = held - held[0]
    up = -clip.problem.gravity
    length = float(np.linalg.norm(up))
    sunk = float(np.max(-moved @ up)) / length if length > 0.0 else 0.0
    drift = float(np.linalg.norm(moved, axis=-1).max())
    position = float(error.max())
    is_off = position > settings.stray or turn > settings.turn
    return BodyOutcome(position, turn, drift, sunk, is_off or sunk > settings.sink)


def _notes(clip: Clip) -> tuple[str, ...]:
    notes = [
        f"{name} is not convex; its hull was simulated."
        for name, body in clip.problem.bodies.items()
        if not body_shape(body).is_exact
    ]
    if not np.isfinite(clip.contacts.force).any():
        notes.append("The clip has no contact forces; joints follow the plan but do not press.")
    return tuple(notes)
