"""The path of the search: for each frame the state that it reached and the plan that it follows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.methods.sampling.setup.hold_data import HoldData


class Path(NamedTuple):
    """Rows by frame; what a digit does in frame t + 1 is planned in row t."""

    q: np.ndarray
    """(T, J) rad."""
    mode: np.ndarray
    """(T, D) FREE, HOLD, SLIDE or FLY, as planned for the next frame."""
    reached: np.ndarray
    """(T, D) the same as this frame itself was reached."""
    kept: np.ndarray
    """(T, D) whether the guiding point goes on from the last frame without slipping."""
    link: np.ndarray
    """(T, D) that the guiding point is fixed to."""
    local: np.ndarray
    """(T, D, 3) guiding point on that link, m."""
    target: np.ndarray
    """(T, D, 3) guiding point on the body, m."""
    normal: np.ndarray
    """(T, D, 3) out of the body there."""
    slide: np.ndarray
    """(T, D, 3) motion over the surface, m a frame."""
    fly_begin: np.ndarray
    """(T, D) frame of lift-off."""
    fly_end: np.ndarray
    """(T, D) frame of landing."""
    fly_candidate: np.ndarray
    """(T, D) candidate that it flies to."""
    fly_pad: np.ndarray
    """(T, D) which point of the pad will touch."""
    fly_from: np.ndarray
    """(T, D, 3)"""
    fly_goal: np.ndarray
    """(T, D, 3)"""
    fly_normal: np.ndarray
    """(T, D, 3)"""
    load: np.ndarray
    """(T, D) normal force over the weight."""
    ratio: np.ndarray
    """(T, D) friction over the most there may be."""
    pull: np.ndarray
    """(T, D, 3) direction of friction on the body."""
    shear: np.ndarray
    """(T, C, 3) by which skin that touches has given way, m; see ``Limits.shear``."""
    window_end: np.ndarray
    """(T,) frame at which the plan that covers this frame is made anew."""


def make_path(data: HoldData, frames: int) -> Path:
    """Room for a path with the hands of a stage."""
    joints, digits, capsules = (
        len(of) for of in (data.rest, data.hand_of_digit, data.digit_of_capsule)
    )
    one = np.zeros((frames, digits))
    three = np.zeros((frames, digits, 3))
    whole = np.zeros((frames, digits), dtype=np.int64)
    return Path(
        q=np.zeros((frames, joints)),
        mode=whole.copy(),
        reached=whole.copy(),
        kept=np.zeros((frames, digits), dtype=np.bool_),
        link=whole.copy(),
        local=three.copy(),
        target=three.copy(),
        normal=three.copy(),
        slide=three.copy(),
        fly_begin=whole.copy(),
        fly_end=whole.copy(),
        fly_candidate=whole.copy(),
        fly_pad=whole.copy(),
        fly_from=three.copy(),
        fly_goal=three.copy(),
        fly_normal=three.copy(),
        load=one.copy(),
        ratio=one.copy(),
        pull=three.copy(),
        shear=np.zeros((frames, capsules, 3)),
        window_end=np.zeros(frames, dtype=np.int64),
    )


def copy_path(path: Path) -> Path:
    """A path of its own."""
    return Path(*(column.copy() for column in path))
