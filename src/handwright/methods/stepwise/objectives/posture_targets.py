"""Where hands and bodies are wanted apart from goals: postures, reaches and given motions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.math import rotation
from handwright.math.one_turn import own_turn_to, turn_to
from handwright.math.pose import Pose
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.horizon import VelocityObjectives
from handwright.methods.stepwise.objectives.pursuit import POSITION_WEIGHT, ROTATION_WEIGHT
from handwright.methods.stepwise.settings import Settings

# Factor of the weight with which a hand follows a reach, over that of keeping a posture.
_REACHING = 100.0
# Of a free root that is off where it is wanted, 1/m^2 and 1/rad^2.
_ROOT_POSITION_WEIGHT, _ROOT_ROTATION_WEIGHT = 3e3, 100.0


class PostureTarget(Protocol):
    """Where a hand is wanted over time."""

    def at(self, time: float) -> tuple[np.ndarray, Pose]:
        """Joint values, rad, and root at a time, s."""

    def tracks_tightly(self, time: float) -> bool | Bool[np.ndarray, " J"]:
        """Whether it, or each of its joints, is to be followed closely at a time, s."""

    def releases_arm(self, time: float) -> bool:
        """Whether the arm is left to goals at a time, s."""


@dataclass(frozen=True, slots=True, eq=False)
class FixedPosture:
    """One posture for all time."""

    q: Float[np.ndarray, " J"]
    root: Pose

    def at(self, time: float) -> tuple[np.ndarray, Pose]:
        """See ``PostureTarget``."""
        return self.q, self.root

    def tracks_tightly(self, time: float) -> bool:
        """See ``PostureTarget``."""
        return False

    def releases_arm(self, time: float) -> bool:
        """See ``PostureTarget``."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class FollowedPosture:
    """The motion of a hand of a clip."""

    clip: Clip
    name: str
    busy: Callable[[float], Bool[np.ndarray, " J"]]
    """Joints that lead to contacts of the clip at a time, s."""

    def at(self, time: float) -> tuple[np.ndarray, Pose]:
        """See ``PostureTarget``."""
        motion = self.clip.hands[self.name]
        row, share = _between(self.clip.times, time)
        q = (1.0 - share) * motion.q[row] + share * motion.q[row + 1]
        return q, _blend(motion.root, row, share)

    def tracks_tightly(self, time: float) -> Bool[np.ndarray, " J"]:
        """Joints that hold nothing do; those that hold give way to what they hold."""
        return ~self.busy(time)

    def releases_arm(self, time: float) -> bool:
        """See ``PostureTarget``."""
        return False


def posture_objectives(
    frame: Frame, h: int, wanted: PostureTarget, settings: Settings, *, is_led: bool = False
) -> VelocityObjectives:
    """Objectives that lead hand ``h`` to where it is wanted.

    An arm that reaches for nothing any more, or that has goals (``is_led``), stays where goals take
    it: it has no posture of its own to come back to, and its weight only calms it.
    """
    hand, state = frame.world.hands[h], frame.hands[h]
    time, step = frame.time, frame.step
    q, root = wanted.at(time)
    ahead, root_ahead = wanted.at(time + step)
    count, first = hand.count, hand.num_root
    matrix = np.zeros((count, frame.world.num_velocities))
    matrix[:, hand.slice] = np.eye(count)
    error, target_velocity = np.zeros((2, count))
    weight = np.full(count, settings.finger_weight)
    error[first:], target_velocity[first:] = state.q - q, (ahead - q) / step
    arm = slice(first, first + hand.model.wrist_link)
    weight[arm] = settings.arm_weight
    is_tight = wanted.tracks_tightly(time)
    weight[first:] *= np.where(is_tight, _REACHING, 1.0)
    is_led &= not np.any(is_tight)
    if wanted.releases_arm(time) or is_led:
        error[arm] = 0.0
    if hand.is_free:
        error[:3] = state.position - root.position
        target_velocity[:3] = (root_ahead.position - root.position) / step
        error[3:6] = own_turn_to(root.wxyz, state.wxyz)
        target_velocity[3:6] = own_turn_to(root.wxyz, root_ahead.wxyz) / step
        weight[:3], weight[3:6] = _ROOT_POSITION_WEIGHT, _ROOT_ROTATION_WEIGHT
        if is_led:
            error[:6] = 0.0
    return VelocityObjectives(matrix, error, weight, target_velocity)


def body_objectives(frame: Frame, n: int, clip: Clip) -> VelocityObjectives:
    """Objectives that lead body ``n`` along its motion in a clip."""
    body, now = frame.world.bodies[n], frame.bodies[n]
    time, step = frame.time, frame.step
    track = clip.bodies[body.name]
    pose, ahead = (_blend(track, *_between(clip.times, t)) for t in (time, time + step))
    center, center_ahead = pose.apply(body.body.center), ahead.apply(body.body.center)
    matrix = np.zeros((6, frame.world.num_velocities))
    matrix[:, body.slice] = np.eye(6)
    turned = turn_to(pose.wxyz, now.wxyz)
    rate = turn_to(pose.wxyz, ahead.wxyz) / step
    return VelocityObjectives(
        matrix,
        np.concatenate([now.center - center, turned]),
        np.array([POSITION_WEIGHT] * 3 + [ROTATION_WEIGHT] * 3),
        np.concatenate([(center_ahead - center) / step, rate]),
    )


def _between(times: Float[np.ndarray, " T"], time: float) -> tuple[int, float]:
    """Frame before a time, and the share of the way to the next one."""
    row = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2))
    return row, float(np.clip((time - times[row]) / (times[row + 1] - times[row]), 0.0, 1.0))


def _blend(poses: Pose, row: int, share: float) -> Pose:
    one, two = poses[row], poses[row + 1]
    turn = turn_to(one.wxyz, two.wxyz)
    return Pose.normalized(
        (1.0 - share) * one.position + share * two.position,
        rotation.multiply(rotation.exp(share * turn), one.wxyz),
    )
