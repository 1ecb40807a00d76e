"""Contact-keeping: what is in the body comes out, what should touch it touches, the rest stays.

Algorithm 1 moves joints, which lie under the skin, and moves all that are near the body. Here the
capsules of the hand are moved, and only those that penetrate, or that hover though the network says
they touch. That is told by the gap that it predicts,

    predicted gap = gap of the fitted posture + predicted - measured distance of the joint,

with distances of joints interpolated along the bone: the flesh between joint and skin drops out.
Each digit that has such a capsule is solved once more, near the posture that was fitted and near
where its last two frames lead. A digit so moves smoothly however the network trembles, on a surface
more so than in the air.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import inlined, kernel
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import count_of, rig_of
from handwright.kinematics.ik.problem import DigitWorkspace, make_work
from handwright.kinematics.tree import Links, placed_row
from handwright.methods.neural.fitting.body_view import BodyView, distance_from
from handwright.methods.neural.fitting.digit_solver import DigitTask, settle_digit
from handwright.methods.neural.fitting.holds import Asked, nothing_asked
from handwright.methods.neural.fitting.joint_table import (
    JointTable,
    flat_links,
    joint_table,
    wrist_links,
)
from handwright.methods.neural.fitting.network_pose import empty_pose, read_pose
from handwright.methods.neural.fitting.pose_terms import PoseWeights
from handwright.methods.neural.fitting.touch_terms import clearance_of, gap_of, touch_table
from handwright.methods.neural.fitting.touches import CapsuleTouches
from handwright.methods.neural.sensing.features import FARTHEST_TARGET

# Joints behind the knuckles count as if they were so much further from the tips: the palm gives way
# last.
_PALM = 3.0


@dataclass(frozen=True, slots=True)
class ContactSettings:
    """How contacts are kept."""

    push: float = 12.0
    """Weight of depth in the body."""
    pull: float = 4.0
    """Weight of lying on the body for a capsule that should touch it."""
    stay: float = 0.5
    """Weight of staying at a place of the body for a capsule that holds it."""
    depth: float = 3e-4
    """How deep soft skin may sink in, m."""
    sure: float = 1e-3
    """Predicted gap below which a capsule should touch for sure, m."""
    doubtful: float = 6e-3
    """Predicted gap above which it need not, m; between the two its pull fades."""
    near: float = 6e-3
    """Gap of the fitted posture up to which a capsule is brought to the body, m."""
    far: float = 1.5e-2
    """Gap above which it is not, m; between the two its pull fades."""
    stiffness: float = 0.1
    """Weight of the fitted posture, against squared paths of a fingertip."""
    inertia: float = 0.3
    """Weight of where the last two frames lead, for a digit that touches."""
    momentum: float = 0.8
    """Share of the last frame's motion that goes on."""
    loose: float = 0.02
    """Gap of a digit from which on it counts as free, m."""
    free_inertia: float = 0.6
    """Weight of where the last two frames lead, for a digit that is free."""
    max_iterations: int = 6
    small_step: float = 1e-3
    """Largest change of a joint, rad, after which a digit is left as it is."""

    def __post_init__(self) -> None:
        weights = (
            self.push,
            self.pull,
            self.stay,
            self.stiffness,
            self.inertia,
            self.free_inertia,
            self.momentum,
            self.depth,
        )
        if not all(0.0 <= weight < np.inf for weight in weights) or self.stiffness == 0.0:
            raise InvalidValueError(f"{self}: expected weights of 0 or more, and some stiffness.")
        if not (self.sure < self.doubtful and self.near < self.far and self.loose > 0.0):
            raise InvalidValueError(
                f"{self}: expected sure below doubtful, near below far, and loose above 0."
            )
        if self.max_iterations < 1 or not self.small_step > 0.0:
            raise InvalidValueError(f"{self}: expected an iteration or more, and a step above 0.")


class _Numbers(NamedTuple):
    """Settings as the kernels read them; see ``ContactSettings``."""

    pull: float
    stay: float
    sure: float
    doubtful: float
    near: float
    far: float
    stiffness: float
    inertia: float
    free_inertia: float
    momentum: float
    loose: float


class _Room(NamedTuple):
    """What the kernel reads and writes for one hand."""

    task: DigitTask
    numbers: _Numbers
    lever: Float[np.ndarray, " J"]
    """Squared distance of each joint from the tip of its digit, m^2."""
    links: Links
    work: DigitWorkspace


@inlined
def _fading(value: float, full: float, none: float) -> float:
    """1 up to ``full``, 0 from ``none`` on, and a smooth curve between them."""
    x = min(max((none - value) / (none - full), 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@inlined
def _distance_error(room: _Room, view: BodyView, row: int, n: int) -> float:
    """How much further from the body than it is the network says that a joint is, m."""
    joints = room.task.joints
    point = placed_row(room.links, joints.link[n], joints.local, n)
    measured, _ = distance_from(view, row, point)
    return room.task.pose.distance[n] - min(max(measured, 0.0), FARTHEST_TARGET)


@kernel
def _ask_capsules(
    room: _Room, view: BodyView, row: int, digit: int, asked: Asked
) -> tuple[bool, float]:
    """Sets what is asked of a placed digit's capsules, by the network and by forces.

    Returns:
        Whether a capsule has to move, and the least gap of all, m.
    """
    touch, numbers = room.task.touch, room.numbers
    has_to_move, least = False, np.inf
    for c in range(touch.first[digit], touch.first[digit + 1]):
        gap, share, _, _ = gap_of(touch, room.links, view, row, c)
        least = min(least, gap)
        touch.pull[c] = 0.0
        if gap < numbers.far:
            n = touch.joint[c]
            error = (1.0 - share) * _distance_error(room, view, row, n)
            error += share * _distance_error(room, view, row, n + 1)
            should_touch = _fading(gap + error, numbers.sure, numbers.doubtful)
            touch.pull[c] = numbers.pull * should_touch * _fading(gap, numbers.near, numbers.far)
        of_hand = touch.capsule[c]
        touch.pull[c] = max(touch.pull[c], numbers.pull * asked.touch[row, of_hand])
        touch.stay[c] = numbers.stay * asked.stay[row, of_hand]
        for i in range(3):
            touch.on_link[c, i] = asked.on_link[row, of_hand, i]
            touch.on_body[c, i] = asked.on_body[row, of_hand, i]
        room_left, _, _ = clearance_of(touch, room.links, view, row, c)
        is_deep = min(gap, room_left) < -touch.depth
        has_to_move = has_to_move or is_deep or touch.pull[c] > 0.0
    return has_to_move, least


@kernel
def _prefer(room: _Room, digit: int, q: np.ndarray, past: np.ndarray, inertia: float) -> None:
    """Sets the posture that a digit should stay near: as fitted, and where its past leads."""
    task, numbers = room.task, room.numbers
    share = inertia / (inertia + numbers.stiffness)
    for a in range(count_of(task.rig.table.free, digit)):
        joint = task.rig.table.free[digit, a]
        task.reference[joint] = q[joint]
        if inertia > 0.0:
            led = past[0, joint] + numbers.momentum * (past[0, joint] - past[1, joint])
            task.reference[joint] += share * (led - q[joint])
        task.stiffness[joint] = (inertia + numbers.stiffness) * room.lever[joint]


@kernel
def _correct_batch(
    room: _Room,
    view: BodyView,
    outputs: np.ndarray,
    past: np.ndarray,
    asked: Asked,
    q: np.ndarray,
) -> None:
    """Corrects every row of ``q`` by its row of outputs and of what forces ask."""
    task, numbers, table = room.task, room.numbers, room.task.rig.table
    for row in range(q.shape[0]):
        read_pose(task.joints, outputs, row, task.pose)
        for digit in range(task.joints.first.shape[0] - 1):
            count = count_of(table.free, digit)
            place_digit(task.rig, room.links, digit, q[row])
            has_to_move, gap = _ask_capsules(room, view, row, digit, asked)
            # A posture without a past is marked by NaN.
            has_past = past[row, 0, table.free[digit, 0]] == past[row, 0, table.free[digit, 0]]
            inertia = 0.0
            if has_past:
                near = _fading(gap, 0.0, numbers.loose)
                inertia = near * numbers.inertia + (1.0 - near) * numbers.free_inertia
            _prefer(room, digit, q[row], past[row], inertia)
            for a in range(count):
                joint = table.free[digit, a]
                # From where it was, a digit does not pass to the other side of a thin wall.
                start = past[row, 0, joint] if has_past and has_to_move else task.reference[joint]
                q[row, joint] = min(max(start, table.lower[joint]), table.upper[joint])
            if has_to_move:
                settle_digit(task, view, row, room.links, digit, q[row], room.work)
            else:
                place_digit(task.rig, room.links, digit, q[row])


class ContactCorrection:
    """Contact-keeping for one hand; holds room to compute in: one thread at a time may use it."""

    __slots__ = ("_room", "num_capsules", "touches")

    def __init__(self, model: HandModel, settings: ContactSettings | None = None) -> None:
        chosen = ContactSettings() if settings is None else settings
        joints = joint_table(model)
        task = DigitTask(
            rig_of(model), joints, empty_pose(), PoseWeights(0.0, 0.0),
            touch_table(model, joints, push=chosen.push, depth=chosen.depth),
            np.zeros(model.num_joints), np.zeros(model.num_joints),
            chosen.max_iterations, chosen.small_step,
        )  # fmt: skip
        self.num_capsules = len(model.capsules.link)
        self.touches = CapsuleTouches(model, task.touch)
        numbers = _Numbers(*(float(getattr(chosen, name)) for name in _Numbers._fields))
        self._room = Packed(
            _Room(task, numbers, _levers(model, joints) ** 2, wrist_links(model), make_work())
        )

    def __call__(
        self,
        view: BodyView,
        outputs: Float[np.ndarray, "N 220"],
        q: Float[np.ndarray, "N J"],
        past: Float[np.ndarray, "N 2 J"],
        asked: Asked | None = None,
    ) -> Float[np.ndarray, "N J"]:
        """Corrected joint values, rad.

        Args:
            view: The body, from each of the N wrist poses.
            outputs: What the network gave.
            q: Postures that were fitted to it, rad.
            past: Corrected postures of the last frame and the one before it, rad; NaN in rows
                that have none.
            asked: What forces ask of the capsules of the hand; nothing if not given.
        """
        corrected = np.array(q)
        if asked is None:
            asked = nothing_asked(len(q), self.num_capsules)
        _correct_batch(self._room, Packed(view), outputs, past, asked, corrected)
        return corrected


def _levers(model: HandModel, joints: JointTable) -> Float[np.ndarray, " J"]:
    """Distance of each joint of a digit from its tip on the straight hand, m."""
    place, levers = flat_links(model), np.zeros(model.num_joints)
    for row, digit in enumerate(model.digits):
        tip = place[digit.tip.link] + digit.tip.position
        own = np.array(digit.joints)
        levers[own] = np.linalg.norm(tip - place[own + 1], axis=1)
        n = joints.first[row]
        first = np.linalg.norm(tip - place[joints.link[n]] - joints.local[n])
        # The two axes of the thumb's saddle joint are a little apart; that is not yet the palm.
        levers[own[levers[own] > 1.3 * first]] *= _PALM
    return levers
