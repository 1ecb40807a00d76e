"""A hand that reacts, frame by frame: the library object behind ``stepwise`` and live pushing."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float
from threadpoolctl import ThreadpoolController

from handwright.core.clip import Clip
from handwright.core.contact import Contact, ContactMode
from handwright.core.events import Push, pushed
from handwright.core.goal import Goal
from handwright.core.problem import Problem, goal_problems
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math.pose import Pose
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.contact_state import (
    ContactArrays,
    ContactState,
    contact_arrays,
)
from handwright.methods.stepwise.contacts.followed_contacts import FollowedContacts
from handwright.methods.stepwise.contacts.proximity import (
    BodyProximity,
    HandProximity,
    body_proximities,
    hand_contact,
    hand_limits,
    hand_proximities,
    support_contacts,
)
from handwright.methods.stepwise.contacts.resting import Support, rest_bodies
from handwright.methods.stepwise.contacts.transitions import (
    LOST,
    after_step,
    update_hand_contacts,
)
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.frame_solver import FrameSolver
from handwright.methods.stepwise.objectives.anticipation import Expectation
from handwright.methods.stepwise.objectives.body_rotation import midpoint_rotation
from handwright.methods.stepwise.objectives.horizon import Horizon, VelocityObjectives
from handwright.methods.stepwise.objectives.planned_grasps import PlannedGrasp, plan_grasps
from handwright.methods.stepwise.objectives.posture_targets import (
    FixedPosture,
    FollowedPosture,
    PostureTarget,
    body_objectives,
    posture_objectives,
)
from handwright.methods.stepwise.objectives.pursuit import join_objectives
from handwright.methods.stepwise.objectives.pursuits import Pursuits, goal_lacks
from handwright.methods.stepwise.qp.dynamics import FrameDynamics, frame_dynamics
from handwright.methods.stepwise.qp.joint_bounds import joint_bounds, joint_range
from handwright.methods.stepwise.qp.step import ForceTarget, FrameProblem
from handwright.methods.stepwise.recording import Moment, SessionTally, listed_contacts, make_clip
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.world import (
    BodyState,
    HandState,
    World,
    body_state,
    hand_state,
    make_world,
)

MAX_STEP = 0.1
"""Longest frame, s."""
MAX_PUSH = 1e7
"""Largest push, N."""
# Weight of torque changes in the first frame of a grip, when muscles find what holds: hardly any.
_FREE_TORQUE = 1e-6
# Weight of velocities in the first frame, s^2/rad^2: muscles find what holds before anything moves.
_AT_REST = 1e3
# Weight of forces that the environment gives once a hand is to carry a body, 1/N^2.
_SUPPORT_WEIGHT = 1.0


class Session:
    """Steps a problem on; see ``step``."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings | None = None,
        *,
        seed: int = 0,
        follow: Clip | None = None,
        history: int | None = None,
    ) -> None:
        """Finds grasps, and puts everything where it starts.

        Args:
            problem: Hands and bodies with starts, grips and goals.
            settings: Weights of the objectives.
            seed: Random seed of the search for grasps.
            follow: A motion of the problem's hands and bodies to follow in place of grips and
                goals; it also says where everything starts.
            history: How many of the last frames are kept, for ``clip``; all if None. A session that
                goes on and on needs a number here, or it takes more and more memory.
        """
        if history is not None and history < 1:
            raise InvalidValueError(
                f"history is {history}; expected at least 1 frame, or None to keep all of them."
            )
        _check_pushes(problem.pushes)
        lacks = goal_lacks(problem.goals)
        if lacks:
            raise InvalidValueError(f"Problem '{problem.name}': stepping {lacks[0]}.")
        self.problem, self._follow, self._history = problem, follow, history
        self.settings = Settings() if settings is None else settings
        self.world: World = make_world(problem)
        self._followed = None if follow is None else FollowedContacts(follow, self.world)
        self._grasps: list[PlannedGrasp] = []
        if follow is None:
            self._grasps = plan_grasps(problem, self.world, self._first_bodies(), seed)
        self._wanted: list[PostureTarget] = [
            self._wanted_of(h) for h in range(len(self.world.hands))
        ]
        self._range = joint_range(self.world)
        self._blas = ThreadpoolController().select(user_api="blas")
        self.reset()

    def reset(self) -> None:
        """Puts everything back where it starts; grasps are not looked for again."""
        self.tally = SessionTally()
        self.time = float(self.problem.times[0])
        self.bodies: list[BodyState] = self._first_bodies()
        self.hands: list[HandState] = [
            hand_state(hand, *wanted.at(self.time))
            for hand, wanted in zip(self.world.hands, self._wanted, strict=True)
        ]
        if self._follow is not None:
            self._start_moving(self._follow)
        self.contacts: list[ContactState] = []
        self._supports: tuple[Support, ...] = ()
        self._pursuits = Pursuits()
        self._expectations = [Expectation(one.grip, one.hand, one.body) for one in self._grasps]
        self._taken: set[int] = set()
        self._external = np.zeros((len(self.world.bodies), 6))
        most = None if self._history is None else self._history + 1
        self.moments: deque[Moment] = deque([self._moment(())], most)

    def _first_bodies(self) -> list[BodyState]:
        return [body_state(body, self._first_pose(body.name)) for body in self.world.bodies]

    def _first_pose(self, name: str) -> Pose:
        if self._follow is not None:
            return self._follow.bodies[name][0]
        if name in self.problem.start:
            return self.problem.start[name]
        if name in self.problem.tracks:
            return self.problem.tracks[name].pose[0]
        raise InvalidValueError(
            f"Problem '{self.problem.name}': '{name}' has neither a start nor a track; expected "
            "one of them for every hand and body that is stepped."
        )

    def _wanted_of(self, hand: int) -> PostureTarget:
        name = self.world.hands[hand].name
        if self._follow is not None:
            assert self._followed is not None  # made together with the motion to follow
            return FollowedPosture(
                self._follow, name, partial(self._followed.busy, self.world.hands[hand], hand)
            )
        for planned in self._grasps:
            if planned.hand == hand:
                return planned
        return FixedPosture(self.problem.posture(name), self._first_pose(name))

    def _start_moving(self, clip: Clip) -> None:
        """Gives everything the velocity that it has at the start of a motion that is followed."""
        step = 1.0 / clip.fps
        frame = Frame.begin(self.world, self.hands, self.bodies, time=self.time, step=step)
        for h, state in enumerate(self.hands):
            state.velocity = posture_objectives(
                frame, h, self._wanted[h], self.settings
            ).target_velocity
        for n, (body, now) in enumerate(zip(self.world.bodies, self.bodies, strict=True)):
            now.velocity, now.angular_velocity = np.split(
                body_objectives(frame, n, clip).target_velocity, 2
            )
            middle = midpoint_rotation(now.wxyz, now.angular_velocity, step)
            now.angular_momentum = middle @ body.body.inertia @ middle.T @ now.angular_velocity

    def step(
        self,
        step: float = 1.0 / 30.0,
        *,
        pushes: Sequence[Push] = (),
        goals: Sequence[Goal] | None = None,
    ) -> Moment:
        """Moves everything on by a frame.

        Args:
            step: Length of the frame, s.
            pushes: Forces on bodies, beside those of the problem; they count if their times say so.
            goals: Goals in place of the problem's.
        """
        if not 0.0 < step <= MAX_STEP:
            raise InvalidValueError(
                f"step is {step} s; expected more than 0 and at most {MAX_STEP} s."
            )
        for push in pushes:
            if push.body not in self.problem.bodies:
                raise UnknownNameError("body of a push", push.body, self.problem.bodies)
        _check_pushes(pushes)
        for goal in () if goals is None else goals:
            texts = goal_problems(goal, self.problem.hands, self.problem.bodies, (-np.inf, np.inf))
            if texts:
                raise InvalidValueError(f"Goal {texts[0]}.")
        lacks = goal_lacks(() if goals is None else goals)
        if lacks:
            raise InvalidValueError(f"Stepping {lacks[0]}.")
        goals = self.problem.goals if goals is None else goals
        # Setting the number of threads takes as long as a contact does; asking for it does not.
        if all(library.num_threads == 1 for library in self._blas.lib_controllers):
            return self._step(step, pushes, goals)
        with self._blas.limit(limits=1):
            return self._step(step, pushes, goals)

    def _step(self, step: float, pushes: Sequence[Push], goals: Sequence[Goal]) -> Moment:
        frame = Frame.begin(self.world, self.hands, self.bodies, time=self.time, step=step)
        external = self._pushes(pushes)
        meetings, between = hand_proximities(frame), body_proximities(frame)
        held, is_new = self._held_contacts(frame, meetings)
        active = _active(held, between)
        dynamics = frame_dynamics(frame, external)
        resting = rest_bodies(frame, between, active, dynamics, self._supports)
        self._supports = resting.supports
        between = [meeting for meeting in between if meeting.body in active]
        self.contacts = held + support_contacts(frame, between)
        wrench = external + resting.wrench
        solver = FrameSolver(
            self._problem(frame, dynamics, goals, is_new),
            self.contacts,
            self._gripped(frame, wrench),
            hand_limits(frame, meetings),
            between,
            wrench,
            partial(self._force_targets, frame),
            self.tally,
        )
        solved, ends = solver.run()
        number = self.tally.frames
        listed = (
            *listed_contacts(self.world, self.contacts, solver.rows, solved, number),
            *resting.contacts(self.world, number),
        )
        after_step(frame, self.contacts, solver.rows, solved)
        self.hands, self.bodies = ends
        for expectation in self._expectations:
            expectation.learn(30.0 * step)
        self.tally.frames += 1
        self.tally.contacts_max = max(self.tally.contacts_max, len(listed))
        self.time += step
        self._external = external
        self.moments.append(self._moment(listed))
        return self.moments[-1]

    def _pushes(self, pushes: Sequence[Push]) -> Float[np.ndarray, "B 6"]:
        """Forces and moments from outside; hands notice when they change."""
        every = (*self.problem.pushes, *pushes)
        if not every:
            return np.zeros((len(self.bodies), 6))
        external = np.array(
            [
                pushed(every, body.name, self.time, now.pose(body.body), now.center)
                for body, now in zip(self.world.bodies, self.bodies, strict=True)
            ]
        ).reshape(-1, 6)
        for expectation in self._expectations:
            n = expectation.body
            if np.abs(external[n, :3] - self._external[n, :3]).max() > 1e-9:
                expectation.disturb(self.contacts)
        return external

    def _held_contacts(
        self, frame: Frame, meetings: list[HandProximity]
    ) -> tuple[list[ContactState], bool]:
        """Contacts of hands in this frame, and whether muscles must find what holds."""
        held = [contact for contact in self.contacts if contact.hand >= 0]
        reaching = {
            (one.hand, one.body) for n, one in enumerate(self._grasps) if n not in self._taken
        }
        held = update_hand_contacts(frame, meetings, held, reaching)
        held, is_new = self._close_grips(frame, held, meetings)
        if self._followed is not None:
            held = self._followed.contacts(frame, meetings, held)
        return held, is_new

    def _close_grips(
        self, frame: Frame, held: list[ContactState], meetings: list[HandProximity]
    ) -> tuple[list[ContactState], bool]:
        """Contacts of grips whose moment has come, where the reach has brought the hand."""
        is_new = self.tally.frames == 0
        if is_new:
            # What touches when all begins has been touching: nothing collides.
            for contact in held:
                contact.mode = ContactMode.STATIC
        for n, planned in enumerate(self._grasps):
            if n in self._taken or self.time < planned.grip.held - 1e-9:
                continue
            self._taken.add(n)
            is_new = True
            grasped = planned.contacts(self.world)
            if planned.path is not None:
                near = next(m for m in meetings if (m.hand, m.body) == (planned.hand, planned.body))
                grasped = [
                    hand_contact(frame, near, contact.part, ContactMode.STATIC)
                    for contact in grasped
                    if near.nearest.gap[contact.part] < LOST
                ]
            parts = {(planned.hand, contact.part, planned.body) for contact in grasped}
            held = [t for t in held if (t.hand, t.part, t.body) not in parts] + grasped
        return held, is_new

    def _problem(
        self, frame: Frame, dynamics: FrameDynamics, goals: Sequence[Goal], is_new: bool
    ) -> FrameProblem:
        """What stays the same while the frame is solved."""
        settings = self.settings
        wanted = join_objectives(
            [*self._goal_objectives(frame, goals), *self._posture_objectives(frame, goals)],
            self.world.num_velocities,
        )
        is_start = self.tally.frames == 0 and self._follow is None
        is_carrying = bool(self._pursuits) or self._follow is not None
        return FrameProblem(
            frame,
            dynamics,
            Horizon(
                frame,
                wanted,
                settings,
                torque_weight=_FREE_TORQUE if is_new else settings.torque_change_weight,
            ),
            joint_bounds(self._range, frame),
            speed_weight=_AT_REST if is_start else settings.speed_weight,
            force_weight=settings.force_weight,
            support_weight=_SUPPORT_WEIGHT if is_carrying else settings.force_weight,
        )

    def _force_targets(self, frame: Frame, contacts: list[ContactState]) -> list[ForceTarget]:
        """Sums of contact forces that are wanted."""
        force_targets: list[ForceTarget] = []
        for one in self._expectations:
            force_targets += one.force_targets(frame, contacts)
        if self._followed is not None:
            force_targets += self._followed.force_targets(frame, contacts)
        return force_targets

    def _gripped(self, frame: Frame, wrench: Float[np.ndarray, "B 6"]) -> ContactArrays:
        """Contacts as arrays, with forces and modes that expectations allow."""
        rows = contact_arrays(frame, self.contacts)
        changed = False
        for one in self._expectations:
            one.limit(frame, self.contacts, rows)
            changed |= one.allow_slip(frame, self.contacts, rows, wrench[one.body, :3])
        if changed:
            rows = contact_arrays(frame, self.contacts)
        return rows

    def _posture_objectives(self, frame: Frame, goals: Sequence[Goal]) -> list[VelocityObjectives]:
        """Objectives that lead hands to where they are wanted."""
        led = {goal.feature.owner for goal in goals}
        return [
            posture_objectives(frame, h, self._wanted[h], self.settings, is_led=hand.name in led)
            for h, hand in enumerate(self.world.hands)
        ]

    def _goal_objectives(self, frame: Frame, goals: Sequence[Goal]) -> list[VelocityObjectives]:
        """Objectives of the goals that count now; those of bodies only while hands hold them."""
        world = self.world
        static = [
            contact.body
            for contact in self.contacts
            if contact.hand >= 0 and contact.mode == ContactMode.STATIC
        ]
        # A body that slides in the hand, or is touched in one place only, follows no goal; in a
        # motion that is followed it is known that more will come.
        least = 2 if self._follow is None else 1
        held = {world.bodies[n].name for n in set(static) if static.count(n) >= least}
        if self._follow is not None:
            return [
                body_objectives(frame, n, self._follow)
                for n, body in enumerate(world.bodies)
                if body.name in held
            ]
        taken = {world.bodies[self._grasps[n].body].name for n in self._taken}
        ready = taken & held | set(self.problem.hands)
        return self._pursuits.rows(frame, goals, ready, self._expectations)

    def _moment(self, contacts: tuple[Contact, ...]) -> Moment:
        return Moment(
            self.time,
            {
                hand.name: (state.root, state.q.copy())
                for hand, state in zip(self.world.hands, self.hands, strict=True)
            },
            {
                body.name: now.pose(body.body)
                for body, now in zip(self.world.bodies, self.bodies, strict=True)
            },
            contacts,
        )

    def links(self) -> dict[str, tuple[Float[np.ndarray, "L 3 3"], Float[np.ndarray, "L 3"]]]:
        """Where every link of every hand is now, for drawing: rotation to the world, origin, m."""
        return {
            hand.name: (state.links.rotation.copy(), state.links.position.copy())
            for hand, state in zip(self.world.hands, self.hands, strict=True)
        }

    def clip(self, method: str) -> Clip:
        """All frames so far, or as many of the last ones as are kept."""
        return make_clip(
            self.problem, self.moments, method, first=self.tally.frames + 1 - len(self.moments)
        )


def _active(held: list[ContactState], between: list[BodyProximity]) -> set[int]:
    """Bodies that hands touch, and those that touch them in turn."""
    active = {contact.body for contact in held}
    grown = True
    while grown:
        grown = False
        for meeting in between:
            pair = {meeting.body, meeting.other} - {-1}
            if len(pair) == 2 and meeting.gap.min() < 1e-3 and len(pair & active) == 1:
                active |= pair
                grown = True
    return active


def _check_pushes(pushes: Sequence[Push]) -> None:
    for push in pushes:
        if length(push.force) > MAX_PUSH:
            raise InvalidValueError(
                f"Push on '{push.body}' is {length(push.force):.3g} N; expected at most "
                f"{MAX_PUSH:g} N, beyond which numbers lose all their digits."
            )
