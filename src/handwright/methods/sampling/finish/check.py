"""A finished motion checked as a whole: contacts, sliding and faults of every frame.

The rules are those of the search, with what only the finished motion tells: sliding by central
differences, and skin looked at closely. Whatever fails here is not returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.contacts import (
    collect_central_contacts,
    reset_force_weights,
)
from handwright.methods.sampling.search.frame import (
    CROSSED,
    FEASIBLE,
    PENETRATING,
    UNBALANCED,
    find_crossed_digits,
    find_forces,
)
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.structs import zeros


class CheckedMotion(NamedTuple):
    """Contacts of a motion over T frames, in the body's frame; the first ``num[0]`` rows count."""

    num: Int[np.ndarray, " 1"]
    frame: Int[np.ndarray, " N"]
    capsule: Int[np.ndarray, " N"]
    """The capsule that touches, or -1 - s for surface s of the surroundings."""
    point: Float[np.ndarray, "N 3"]
    """m."""
    normal: Float[np.ndarray, "N 3"]
    """Into the body."""
    gap: Float[np.ndarray, " N"]
    """m."""
    slip: Float[np.ndarray, "N 3"]
    """Motion of the hand's material point over the body, m a frame."""
    drag: Float[np.ndarray, "N 3"]
    """Direction of friction on the body where the contact slides, else zero."""
    verdict: Int[np.ndarray, " T"]
    """FEASIBLE, or what a frame fails by."""
    depth: Float[np.ndarray, " T"]
    """Depth of the skin, m."""

    def first_of_each_capsule(self) -> Int[np.ndarray, " M"]:
        """Rows without those on faces beside an edge, which come after their own contact.

        Contacts with the ground all count.
        """
        count = int(self.num[0])
        frame, capsule = self.frame[:count], self.capsule[:count]
        is_first = np.ones(count, dtype=bool)
        is_first[1:] = (frame[1:] != frame[:-1]) | (capsule[1:] != capsule[:-1]) | (capsule[1:] < 0)
        return np.flatnonzero(is_first)


def make_checked_motion(frames: int, capacity: int) -> CheckedMotion:
    """Allocates memory for a motion with up to ``capacity`` contacts a frame."""
    return zeros(CheckedMotion, {"T": frames, "N": frames * capacity})


def check_motion(data: HoldData, q: Float[np.ndarray, "T J"], work: Workspace) -> CheckedMotion:
    """Checks every frame of a motion and finds its contacts."""
    checked = make_checked_motion(len(q), len(work.found.capsule))
    _check_frames(Packed(data), q, Packed(work), Packed(checked), False, True)
    return checked


@kernel
def _check_frames(
    data: HoldData,
    q: Float[np.ndarray, "T J"],
    work: Workspace,
    out: CheckedMotion,
    has_before: bool,
    is_exact: bool,
) -> None:
    # Truth values are handed over, because numba compiles callees anew for constants; and there
    # are loops, because operations on whole arrays take long to compile.
    found, contacts = work.found, work.contacts
    out.num[0] = 0
    reset_force_weights(work)
    for t in range(q.shape[0]):
        for c in range(work.sheared.shape[0]):
            for i in range(3):
                work.sheared[c, i] = work.shear[c, i] if t > 0 else 0.0
        out.depth[t] = collect_central_contacts(data, q, t, work, has_before)
        verdict = FEASIBLE
        if not find_forces(data, t, work, is_exact):
            verdict = UNBALANCED
        if not out.depth[t] <= data.limits.penetration:
            verdict = PENETRATING
        if find_crossed_digits(data, work.now, data.limits.digits)[0] >= 0:
            verdict = CROSSED
        out.verdict[t] = verdict
        for n in range(found.num[0]):
            row = out.num[0]
            out.num[0] += 1
            out.frame[row] = t
            is_ground = n < found.num[1]
            out.capsule[row] = (
                -1 - data.ground.surface[data.ground.first[t] + n]
                if is_ground
                else found.capsule[n]
            )
            vec3.copy(out.point[row], found.point[n])
            vec3.copy(out.normal[row], contacts.normal[n])
            vec3.copy(out.drag[row], contacts.drag[n])
            vec3.copy(out.slip[row], found.slip[n])
            out.gap[row] = found.gap[n]
