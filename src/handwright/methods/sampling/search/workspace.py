"""Memory of the search: guiding points, contacts and forces of one frame, and room to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.errors import InvalidValueError
from handwright.kinematics.ik.workspace import Work, make_work
from handwright.kinematics.tree import Links
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.pyramid import PyramidWork, make_pyramid_work
from handwright.mechanics.wrench import ForceContacts, no_contacts
from handwright.methods.sampling.setup.hold_data import HoldData

# How a digit takes part in a frame.
FREE, HOLD, SLIDE, FLY = 0, 1, 2, 3

MAX_DIGITS = 16
_NUM_EDGES = 8


class Guide(NamedTuple):
    """Guiding points of a frame, one for each digit; see FREE and the others for ``mode``."""

    mode: np.ndarray
    """(D,)"""
    link: np.ndarray
    """(D,) that the point is fixed to."""
    local: np.ndarray
    """(D, 3) on that link, m."""
    target: np.ndarray
    """(D, 3) where it should be, in the body's frame, m."""
    normal: np.ndarray
    """(D, 3) out of the body there."""


class FrameContacts(NamedTuple):
    """Contacts and forces of a frame."""

    num: np.ndarray
    """(2,): all contacts, and those of them that are with the ground, which come first."""
    capsule: np.ndarray
    """(N,) or -1 for the ground."""
    point: np.ndarray
    """(N, 3), on the body, m."""
    gap: np.ndarray
    slip: np.ndarray
    """(N, 3) motion of the hand's material point over the body since the last frame, m."""
    load: np.ndarray
    """(D,) normal force of each digit over the weight."""
    ratio: np.ndarray
    """(D,) friction of a digit's foremost loaded contact over the most it may have."""
    pull: np.ndarray
    """(D, 3) direction of that friction."""
    blame: np.ndarray
    """(2,) digits that a failure is due to, or -1."""
    total: np.ndarray
    """(1,) sum of all normal forces of the hands over the weight."""


class Workspace(NamedTuple):
    """Memory of the search; one for each process."""

    guide: Guide
    now: Links
    before: Links
    ik: Work
    contacts: ForceContacts
    cone: ConeWork
    pyramid: PyramidWork
    low: np.ndarray
    high: np.ndarray
    reference: np.ndarray
    spare: np.ndarray
    """(J,) joint values that are only tried."""
    found: FrameContacts
    sheared: np.ndarray
    """(C, 3) by which skin had given way at the frame's beginning, m."""
    shear: np.ndarray
    """(C, 3) by which it has at its end; zero where nothing touches."""
    is_lost: np.ndarray
    """(D,) digits that could not be brought to their guiding points."""
    must_touch: np.ndarray
    """(D,) digits whose guiding points must be met."""
    force_weight: np.ndarray
    """(D,) of normal force, by digit."""
    is_landing: np.ndarray
    """(D,) digits that come down in this frame: they move, so nothing is asked of them yet."""


def make_workspace(data: HoldData) -> Workspace:
    """Memory for one stage."""
    joints = len(data.rest)
    needed = 2 * len(data.digit_of_capsule) + int(np.diff(data.ground.first).max(initial=0)) + 1
    # Few sizes, because code is compiled for each.
    capacity = max(64, 1 << (needed - 1).bit_length())
    if len(data.hand_of_digit) > MAX_DIGITS:
        raise InvalidValueError(
            f"The hands have {len(data.hand_of_digit)} digits; expected {MAX_DIGITS} at most."
        )

    def links() -> Links:
        return Links(np.zeros((joints + 1, 3, 3)), np.zeros((joints + 1, 3)), np.zeros((joints, 3)))

    digits = len(data.hand_of_digit)
    return Workspace(
        guide=Guide(
            np.zeros(digits, dtype=np.int64),
            np.zeros(digits, dtype=np.int64),
            np.zeros((digits, 3)),
            np.zeros((digits, 3)),
            np.zeros((digits, 3)),
        ),
        now=links(),
        before=links(),
        ik=make_work(data.samples),
        contacts=no_contacts(capacity),
        cone=make_cone_work(capacity),
        pyramid=make_pyramid_work(capacity, _NUM_EDGES),
        low=np.zeros(joints),
        high=np.zeros(joints),
        reference=np.zeros(joints),
        spare=np.zeros(joints),
        found=FrameContacts(
            np.zeros(2, dtype=np.int64),
            np.zeros(capacity, dtype=np.int64),
            np.zeros((capacity, 3)),
            np.zeros(capacity),
            np.zeros((capacity, 3)),
            np.zeros(MAX_DIGITS),
            np.zeros(MAX_DIGITS),
            np.zeros((MAX_DIGITS, 3)),
            np.zeros(2, dtype=np.int64),
            np.zeros(1),
        ),
        sheared=np.zeros((len(data.digit_of_capsule), 3)),
        shear=np.zeros((len(data.digit_of_capsule), 3)),
        is_lost=np.zeros(MAX_DIGITS, dtype=np.bool_),
        must_touch=np.zeros(MAX_DIGITS, dtype=np.bool_),
        force_weight=np.ones(MAX_DIGITS),
        is_landing=np.zeros(MAX_DIGITS, dtype=np.bool_),
    )
