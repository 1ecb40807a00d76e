"""Goals as objectives of a frame: references that move by the velocity profile (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.goal import Goal
from handwright.math.one_turn import matrix_of, multiplied, of_matrix, turn_to
from handwright.math.vectors import length, square_to, turn_between
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.horizon import VelocityObjectives
from handwright.methods.stepwise.objectives.references import (
    LAST_FRAMES,
    LEAST_TIME,
    THERE,
    TURNED,
    Reference,
    aligned,
    passing,
    speeding,
    toward,
    way_begun,
)
from handwright.methods.stepwise.qp.point_rows import body_point_rows, hand_point_rows
from handwright.methods.stepwise.world import HandState, SteppedHand

POSITION_WEIGHT, ROTATION_WEIGHT = 1e5, 3e3
"""Weights of a body's distance from its goal, 1/m^2 and 1/rad^2."""
# Adaptive reweighting: by how much the weight grows in a frame that is too slow, falls in others,
# and how far it goes.
_GROWTH, _DECAY, _MOST = 1.15, 0.97, 30.0


class FeatureNow(NamedTuple):
    """A feature in the world, and its velocities by all velocities."""

    point: Float[np.ndarray, "3"]
    """m."""
    wxyz: Float[np.ndarray, "4"]
    linear: Float[np.ndarray, "3 N"]
    angular: Float[np.ndarray, "3 N"]


@dataclass(slots=True, eq=False)
class Pursuit:
    """A goal that is being pursued."""

    goal: Goal
    began: float
    """s."""
    position: Float[np.ndarray, "3"]
    """Position of the feature when it began, m."""
    wxyz: Float[np.ndarray, "4"]
    velocity: Float[np.ndarray, "3"]
    """Velocity of the feature when it began, m/s."""
    angular_velocity: Float[np.ndarray, "3"]
    """Angular velocity of the feature when it began, rad/s."""
    factor: float = 1.0
    """Factor of the weight, by adaptive reweighting."""
    behind: dict[str, Reference] = field(default_factory=dict)
    """How far the feature has fallen behind a wanted velocity, and the last wanted velocity, by the
    name of what is asked for."""

    def rows(self, frame: Frame, now: FeatureNow) -> VelocityObjectives:
        """Objectives of this frame."""
        goal, parts = self.goal, list[VelocityObjectives]()
        velocity, time, step = frame.velocity, frame.time, frame.step
        matters = goal.matters
        linear, speed = now.linear[matters], (now.linear @ velocity)[matters]
        found = self._place(now.point, matters, speed, time, step)
        if found is not None:
            error, target_velocity = found
            self._reweight(float(speed @ target_velocity), float(target_velocity @ target_velocity))
            weight = np.full(len(target_velocity), self.factor * goal.weight * POSITION_WEIGHT)
            parts.append(VelocityObjectives(linear, error, weight, target_velocity))
        if goal.axis is not None:
            parts.append(self._axis(now))
            return join_objectives(parts, now.linear.shape[1])
        found = self._turn(now.wxyz, now.angular @ velocity, time, step)
        if found is not None:
            error, target_velocity = found
            parts.append(
                VelocityObjectives(
                    now.angular, error, np.full(3, goal.weight * ROTATION_WEIGHT), target_velocity
                )
            )
        return join_objectives(parts, now.linear.shape[1])

    def _place(
        self, point: np.ndarray, matters: np.ndarray, speed: np.ndarray, time: float, step: float
    ) -> Reference | None:
        """Reference of the coordinates that matter; None if the position does not count now."""
        goal = self.goal
        if goal.velocity is None:
            if goal.position is None:
                return None
            begin = self.position[matters]
            return toward(point[matters] - begin, goal.position[matters] - begin, self._time, THERE)
        wanted = goal.velocity[matters]
        if goal.position is None:
            first = self.velocity[matters]
            found = speeding(first, wanted, time - self.began, goal.start - time)
            return self._behind("velocity", found, speed, THERE, step)
        if time < goal.start - LAST_FRAMES * step:
            left = (goal.position - point)[matters]
            return passing(left, speed, wanted, goal.start - time, step)
        return (point - goal.position_at(np.array([time]))[0])[matters], wanted

    def _turn(
        self, wxyz: np.ndarray, rate: np.ndarray, time: float, step: float
    ) -> Reference | None:
        """Reference of the whole orientation; None if it does not count now."""
        goal = self.goal
        if goal.spin is None:
            if goal.wxyz is None:
                return None
            return toward(
                turn_to(self.wxyz, wxyz), turn_to(self.wxyz, goal.wxyz), self._time, TURNED
            )
        if goal.wxyz is None:
            found = speeding(self.angular_velocity, goal.spin, time - self.began, goal.start - time)
            return self._behind("spin", found, rate, TURNED, step)
        if time < goal.start - LAST_FRAMES * step:
            return passing(turn_to(wxyz, goal.wxyz), rate, goal.spin, goal.start - time, step)
        return turn_to(goal.wxyz_at(np.array([time]))[0], wxyz), goal.spin

    def _behind(
        self,
        name: str,
        target_velocity: np.ndarray | None,
        rate: np.ndarray,
        most: float,
        step: float,
    ) -> Reference | None:
        """A wanted velocity, with what the feature is behind by: all other objectives slow it down.

        Args:
            name: Name of what is asked for.
            target_velocity: Velocity; None while it is too early.
            rate: Velocity in the last frame.
            most: How far behind may count, m or rad: after a push nobody hurries.
            step: Length of the frame, s.
        """
        if target_velocity is None:
            return None
        error, last = self.behind.get(name, (np.zeros(len(target_velocity)), rate))
        error = error + step * (rate - last)
        error = error * min(most / max(length(error), most), 1.0)
        self.behind[name] = error, target_velocity
        return error, target_velocity

    def _axis(self, now: FeatureNow) -> VelocityObjectives:
        """Objectives for an axis that is to point somewhere; turns about it are free."""
        goal = self.goal
        assert goal.axis is not None  # the caller asks for these goals only
        assert goal.wxyz is not None  # checked by goals
        axis = goal.axis / length(goal.axis)
        begin, here, wanted = (matrix_of(q) @ axis for q in (self.wxyz, now.wxyz, goal.wxyz))
        whole = length(turn_between(begin, wanted))
        error, target_velocity = aligned(turn_between(here, wanted), whole, self._time, TURNED)
        across = square_to(here)
        weight = np.full(2, goal.weight * ROTATION_WEIGHT)
        return VelocityObjectives(
            across @ now.angular, across @ error, weight, across @ target_velocity
        )

    @property
    def _time(self) -> float:
        """Time for the whole way, s."""
        return max(self.goal.start - self.began, LEAST_TIME)

    def _reweight(self, speed: float, wanted: float) -> None:
        too_slow = wanted > 0.0 and speed < 0.9 * wanted
        grown = self.factor * (_GROWTH if too_slow else _DECAY)
        self.factor = min(max(grown, 1.0), _MOST)


def begin_pursuit(frame: Frame, goal: Goal, now: FeatureNow, *, is_replaced: bool) -> Pursuit:
    """A goal that is pursued from now on.

    ``is_replaced`` says whether it has taken the place of one that was pursued.
    """
    speed, place = now.linear @ frame.velocity, np.array(now.point)
    if is_replaced and goal.position is not None:
        own = goal.matters
        place[own] = way_begun(now.point[own], goal.position[own], speed[own], frame.step)
    return Pursuit(goal, frame.time, place, now.wxyz, speed, now.angular @ frame.velocity)


def join_objectives(parts: list[VelocityObjectives], width: int) -> VelocityObjectives:
    """All objectives as one."""
    if not parts:
        return VelocityObjectives(np.zeros((0, width)), np.zeros(0), np.zeros(0), np.zeros(0))
    matrix, error, weight, target_velocity = zip(*parts, strict=True)
    return VelocityObjectives(
        *(np.concatenate(part) for part in (matrix, error, weight, target_velocity))
    )


def feature_now(frame: Frame, goal: Goal) -> FeatureNow:
    """The feature of a goal where it is."""
    world = frame.world
    width = world.num_velocities
    linear, angular = np.zeros((3, width)), np.zeros((3, width))
    offset = np.zeros(3) if goal.feature.point is None else goal.feature.point
    for body, now in zip(world.bodies, frame.bodies, strict=True):
        if body.name == goal.feature.owner:
            arm = now.rotation @ (offset - body.body.center)
            body_point_rows(body.first, *arm, 1.0, linear)
            angular[:, body.first + 3 : body.first + 6] = np.eye(3)
            return FeatureNow(now.center + arm, now.wxyz, linear, angular)
    for hand, state in zip(world.hands, frame.hands, strict=True):
        if hand.name == goal.feature.owner:
            return _hand_feature(hand, state, goal, offset, linear, angular)
    raise AssertionError(f"no feature '{goal.feature.owner}'; problems are checked before")


def _hand_feature(
    hand: SteppedHand,
    state: HandState,
    goal: Goal,
    offset: np.ndarray,
    linear: np.ndarray,
    angular: np.ndarray,
) -> FeatureNow:
    frames = hand.model.frames
    link, place, axes = hand.model.wrist_link, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if goal.feature.frame is not None:
        n = frames.index(goal.feature.frame)
        link, place, axes = int(frames.link[n]), frames.position[n], frames.wxyz[n]
    turn = state.links.rotation[link]
    point = state.links.position[link] + turn @ (place + matrix_of(axes) @ offset)
    hand_point_rows(hand.chain(state.links), link, *point, 1.0, linear)
    if hand.is_free:
        angular[:, hand.first + 3 : hand.first + 6] = state.links.rotation[0]
    walk = link
    while walk > 0:
        if not hand.tree.is_slide[walk - 1]:
            angular[:, hand.first + hand.num_root + walk - 1] = state.links.axis[walk - 1]
        walk = int(hand.tree.parent[walk - 1])
    return FeatureNow(point, multiplied(of_matrix(turn), axes), linear, angular)
