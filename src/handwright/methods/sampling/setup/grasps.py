"""First grasps: candidates for several digits at once, or a hand that closes around the body.

Candidates for single digits, drawn one by one, seldom make a grasp of which palm and near phalanges
bear a part. Closing does, whatever the shape of the body: each joint bends towards a closed hand
until skin touches, and those beyond it go on.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.methods.sampling.search.contacts import collect_contacts
from handwright.methods.sampling.search.posing import pose_digits
from handwright.methods.sampling.search.step import SearchState, update_guides
from handwright.methods.sampling.search.workspace import FREE, HOLD
from handwright.methods.sampling.setup.hold_data import HoldData

# Steps from the open hand to the closed one: with fewer a finger may pass through a thin handle.
_STEPS = 24
# Share of the way to the closed hand that fingers are asked to go.
_CLOSING = (0.7, 1.1)
# The same where the guide's hand, which is about there, closes further.
_GUIDED_STEPS, _GUIDED_CLOSING = 8, (0.0, 0.4)
# How much the wanted posture varies, as a share of a joint's range; thumbs oppose in many ways.
_FINGERS, _THUMBS = 0.06, 0.25


def first_digits(hand_of_digit: Int[np.ndarray, " D"]) -> Bool[np.ndarray, " D"]:
    """Which digits are the first of their hands: the thumbs."""
    return np.append(True, hand_of_digit[1:] != hand_of_digit[:-1])


def draw_grasps(
    appeal: Float[np.ndarray, "D M"],
    takes_part: Bool[np.ndarray, " D"],
    is_sure: Bool[np.ndarray, " D"],
    tries: int,
    leave_free: Float[np.ndarray, " D"],
    rng: np.random.Generator,
) -> Int[np.ndarray, "N D"]:
    """Draws candidates of digits for some grasps, -1 for digits that stay off the body.

    ``appeal`` is how much digits prefer candidates, added up over these. Digits that are not sure
    to take part are left out with their probability ``leave_free``.
    """
    chosen = np.full((tries, len(appeal)), -1)
    for d in np.flatnonzero(takes_part & (appeal[:, -1] > 0.0)).tolist():
        mark = rng.random(tries) * appeal[d, -1]
        touches = rng.random(tries) >= (0.0 if is_sure[d] else leave_free[d])
        chosen[touches, d] = np.searchsorted(appeal[d], mark, side="right")[touches]
    return chosen


def closing_state(data: HoldData, state: SearchState) -> Packed:
    """A search state in which free digits bend towards a posture until they touch."""
    return Packed(
        state._replace(
            data=data._replace(idle_weights=data.hold_weights._replace(pad=0.0, nail=0.0))
        )
    )


def wanted_posture(data: HoldData, rng: np.random.Generator) -> Float[np.ndarray, " J"]:
    """A more or less closed hand, rad, in which digits that may not touch stay open."""
    wanted = data.ready[0, 1].copy()
    for d, is_thumb in enumerate(first_digits(data.hands.hand_of_digit)):
        free = data.hands.table.free[d]
        own = free[free >= 0]
        share, noise = rng.uniform(*_CLOSING), rng.standard_normal(len(own))
        if not data.may_touch[0, d]:
            continue
        reach = data.high[0, own] - data.low[0, own]
        wanted[own] = data.hands.rest[own] + share * (data.curled[0, own] - data.hands.rest[own])
        wanted[own] += (_THUMBS if is_thumb else _FINGERS) * noise * reach
    return np.clip(wanted, data.low[0], data.high[0])


def guided_posture(
    data: HoldData, leave_free: Float[np.ndarray, " D"], rng: np.random.Generator
) -> Float[np.ndarray, " J"]:
    """The guide's hand, rad, more closed where digits touch, as all do that are not left free."""
    wanted = data.comfortable[0].copy()
    for d, is_thumb in enumerate(first_digits(data.hands.hand_of_digit)):
        free = data.hands.table.free[d]
        own = free[free >= 0]
        share, noise = rng.uniform(*_GUIDED_CLOSING), rng.standard_normal(len(own))
        if not data.may_touch[0, d] or rng.random() < leave_free[d]:
            continue
        reach = data.high[0, own] - data.low[0, own]
        wanted[own] += share * (data.hands.closed[own] - wanted[own])
        wanted[own] += 0.5 * (_THUMBS if is_thumb else _FINGERS) * noise * reach
    return np.clip(wanted, data.low[0], data.high[0])


def closing_steps(is_guided: bool) -> int:
    """Number of steps in which hands close."""
    return _GUIDED_STEPS if is_guided else _STEPS


@compiled
def close_hands(state: SearchState, wanted: Float[np.ndarray, " J"], steps: int) -> None:
    """Closes all hands in frame 0 towards a posture, rad; digits are guided to where they touch.

    This takes some steps.
    The state is that of ``closing_state``; row 0 of its path is written.
    """
    data, work, q = state.data, state.work, state.path.q[0]
    digits = work.guide.mode.shape[0]
    for d in range(digits):
        work.guide.mode[d] = FREE
    for j in range(q.shape[0]):
        q[j] = data.ready[0, 1, j]
    for n in range(steps):
        share = (n + 1.0) / steps
        for j in range(q.shape[0]):
            begin, low, high = data.ready[0, 1, j], data.low[0, j], data.high[0, j]
            most = 1.5 * abs(wanted[j] - begin) / steps + 0.02
            work.reference[j] = begin + share * (wanted[j] - begin)
            work.low[j] = min(max(q[j] - most, low), high)
            work.high[j] = max(min(q[j] + most, high), low)
        pose_digits(data, 0, q, work)
    collect_contacts(data, 0, work, False)
    for d in range(digits):
        # One that touches nothing, or is not to, becomes free.
        work.guide.mode[d] = HOLD if data.may_touch[0, d] else FREE
        work.is_lost[d] = True
    update_guides(data, work, False)
