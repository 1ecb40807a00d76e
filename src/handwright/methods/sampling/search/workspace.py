"""Memory of the search: guiding points, contacts and forces of one frame, and scratch arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.errors import InvalidValueError
from handwright.kinematics.ik.problem import DigitWorkspace, make_work
from handwright.kinematics.tree import Links
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.pyramid import PyramidWork, make_pyramid_work
from handwright.mechanics.wrench import ForceContacts, no_contacts
from handwright.methods.sampling.setup.hold_data import HoldData

# How a digit takes part in a frame: off the body, holding it, sliding over it, or on its way to
# another point of it.
FREE, HOLD, SLIDE, FLY = 0, 1, 2, 3

MAX_DIGITS = 16
_NUM_EDGES = 8


class Guide(NamedTuple):
    """Guiding points of a frame, one for each of the D digits."""

    mode: Int[np.ndarray, " D"]
    """FREE, HOLD, SLIDE or FLY."""
    link: Int[np.ndarray, " D"]
    """The link that the point is fixed to."""
    local: Float[np.ndarray, "D 3"]
    """The point in the frame of that link, m."""
    target: Float[np.ndarray, "D 3"]
    """Where the point should be, in the body's frame, m."""
    normal: Float[np.ndarray, "D 3"]
    """The outward normal of the body at the target."""


class FrameContacts(NamedTuple):
    """Contacts and forces of a frame; arrays are sized for N contacts and ``MAX_DIGITS`` digits."""

    num: Int[np.ndarray, " 2"]
    """Number of all contacts, and of those with the ground, which come first."""
    capsule: Int[np.ndarray, " N"]
    """The capsule that touches, or -1 for the ground."""
    point: Float[np.ndarray, "N 3"]
    """Points on the body, m."""
    gap: Float[np.ndarray, " N"]
    """Distance of the hand from the body, m; negative where it sinks in."""
    slip: Float[np.ndarray, "N 3"]
    """How far the hand's material point moved over the body since the last frame, m."""
    load: Float[np.ndarray, " M"]
    """Normal force of each digit over the weight of the body."""
    ratio: Float[np.ndarray, " M"]
    """Friction of a digit's foremost loaded contact over the most that it may have."""
    pull: Float[np.ndarray, "M 3"]
    """Direction of that friction."""
    blame: Int[np.ndarray, " 2"]
    """Digits that a failure is due to, or -1."""
    total: Float[np.ndarray, " 1"]
    """Sum of all normal forces of the hands over the weight of the body."""


class Workspace(NamedTuple):
    """Scratch memory of the search for D digits, J joints and C capsules; one for each process."""

    guide: Guide
    now: Links
    """Links of all hands in the frame at hand."""
    before: Links
    """Links of all hands in the frame before."""
    ik: DigitWorkspace
    contacts: ForceContacts
    cone: ConeWork
    pyramid: PyramidWork
    low: Float[np.ndarray, " J"]
    """Least joint values that the frame may have, rad."""
    high: Float[np.ndarray, " J"]
    """Largest joint values that the frame may have, rad."""
    reference: Float[np.ndarray, " J"]
    """Joint values that are preferred, rad."""
    spare: Float[np.ndarray, " J"]
    """Joint values that are only tried, rad."""
    found: FrameContacts
    sheared: Float[np.ndarray, "C 3"]
    """Stretch of the skin at the beginning of the frame, m."""
    shear: Float[np.ndarray, "C 3"]
    """Stretch of the skin at the end of the frame, m; zero where nothing touches."""
    is_lost: Bool[np.ndarray, " M"]
    """Digits that could not be brought to their guiding points."""
    must_touch: Bool[np.ndarray, " M"]
    """Digits whose guiding points must be met."""
    force_weight: Float[np.ndarray, " M"]
    """Weight of the normal force of each digit in the objective of the forces."""
    is_landing: Bool[np.ndarray, " M"]
    """Digits that come down in this frame. They move, so nothing is asked of them yet."""


def make_workspace(data: HoldData) -> Workspace:
    """Allocates the memory that the search of a hold needs.

    Raises:
        InvalidValueError: The hands have more digits than there is memory for.
    """
    joints, digits, capsules = data.num_joints, data.num_digits, data.num_capsules
    if digits > MAX_DIGITS:
        raise InvalidValueError(f"The hands have {digits} digits; expected {MAX_DIGITS} at most.")
    needed = 2 * capsules + int(np.diff(data.ground.first).max(initial=0)) + 1
    # Capacities are powers of two, because code is compiled for each.
    capacity = max(64, 1 << (needed - 1).bit_length())
    return Workspace(
        guide=Guide(
            mode=np.zeros(digits, dtype=np.int64),
            link=np.zeros(digits, dtype=np.int64),
            local=np.zeros((digits, 3)),
            target=np.zeros((digits, 3)),
            normal=np.zeros((digits, 3)),
        ),
        now=make_links(joints),
        before=make_links(joints),
        ik=make_work(data.samples),
        contacts=no_contacts(capacity),
        cone=make_cone_work(capacity),
        pyramid=make_pyramid_work(capacity, _NUM_EDGES),
        low=np.zeros(joints),
        high=np.zeros(joints),
        reference=np.zeros(joints),
        spare=np.zeros(joints),
        found=_make_frame_contacts(capacity),
        sheared=np.zeros((capsules, 3)),
        shear=np.zeros((capsules, 3)),
        is_lost=np.zeros(MAX_DIGITS, dtype=np.bool_),
        must_touch=np.zeros(MAX_DIGITS, dtype=np.bool_),
        force_weight=np.ones(MAX_DIGITS),
        is_landing=np.zeros(MAX_DIGITS, dtype=np.bool_),
    )


def make_links(joints: int) -> Links:
    """Allocates the poses of the links of all hands."""
    return Links(np.zeros((joints + 1, 3, 3)), np.zeros((joints + 1, 3)), np.zeros((joints, 3)))


def _make_frame_contacts(capacity: int) -> FrameContacts:
    return FrameContacts(
        num=np.zeros(2, dtype=np.int64),
        capsule=np.zeros(capacity, dtype=np.int64),
        point=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
        slip=np.zeros((capacity, 3)),
        load=np.zeros(MAX_DIGITS),
        ratio=np.zeros(MAX_DIGITS),
        pull=np.zeros((MAX_DIGITS, 3)),
        blame=np.zeros(2, dtype=np.int64),
        total=np.zeros(1),
    )
