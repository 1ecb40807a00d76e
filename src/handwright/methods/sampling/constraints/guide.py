"""A motion that hands stay near to: made of a clip, checked, and resampled to other frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, GuideHand
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.methods.sampling.setup.hands_as_one import joined_values
from handwright.methods.sampling.setup.intervals import CarryInterval

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

# Wrists of a guide that are farther away than this from the problem's, m, in half of the frames
# follow other tracks.
_FAR = 0.05
# A guide may begin later and end earlier than the problem by this share of its length.
_SHORT = 0.1


def guide_hands(clip: Clip, weight: float) -> tuple[GuideHand, ...]:
    """The hands of a clip as a guide; see ``ContactSampling.guided_by``.

    Raises:
        InvalidValueError: The weight is not above 0.
    """
    if not 0.0 < weight < np.inf:
        raise InvalidValueError(
            f"guided_by: weight is {weight:g}; expected a number above 0. 1 is usual; leave the "
            "guide out for none."
        )
    return tuple(
        GuideHand(name, tuple(clip.bodies), clip.times, motion.root.position, motion.q, weight)
        for name, motion in clip.hands.items()
    )


def check_guide(problem: Problem, method: ContactSampling) -> None:
    """Refuses a guide that is no motion of the problem's hands on its tracks.

    Raises:
        InvalidValueError: It is for other hands, bodies, times or tracks.
    """
    if not method.guide:
        return
    _check_names(problem, method.guide)
    for guide in method.guide:
        model = problem.hands.get(guide.hand)
        if model is not None:
            _check_joints(guide, model)
            _check_tracks(guide, problem)


def _check_names(problem: Problem, guide: tuple[GuideHand, ...]) -> None:
    missing = set(problem.hands) - {one.hand for one in guide}
    missing |= set(problem.bodies) - {name for one in guide for name in one.bodies}
    if missing:
        have = [*(one.hand for one in guide), *guide[0].bodies]
        raise InvalidValueError(
            f"The guide has no '{min(missing)}', which the problem '{problem.name}' has; it has "
            f"{', '.join(have)}. Give guided_by a motion of the same hands and bodies."
        )


def _check_joints(guide: GuideHand, model: HandModel) -> None:
    if guide.q.shape[1] != model.num_joints:
        raise InvalidValueError(
            f"The guide has {guide.q.shape[1]} joints for hand '{guide.hand}'; expected "
            f"{model.num_joints}, those of '{model.name}'. Give guided_by a motion of the same "
            "hand, or retarget it first."
        )


def _check_tracks(guide: GuideHand, problem: Problem) -> None:
    times = problem.times
    spare = _SHORT * float(times[-1] - times[0])
    if guide.times[0] > times[0] + spare or guide.times[-1] < times[-1] - spare:
        raise InvalidValueError(
            f"The guide of hand '{guide.hand}' runs from {guide.times[0]:g} to "
            f"{guide.times[-1]:g} s; expected {times[0]:g} to {times[-1]:g} s, as the problem "
            f"'{problem.name}' does. Give guided_by a motion of the whole problem."
        )
    inside = np.clip(guide.times, times[0], times[-1])
    away = np.linalg.norm(problem.track(guide.hand).at(inside).position - guide.wrist, axis=1)
    if float(np.median(away)) > _FAR:
        raise InvalidValueError(
            f"The wrist of hand '{guide.hand}' is {1e2 * float(np.median(away)):.0f} cm away from "
            f"the problem's in the guide; expected the tracks of '{problem.name}', within "
            f"{1e2 * _FAR:.0f} cm. Give guided_by a motion on the same tracks."
        )


def guide_postures(
    guide: tuple[GuideHand, ...], interval: CarryInterval, times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T J"]:
    """Joint values of the hands of a hold, side by side, at some times, s; within limits, rad.

    Between frames of the guide they are drawn straight; before its first and after its last frame
    they stay.
    """
    by_name = {one.hand: one for one in guide}
    parts = []
    for name, model in interval.hands.items():
        one = by_name[name]
        q = np.stack([np.interp(times, one.times, column) for column in one.q.T], axis=1)
        parts.append(model.joints.clamp(q).T)
    return np.ascontiguousarray(joined_values(parts).T)
