"""Memory of the search: its path, what is known of one frame, and scratch arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.decorators import inlined
from handwright.kinematics.ik.problem import DigitWorkspace, make_work
from handwright.kinematics.tree import Links
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.pyramid import PyramidWork, make_pyramid_work
from handwright.mechanics.wrench import ForceContacts, no_contacts
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.structs import zeros

# How a digit takes part in a frame: off the body, holding it, sliding over it, or on its way to
# another point of it.
FREE, HOLD, SLIDE, FLY = 0, 1, 2, 3

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
    """Contacts and forces of a frame; arrays are sized for N contacts and D digits."""

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
    load: Float[np.ndarray, " D"]
    """Normal force of each digit over the weight of the body."""
    ratio: Float[np.ndarray, " D"]
    """Friction of a digit's foremost loaded contact over the most that it may have."""
    pull: Float[np.ndarray, "D 3"]
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
    ahead: Links
    """Links of all hands in the frame after it."""
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
    is_lost: Bool[np.ndarray, " D"]
    """Digits that could not be brought to their guiding points."""
    must_touch: Bool[np.ndarray, " D"]
    """Digits whose guiding points must be met."""
    force_weight: Float[np.ndarray, " D"]
    """Weight of the normal force of each digit in the objective of the forces."""
    is_landing: Bool[np.ndarray, " D"]
    """Digits that come down in this frame. They move, so nothing is asked of them yet."""


def make_workspace(data: HoldData) -> Workspace:
    """Allocates the memory that the search of a hold needs."""
    joints, digits, capsules = data.sizes.values()
    needed = 2 * capsules + int(np.diff(data.ground.first).max(initial=0)) + 1
    # Capacities are powers of two, because code is compiled for each.
    capacity = max(64, 1 << (needed - 1).bit_length())
    return zeros(
        Workspace,
        {**data.sizes, "N": capacity},
        now=_make_links(joints),
        before=_make_links(joints),
        ahead=_make_links(joints),
        ik=make_work(data.hands.samples),
        contacts=no_contacts(capacity),
        cone=make_cone_work(capacity),
        pyramid=make_pyramid_work(capacity, _NUM_EDGES),
        force_weight=np.ones(digits),
    )


def _make_links(joints: int) -> Links:
    """Allocates the poses of the links of all hands."""
    return Links(np.zeros((joints + 1, 3, 3)), np.zeros((joints + 1, 3)), np.zeros((joints, 3)))


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
    """Stretch of the skin that touches, m; see ``SearchLimits.shear``."""
    window_end: Int[np.ndarray, " T"]
    """The frame at which the plan that covers this frame is drawn anew."""


def make_path(data: HoldData, frames: int) -> Path:
    """Allocates a path for the hands of a hold; all digits are free in all frames."""
    return zeros(Path, {**data.sizes, "T": frames})


@inlined
def copy_motion(source: Path, row: int, goal: Path, to: int, d: int) -> None:
    """Copies how a digit slides and flies from a row of a path to one of another."""
    goal.fly_begin[to, d] = source.fly_begin[row, d]
    goal.fly_end[to, d] = source.fly_end[row, d]
    goal.fly_candidate[to, d] = source.fly_candidate[row, d]
    goal.fly_pad[to, d] = source.fly_pad[row, d]
    vec3.copy(goal.slide[to, d], source.slide[row, d])
    vec3.copy(goal.fly_from[to, d], source.fly_from[row, d])
    vec3.copy(goal.fly_goal[to, d], source.fly_goal[row, d])
    vec3.copy(goal.fly_normal[to, d], source.fly_normal[row, d])


def copy_path(path: Path) -> Path:
    """Returns a path that shares no memory with the given one."""
    return Path(*(column.copy() for column in path))
