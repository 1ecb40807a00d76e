"""Moments of a simulated arm and of what it throws, and the clip that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import Arm
from handwright.physics.throwing.machine import Machine


class Moment(NamedTuple):
    """Where an arm and the thing that it throws are."""

    time: float
    """s."""
    q: Float[np.ndarray, " J"]
    """Joint values of the hand with its arm, rad."""
    body: Pose
    """Of the thing in the world."""


def moment_of(machine: Machine) -> Moment:
    """The present moment of a simulation."""
    simulation = machine.simulation
    body = simulation.body(machine.name).pose
    return Moment(simulation.time, simulation.joints(machine.hand), body)


def motion_at(
    moments: Sequence[Moment], times: Float[np.ndarray, " T"]
) -> tuple[Float[np.ndarray, "T J"], Pose]:
    """Joint values, rad, and poses of the thing at times between moments.

    Args:
        moments: Two or more, in their order.
        times: s.
    """
    known = np.array([moment.time for moment in moments])
    q = np.array([moment.q for moment in moments])
    joints = np.stack([np.interp(times, known, column) for column in q.T], axis=-1)
    place = np.array([moment.body.position for moment in moments])
    wxyz = np.array([moment.body.wxyz for moment in moments])
    before = np.clip(np.searchsorted(known, times, side="right") - 1, 0, len(known) - 2)
    share = (times - known[before]) / (known[before + 1] - known[before])
    moved = np.stack([np.interp(times, known, column) for column in place.T], axis=-1)
    turned = rotation.slerp(wxyz[before], wxyz[before + 1], np.clip(share, 0.0, 1.0))
    return joints, Pose(moved, turned)


def clip_of(problem: Problem, arm: Arm, name: str, moments: Sequence[Moment]) -> Clip:
    """A motion at the frames of a problem, which begin with the first moment.

    Args:
        problem: With one hand and one body.
        arm: Of the problem's hand.
        name: Of the body.
        moments: Two or more, in their order.
    """
    joints, body = motion_at(moments, problem.times - problem.times[0] + moments[0].time)
    count = len(problem.times)
    root = Pose(np.tile(arm.base.position, (count, 1)), np.tile(arm.base.wxyz, (count, 1)))
    # Limits of the simulation are soft: what went beyond by a degree stops at them here.
    motion = HandMotion(root, arm.model.joints.clamp(joints))
    return Clip(
        problem=problem,
        times=problem.times,
        hands={arm.name: motion},
        bodies={name: body},
        contacts=ContactTrack.empty(),
        provenance=Provenance(problem.name, "throwing"),
    )
