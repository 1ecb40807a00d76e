"""Goals as objectives of a frame: references that move by the velocity profile (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.goal import Goal
from handwright.math.one_turn import matrix_of, multiplied, of_matrix, turn_to
from handwright.math.vectors import length
from handwright.methods.stepwise.horizon import Rows
from handwright.methods.stepwise.point_rows import body_point_rows, hand_point_rows
from handwright.methods.stepwise.profile import reaching_rate, share_at_rate
from handwright.methods.stepwise.world import BodyState, HandPart, HandState, World

PLACE_PRICE, TURN_PRICE = 1e5, 3e3
"""Of a body that is off its goal, 1/m^2 and 1/rad^2."""
# A goal this near is held, not reached for, m and rad.
_THERE, _TURNED = 2e-3, 0.02
# Adaptive reweighting: by how much the price grows in a frame that is too slow, falls in others,
# and how far it goes.
_GROWTH, _DECAY, _MOST = 1.15, 0.97, 30.0
# The shortest time that a way may be given, s.
_LEAST_TIME = 0.3


@dataclass(slots=True, eq=False)
class Pursuit:
    """A goal that is being gone for."""

    goal: Goal
    began: float
    """s."""
    place: Float[np.ndarray, "3"]
    """Of the feature when it began, m."""
    wxyz: Float[np.ndarray, "4"]
    factor: float = 1.0
    """Of the price, by adaptive reweighting."""

    def rows(
        self,
        point: Float[np.ndarray, "3"],
        wxyz: Float[np.ndarray, "4"],
        linear: Float[np.ndarray, "3 N"],
        angular: Float[np.ndarray, "3 N"],
        velocity: Float[np.ndarray, " N"],
    ) -> Rows:
        """Objectives of this frame.

        Args:
            point: Of the feature now, m.
            wxyz: Its axes now.
            linear: Its velocity by the velocities.
            angular: Its angular velocity by the velocities.
            velocity: Of the last frame.
        """
        goal, time = self.goal, max(self.goal.start - self.began, _LEAST_TIME)
        parts = []
        if goal.position is not None:
            way = goal.position - self.place
            error, wish = _toward(point - self.place, way, time, _THERE)
            self._reweight(float((linear @ velocity) @ way), float(wish @ way))
            price = np.full(3, self.factor * goal.weight * PLACE_PRICE)
            parts.append(Rows(linear, error, price, wish))
        if goal.wxyz is not None:
            way = turn_to(self.wxyz, goal.wxyz)
            done = turn_to(self.wxyz, wxyz)
            error, wish = _toward(done, way, time, _TURNED)
            price = np.full(3, goal.weight * TURN_PRICE)
            parts.append(Rows(angular, error, price, wish))
        return joined(parts, linear.shape[1])

    def _reweight(self, speed: float, wanted: float) -> None:
        too_slow = wanted > 0.0 and speed < 0.9 * wanted
        grown = self.factor * (_GROWTH if too_slow else _DECAY)
        self.factor = min(max(grown, 1.0), _MOST)


def way_begun(
    point: Float[np.ndarray, "3"],
    goal: Float[np.ndarray, "3"],
    velocity: Float[np.ndarray, "3"],
    step: float,
) -> Float[np.ndarray, "3"]:
    """Where a way begins on which a feature that moves already is a frame on, m.

    For goals that are put in the place of others while those are gone for, as often as in every
    frame: a reach that began from rest each time would never get anywhere.

    Args:
        point: Of the feature, m.
        goal: Where it is to go, m.
        velocity: Of the feature, m/s.
        step: s.
    """
    left = goal - point
    size = length(left)
    if size < _THERE:
        return point
    share = share_at_rate(_LEAST_TIME * float(velocity @ left) / size**2)
    share = min(share + reaching_rate(share) * step / _LEAST_TIME, 0.5)
    return np.asarray(point - share / (1.0 - share) * left)


def _toward(
    done: np.ndarray, way: np.ndarray, time: float, near: float
) -> tuple[np.ndarray, np.ndarray]:
    """Error and wished velocity: the reference is on the way, abreast of what is done."""
    whole = float(way @ way)
    if whole < near**2 or length(done - way) < near:
        return done - way, np.zeros(3)
    share = min(max(float(done @ way) / whole, 0.0), 1.0)
    if share >= 1.0:
        return done - way, np.zeros(3)
    return done - share * way, way * reaching_rate(share) / time


def joined(parts: list[Rows], width: int) -> Rows:
    """All objectives as one."""
    if not parts:
        return Rows(np.zeros((0, width)), np.zeros(0), np.zeros(0), np.zeros(0))
    matrix, error, price, wish = zip(*parts, strict=True)
    return Rows(*(np.concatenate(part) for part in (matrix, error, price, wish)))


def feature_now(
    world: World, goal: Goal, hands: list[HandState], bodies: list[BodyState]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Point and axes of a goal's feature in the world, and the rows of their velocities."""
    width = world.num_velocities
    linear, angular = np.zeros((3, width)), np.zeros((3, width))
    offset = np.zeros(3) if goal.feature.point is None else goal.feature.point
    for body, now in zip(world.bodies, bodies, strict=True):
        if body.name == goal.feature.owner:
            arm = now.turn @ (offset - body.body.center)
            body_point_rows(body.first, *arm, 1.0, linear)
            angular[:, body.first + 3 : body.first + 6] = np.eye(3)
            return now.center + arm, now.wxyz, linear, angular
    for hand, state in zip(world.hands, hands, strict=True):
        if hand.name == goal.feature.owner:
            return _hand_feature(hand, state, goal, offset, linear, angular)
    raise AssertionError(f"no feature '{goal.feature.owner}'; problems are checked before")


def _hand_feature(
    hand: HandPart,
    state: HandState,
    goal: Goal,
    offset: np.ndarray,
    linear: np.ndarray,
    angular: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    frames = hand.model.frames
    link, place, axes = hand.model.wrist_link, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if goal.feature.frame is not None:
        n = frames.index(goal.feature.frame)
        link, place, axes = int(frames.link[n]), frames.position[n], frames.wxyz[n]
    turn = state.links.rotation[link]
    point = state.links.position[link] + turn @ (place + matrix_of(axes) @ offset)
    hand_point_rows(hand.tree, state.links, hand.num_root, hand.first, link, *point, 1.0, linear)
    if hand.is_free:
        angular[:, hand.first + 3 : hand.first + 6] = state.links.rotation[0]
    walk = link
    while walk > 0:
        if not hand.tree.is_slide[walk - 1]:
            angular[:, hand.first + hand.num_root + walk - 1] = state.links.axis[walk - 1]
        walk = int(hand.tree.parent[walk - 1])
    return point, multiplied(of_matrix(turn), axes), linear, angular
