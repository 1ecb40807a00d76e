"""The path of the search: for each frame the state that it reached and the plan that it follows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.methods.sampling.setup.hold_data import HoldData


class Path(NamedTuple):
    """One row for each of T frames; what a digit does in frame t + 1 is planned in row t.

    There are J joints, D digits and C capsules. Points are in the body's frame.
    """

    q: Float[np.ndarray, "T J"]
    """Joint values, rad."""
    mode: Int[np.ndarray, "T D"]
    """FREE, HOLD, SLIDE or FLY, as planned for the next frame."""
    reached: Int[np.ndarray, "T D"]
    """The mode with which this frame itself was reached."""
    kept: Bool[np.ndarray, "T D"]
    """Whether the guiding point goes on from the last frame without slipping."""
    link: Int[np.ndarray, "T D"]
    """The link that the guiding point is fixed to."""
    local: Float[np.ndarray, "T D 3"]
    """The guiding point in the frame of that link, m."""
    target: Float[np.ndarray, "T D 3"]
    """The guiding point on the body, m."""
    normal: Float[np.ndarray, "T D 3"]
    """The outward normal of the body at the guiding point."""
    slide: Float[np.ndarray, "T D 3"]
    """Planned motion over the surface, m a frame."""
    fly_begin: Int[np.ndarray, "T D"]
    """The frame of lift-off."""
    fly_end: Int[np.ndarray, "T D"]
    """The frame of landing."""
    fly_candidate: Int[np.ndarray, "T D"]
    """The candidate at which the digit lands."""
    fly_pad: Int[np.ndarray, "T D"]
    """The point of the digit that will touch, as a column of ``HoldData.pads``."""
    fly_from: Float[np.ndarray, "T D 3"]
    """Where the flight begins, m."""
    fly_goal: Float[np.ndarray, "T D 3"]
    """Where the flight ends, m."""
    fly_normal: Float[np.ndarray, "T D 3"]
    """The outward normal of the body where the flight ends."""
    load: Float[np.ndarray, "T D"]
    """Normal force over the weight of the body."""
    ratio: Float[np.ndarray, "T D"]
    """Friction over the most that there may be."""
    pull: Float[np.ndarray, "T D 3"]
    """Direction of friction on the body."""
    shear: Float[np.ndarray, "T C 3"]
    """Stretch of the skin that touches, m; see ``Limits.shear``."""
    window_end: Int[np.ndarray, " T"]
    """The frame at which the plan that covers this frame is drawn anew."""


def make_path(data: HoldData, frames: int) -> Path:
    """Allocates a path for the hands of a hold; all digits are free in all frames."""

    def scalars() -> Float[np.ndarray, "T D"]:
        return np.zeros((frames, data.num_digits))

    def numbers() -> Int[np.ndarray, "T D"]:
        return np.zeros((frames, data.num_digits), dtype=np.int64)

    def vectors() -> Float[np.ndarray, "T D 3"]:
        return np.zeros((frames, data.num_digits, 3))

    return Path(
        q=np.zeros((frames, data.num_joints)),
        mode=numbers(),
        reached=numbers(),
        kept=np.zeros((frames, data.num_digits), dtype=np.bool_),
        link=numbers(),
        local=vectors(),
        target=vectors(),
        normal=vectors(),
        slide=vectors(),
        fly_begin=numbers(),
        fly_end=numbers(),
        fly_candidate=numbers(),
        fly_pad=numbers(),
        fly_from=vectors(),
        fly_goal=vectors(),
        fly_normal=vectors(),
        load=scalars(),
        ratio=scalars(),
        pull=vectors(),
        shear=np.zeros((frames, data.num_capsules, 3)),
        window_end=np.zeros(frames, dtype=np.int64),
    )


def copy_path(path: Path) -> Path:
    """Returns a path that shares no memory with the given one."""
    return Path(*(column.copy() for column in path))
