"""Solves a frame, and solves it again until its contacts agree with what it does.

The quadratic program is linear in velocities and takes the modes of contacts as given. Its answer
may bend the paths of contacts, tear them off while they still push, make them slide, or bring new
ones about: then what was wrong is mended, and the frame is solved once more (section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.contact_state import (
    ContactArrays,
    ContactState,
    contact_arrays,
)
from handwright.methods.stepwise.contacts.ends import EndStates, frame_ends, true_motion
from handwright.methods.stepwise.contacts.proximity import (
    BodyProximity,
    arriving_contacts,
    with_contact_limits,
)
from handwright.methods.stepwise.contacts.transitions import (
    added_energy,
    corrections,
    resolve_separation,
    separating_contacts,
)
from handwright.methods.stepwise.qp.program import VelocityLimits
from handwright.methods.stepwise.qp.solver import InfeasibleStepError
from handwright.methods.stepwise.qp.step import ForceTarget, FrameProblem, StepSolution, solve_step
from handwright.methods.stepwise.recording import SessionTally

# A frame is solved so often at most; what is left of roll-backs then shows as added energy.
_NUM_ATTEMPTS = 10
# Contacts whose motion is this much off what the step thought are solved for once more, m/s, and
# so often at most between changes of contacts.
_CURVE_TOLERANCE, _NUM_BENDS = 1e-3, 2


@dataclass(slots=True, eq=False)
class FrameSolver:
    """One frame that is solved until its contacts agree with it."""

    problem: FrameProblem
    contacts: list[ContactState]
    """All contacts; modes change, and new ones are added."""
    rows: ContactArrays
    """All contacts as arrays."""
    limits: VelocityLimits
    """What keeps hands out of things; those of contacts are added for every solve."""
    meetings: list[BodyProximity]
    """Corners of bodies near other bodies and surfaces, where contacts may begin."""
    wrench: Float[np.ndarray, "B 6"]
    """Force and moment on every body of all that is no contact and no weight."""
    force_targets: Callable[[list[ContactState]], list[ForceTarget]]
    """Sums of forces that are wanted, with the contacts as they are."""
    tally: SessionTally
    """Counts roll-backs and frames that have no solution."""

    def run(self) -> tuple[StepSolution, EndStates]:
        """Velocities and forces of the frame, and states after it."""
        world = self.problem.frame.world
        weight = length(world.body_weights.sum(axis=0))
        num_bends = 0
        for attempt in range(_NUM_ATTEMPTS):
            solved = self._solve()
            ends, is_off = self._follow(solved)
            if attempt == _NUM_ATTEMPTS - 1:
                break
            if is_off and num_bends < _NUM_BENDS:
                num_bends += 1
                continue
            parting = separating_contacts(
                self.contacts, self.rows, solved, weight, self.problem.frame.step
            )
            if parting:
                solved = resolve_separation(self.contacts, self.rows, parting, self._solve)
                ends, _ = self._follow(solved)
                self.tally.corrections += 1
            is_changed = corrections(self.contacts, self.rows, solved, weight)
            new = self._arriving(solved)
            if not is_changed and not new:
                break
            num_bends = 0
            self._renew(new)
        energy = added_energy(self.contacts, self.rows, solved, self.problem.frame.step)
        self.tally.added_energy = max(self.tally.added_energy, energy)
        return solved, ends

    def _solve(self) -> StepSolution:
        """Solves the frame once, with the contacts as they are."""
        force_targets = self.force_targets(self.contacts)
        limits = with_contact_limits(self.limits, self.contacts, self.rows, self.problem.frame.step)
        try:
            return solve_step(self.problem, self.contacts, self.rows, force_targets, limits)
        except InfeasibleStepError:
            # Nothing but bounds is left then, which zero velocities and forces always meet.
            self.tally.infeasible += 1
            width = self.problem.frame.world.num_velocities
            none = VelocityLimits(np.zeros((0, width)), np.zeros(0), np.zeros(0, dtype=np.int64))
            return solve_step(self.problem, self.contacts, self.rows, force_targets, none)

    def _follow(self, solved: StepSolution) -> tuple[EndStates, bool]:
        """Where the frame ends, and whether contacts move otherwise than was thought."""
        frame, rows = self.problem.frame, self.rows
        ends = frame_ends(frame, rows, solved, self.wrench)
        curve = true_motion(frame, rows, ends) - rows.relative @ solved.velocity
        is_off = bool(np.abs(curve - rows.curve).max(initial=0.0) > _CURVE_TOLERANCE)
        rows.curve = curve
        return ends, is_off

    def _arriving(self, solved: StepSolution) -> list[ContactState]:
        """Contacts of bodies that begin in this frame and are not known yet."""
        arrived = arriving_contacts(self.problem.frame, self.meetings, solved.velocity)
        known = {(t.body, t.other, t.part, *t.anchor) for t in self.contacts if t.hand < 0}
        return [t for t in arrived if (t.body, t.other, t.part, *t.anchor) not in known]

    def _renew(self, new: list[ContactState]) -> None:
        """Takes new contacts in, and computes all arrays for modes that have changed."""
        self.contacts += new
        self.tally.corrections += 1
        for contact, off in zip(self.contacts, self.rows.curve, strict=False):
            contact.curve = off
        self.rows = contact_arrays(self.problem.frame, self.contacts)
