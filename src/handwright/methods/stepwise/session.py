"""A hand that reacts, frame by frame: the library object behind ``stepwise`` and live pushing."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float
from threadpoolctl import ThreadpoolController

from handwright.core.clip import Clip
from handwright.core.contact import Contact, ContactMode
from handwright.core.events import Push, pushed
from handwright.core.goal import Feature, Goal, is_same_goal
from handwright.core.problem import Problem, goal_problems
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math.pose import Pose
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.ends import Ends, frame_ends, true_motion
from handwright.methods.stepwise.contacts.meeting import (
    BodyMeeting,
    Meeting,
    arriving_touches,
    body_meetings,
    hand_limits,
    hand_meetings,
    hand_touch,
    lying_touches,
    with_touches,
)
from handwright.methods.stepwise.contacts.planned import Plan
from handwright.methods.stepwise.contacts.resting import Support, rest_bodies
from handwright.methods.stepwise.contacts.touches import Touch, TouchRows, touch_rows
from handwright.methods.stepwise.objectives.anticipation import Expectation
from handwright.methods.stepwise.objectives.body_turns import middle_turn
from handwright.methods.stepwise.objectives.changes import (
    LOST,
    added_energy,
    after_step,
    break_or_stay,
    corrections,
    parting_touches,
    update_hand_touches,
)
from handwright.methods.stepwise.objectives.current_goals import Kind, current_goals, goal_lacks
from handwright.methods.stepwise.objectives.guides import (
    Given,
    Staying,
    Wanted,
    body_rows,
    hand_rows,
)
from handwright.methods.stepwise.objectives.holding import Holding, find_holdings
from handwright.methods.stepwise.objectives.horizon import Horizon, Rows
from handwright.methods.stepwise.objectives.pursuit import Pursuit, begun, feature_now, joined
from handwright.methods.stepwise.qp.joint_bounds import JointBounds, joint_bounds, joint_range
from handwright.methods.stepwise.qp.laws import Mechanics, mechanics
from handwright.methods.stepwise.qp.solver import InfeasibleStepError
from handwright.methods.stepwise.qp.step import (
    ForceWish,
    Limits,
    Solved,
    solve_step,
)
from handwright.methods.stepwise.recording import Moment, Tally, listed_contacts, make_clip
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
# Solves a frame so often at most; what is left of roll-backs then shows as added energy.
_NUM_ATTEMPTS = 10
# Contacts whose motion is this much off what the step thought are solved for once more, m/s.
_OFF, _NUM_BENDS = 1e-3, 2
# Price of torque changes in the first frame of a grip, when muscles find what holds: hardly any.
_FREE_TORQUE = 1e-6
# Price of velocities in the first frame, s^2/rad^2: muscles find what holds before anything moves.
_AT_REST = 1e3
# Price of forces that surroundings give once a hand is to carry a body, 1/N^2.
_LEAN = 1.0


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
            settings: Prices of objectives.
            seed: Of the search for grasps.
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
        self._plan = None if follow is None else Plan(follow, self.world)
        self._holdings: list[Holding] = []
        if follow is None:
            self._holdings = find_holdings(problem, self.world, self._first_bodies(), seed)
        self._wanted: list[Wanted] = [self._wanted_of(h) for h in range(len(self.world.hands))]
        self._range = joint_range(self.world)
        self._blas = ThreadpoolController().select(user_api="blas")
        self.reset()

    def reset(self) -> None:
        """Puts everything back where it starts; grasps are not looked for again."""
        self.tally = Tally()
        self.time = float(self.problem.times[0])
        self.bodies: list[BodyState] = self._first_bodies()
        self.hands: list[HandState] = [
            hand_state(hand, *wanted.at(self.time))
            for hand, wanted in zip(self.world.hands, self._wanted, strict=True)
        ]
        if self._follow is not None:
            self._start_moving(self._follow)
        self.touches: list[Touch] = []
        self._supports: tuple[Support, ...] = ()
        self._pursuits: dict[Kind, Pursuit] = {}
        self._expectations = [Expectation(one.grip, one.hand, one.body) for one in self._holdings]
        self._taken: set[int] = set()
        self._gone_on: dict[tuple[str, str | None, int], tuple[Goal, Goal]] = {}
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

    def _wanted_of(self, hand: int) -> Wanted:
        name = self.world.hands[hand].name
        if self._follow is not None:
            assert self._plan is not None  # made together with the motion to follow
            return Given(self._follow, name, partial(self._plan.busy, self.world.hands[hand], hand))
        for holding in self._holdings:
            if holding.hand == hand:
                return holding
        return Staying(self.problem.posture(name), self._first_pose(name))

    def _start_moving(self, clip: Clip) -> None:
        """Gives everything the velocity that it has at the start of a motion that is followed."""
        width, step = self.world.num_velocities, 1.0 / clip.fps
        for hand, state, wanted in zip(self.world.hands, self.hands, self._wanted, strict=True):
            rows = hand_rows(hand, state, wanted, width, self.settings, self.time, step)
            state.velocity = rows.wish
        for body, now in zip(self.world.bodies, self.bodies, strict=True):
            now.velocity, now.rate = np.split(
                body_rows(body, now, clip, width, self.time, step).wish, 2
            )
            middle = middle_turn(now.wxyz, now.rate, step)
            now.spin = middle @ body.body.inertia @ middle.T @ now.rate

    def step(
        self,
        step: float = 1.0 / 30.0,
        *,
        pushes: Sequence[Push] = (),
        goals: Sequence[Goal] | None = None,
    ) -> Moment:
        """Moves everything on by a frame.

        Args:
            step: Its length, s.
            pushes: Forces on bodies, beside those of the problem; they count if their times say so.
            goals: In place of the problem's.
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
        world = self.world
        external = self._pushes(pushes)
        meetings = hand_meetings(world, self.hands, self.bodies)
        between = body_meetings(world, self.bodies, step)
        held = [touch for touch in self.touches if touch.hand >= 0]
        reaching = {
            (one.hand, one.body) for n, one in enumerate(self._holdings) if n not in self._taken
        }
        held = update_hand_touches(world, self.hands, self.bodies, meetings, held, reaching)
        held, is_new = self._take(held, meetings)
        if self._plan is not None:
            held = self._plan.touches(world, self.hands, self.bodies, meetings, held, self.time)
        active = _active(held, between)
        laws = mechanics(world, self.hands, self.bodies, external, step)
        resting = rest_bodies(world, self.bodies, between, active, laws, self._supports, step)
        self._supports = resting.supports
        between = [meeting for meeting in between if meeting.body in active]
        self.touches = held + lying_touches(world, self.bodies, between)
        limits = hand_limits(world, self.hands, self.bodies, meetings, step)
        before = np.concatenate(
            [*(hand.velocity for hand in self.hands), *(body.twist for body in self.bodies)]
        )
        wrench = external + resting.wrench
        rows, solved, ends = self._solve(laws, limits, between, goals, before, wrench, is_new, step)
        contacts = (
            *listed_contacts(world, self.touches, rows, solved, self.bodies, self.tally.frames),
            *resting.contacts(world, self.tally.frames),
        )
        after_step(self.touches, rows, solved, self.bodies)
        self.hands, self.bodies = ends
        for expectation in self._expectations:
            expectation.learn(30.0 * step)
        self.tally.frames += 1
        self.tally.contacts_max = max(self.tally.contacts_max, len(contacts))
        self.time += step
        self._external = external
        self.moments.append(self._moment(contacts))
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
                expectation.disturb(self.touches)
        return external

    def _take(self, held: list[Touch], meetings: list[Meeting]) -> tuple[list[Touch], bool]:
        """Contacts of grips whose moment has come, where the reach has brought the hand."""
        is_new = self.tally.frames == 0
        if is_new:
            # What touches when all begins has been touching: nothing collides.
            for touch in held:
                touch.mode = ContactMode.STATIC
        for n, holding in enumerate(self._holdings):
            if n in self._taken or self.time < holding.grip.held - 1e-9:
                continue
            self._taken.add(n)
            is_new = True
            grasped = holding.touches(self.world)
            if holding.path is not None:
                near = next(m for m in meetings if (m.hand, m.body) == (holding.hand, holding.body))
                grasped = [
                    hand_touch(
                        self.world, self.hands, self.bodies, near, touch.part, ContactMode.STATIC
                    )
                    for touch in grasped
                    if near.nearest.gap[touch.part] < LOST
                ]
            parts = {(holding.hand, touch.part, holding.body) for touch in grasped}
            held = [t for t in held if (t.hand, t.part, t.body) not in parts] + grasped
        return held, is_new

    def _solve(
        self,
        laws: Mechanics,
        limits: Limits,
        between: list[BodyMeeting],
        goals: Sequence[Goal],
        before: np.ndarray,
        wrench: Float[np.ndarray, "B 6"],
        is_new: bool,
        step: float,
    ) -> tuple[TouchRows, Solved, Ends]:
        """Solves the frame, and once more while contacts would add energy."""
        world = self.world
        torque = np.concatenate([np.zeros(0), *(hand.torque for hand in self.hands)])
        wanted = joined(
            [*self._goal_rows(goals, before, step), *self._posture_rows(goals, step)],
            world.num_velocities,
        )
        torque_price = _FREE_TORQUE if is_new else self.settings.torque_change_weight
        horizon = Horizon(world, wanted, self.settings, torque_price, step)
        bounds = joint_bounds(self._range, world, self.hands, step)
        weights = [body.body.mass * world.gravity for body in world.bodies]
        total = length(np.sum(weights, axis=0))
        lean = _LEAN if self._is_carrying() else self.settings.force_weight
        rows = self._gripped(weights, wrench)
        is_start = self.tally.frames == 0 and self._follow is None
        prices = replace(self.settings, speed_weight=_AT_REST) if is_start else self.settings

        def solve() -> Solved:
            wishes: list[ForceWish] = []
            for one in self._expectations:
                wishes += one.wishes(self.touches, weights[one.body])
            if self._plan is not None:
                wishes += self._plan.wishes(self.touches, self.bodies, self.time)
            within = with_touches(limits, self.touches, rows, step)
            return self._solve_once(
                laws, rows, before, torque, horizon, bounds, wishes, within, prices, lean, step
            )

        def followed() -> tuple[Ends, bool]:
            """Where the frame ends, and whether contacts move otherwise than was thought."""
            ends = frame_ends(world, self.hands, self.bodies, rows, solved, wrench, step)
            moved = true_motion(rows, self.hands, self.bodies, ends, step)
            curve = moved - rows.relative @ solved.velocity
            is_off = bool(np.abs(curve - rows.curve).max(initial=0.0) > _OFF)
            rows.curve = curve
            return ends, is_off

        bends = 0
        for attempt in range(_NUM_ATTEMPTS):
            solved = solve()
            ends, is_off = followed()
            if attempt == _NUM_ATTEMPTS - 1:
                break
            if is_off and bends < _NUM_BENDS:
                bends += 1
                continue
            parting = parting_touches(self.touches, rows, solved, total, step)
            if parting:
                solved = break_or_stay(self.touches, rows, parting, solve)
                ends, _ = followed()
                self.tally.corrections += 1
            changed = corrections(self.touches, rows, solved, self.bodies, total)
            arrived = arriving_touches(world, self.bodies, between, solved.velocity, step)
            known = {(t.body, t.other, t.part, *t.anchor) for t in self.touches if t.hand < 0}
            new = [t for t in arrived if (t.body, t.other, t.part, *t.anchor) not in known]
            if not changed and not new:
                break
            bends = 0
            self.touches += new
            self.tally.corrections += 1
            for touch, off in zip(self.touches, rows.curve, strict=False):
                touch.curve = off
            rows = touch_rows(world, self.touches, self.hands, self.bodies)
        energy = added_energy(self.touches, rows, solved, step)
        self.tally.added_energy = max(self.tally.added_energy, energy)
        return rows, solved, ends

    def _gripped(self, weights: list[np.ndarray], wrench: Float[np.ndarray, "B 6"]) -> TouchRows:
        """Contacts as arrays, with forces and modes that expectations allow."""
        rows = touch_rows(self.world, self.touches, self.hands, self.bodies)
        changed = False
        for one in self._expectations:
            own, now, weight = self.world.bodies[one.body], self.bodies[one.body], weights[one.body]
            one.limit(self.touches, rows, own, now, weight)
            push = wrench[one.body, :3]
            changed |= one.let_slip(self.touches, rows, own, now, weight, push)
        if changed:
            rows = touch_rows(self.world, self.touches, self.hands, self.bodies)
        return rows

    def _solve_once(
        self,
        laws: Mechanics,
        rows: TouchRows,
        before: np.ndarray,
        torque: np.ndarray,
        horizon: Horizon,
        bounds: JointBounds,
        wishes: list[ForceWish],
        limits: Limits,
        prices: Settings,
        lean: float,
        step: float,
    ) -> Solved:
        def solve(within: Limits) -> Solved:
            return solve_step(
                self.world,
                laws,
                self.touches,
                rows,
                before=before,
                torque=torque,
                horizon=horizon,
                forces=wishes,
                limits=within,
                bounds=bounds,
                weights=prices,
                lean=lean,
                step=step,
            )

        try:
            return solve(limits)
        except InfeasibleStepError:
            # Nothing but bounds is left then, which zero velocities and forces always meet.
            self.tally.infeasible += 1
            width = self.world.num_velocities
            return solve(Limits(np.zeros((0, width)), np.zeros(0), np.zeros(0, dtype=np.int64)))

    def _is_carrying(self) -> bool:
        return bool(self._pursuits) or self._follow is not None

    def _posture_rows(self, goals: Sequence[Goal], step: float) -> list[Rows]:
        """Objectives that lead hands to where they are wanted."""
        width = self.world.num_velocities
        led = {goal.feature.owner for goal in goals}
        return [
            hand_rows(
                hand, state, wanted, width, self.settings, self.time, step, is_led=hand.name in led
            )
            for hand, state, wanted in zip(self.world.hands, self.hands, self._wanted, strict=True)
        ]

    def _goal_rows(self, goals: Sequence[Goal], before: np.ndarray, step: float) -> list[Rows]:
        """Objectives of the goals that count now; those of bodies only while hands hold them."""
        world, parts = self.world, list[Rows]()
        firm = [
            touch.body
            for touch in self.touches
            if touch.hand >= 0 and touch.mode == ContactMode.STATIC
        ]
        # A body that slides in the hand, or is touched in one place only, follows no goal; in a
        # motion that is followed it is known that more will come.
        least = 2 if self._follow is None else 1
        held = {world.bodies[n].name for n in set(firm) if firm.count(n) >= least}
        if self._follow is not None:
            return [
                body_rows(body, now, self._follow, world.num_velocities, self.time, step)
                for body, now in zip(world.bodies, self.bodies, strict=True)
                if body.name in held
            ]
        ready = {world.bodies[self._holdings[n].body].name for n in self._taken} & held | set(
            self.problem.hands
        )
        lost = {
            world.bodies[one.body].name: one.hand for one in self._expectations if one.is_losing
        }
        asked = []
        for goal in goals:
            if goal.feature.owner in lost and goal.position is not None:
                goal = self._gone_on_with(goal, lost[goal.feature.owner])
            if goal.feature.owner in ready:
                asked.append(goal)
        for key, goal in current_goals(asked, self.time).items():
            now = feature_now(world, goal, self.hands, self.bodies)
            pursuit = self._pursuits.get(key)
            if pursuit is None or not is_same_goal(pursuit.goal, goal):
                for one in self._expectations:
                    name = world.bodies[one.body].name
                    if name == goal.feature.owner and not any(
                        name == known.owner for known in self._pursuits
                    ):
                        one.begin_lift()
                # One that is over is not replaced, and has been met.
                is_replaced = pursuit is not None and not any(
                    is_same_goal(pursuit.goal, other) for other in goals
                )
                pursuit = begun(goal, now, before, self.time, step, is_replaced)
                self._pursuits[key] = pursuit
            parts.append(pursuit.rows(now, before, self.time, step))
        return parts

    def _gone_on_with(self, goal: Goal, hand: int) -> Goal:
        """The goal of a hand that does not know yet that it is losing the body of a goal.

        It goes the way that it would have gone with the body.
        """
        key = goal.feature.owner, goal.feature.frame, hand
        known = self._gone_on.get(key)
        if known is not None and is_same_goal(known[0], goal):
            return known[1]
        assert goal.position is not None
        way = goal.position - feature_now(self.world, goal, self.hands, self.bodies).point
        wrist = Goal(
            Feature(self.world.hands[hand].name), goal.start, goal.end, position=np.zeros(3)
        )
        now = feature_now(self.world, wrist, self.hands, self.bodies)
        found = replace(wrist, position=now.point + goal.matters * way, wxyz=now.wxyz)
        self._gone_on[key] = goal, found
        return found

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


def _active(held: list[Touch], between: list[BodyMeeting]) -> set[int]:
    """Bodies that hands touch, and those that touch them in turn."""
    active = {touch.body for touch in held}
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
