"""How plans of the search are drawn, and the memory in which they are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.rng import make_dice
from handwright.methods.sampling.constraints.schedule import DigitSchedule
from handwright.methods.sampling.search.workspace import Path, make_path
from handwright.methods.sampling.setup.candidates import Candidates, rotation_steps
from handwright.methods.sampling.setup.grasps import first_digits
from handwright.methods.sampling.setup.guidance import GuideContacts, candidate_favour
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.structs import zeros

# Horizons as multiples of the look-ahead; and those for bodies that turn in the hand by more than
# _QUICK_ROTATION, rad, a frame, where candidates that are in reach before and after may be out of
# it in between. The second horizon is the one that digits must keep their contacts for.
_HORIZONS, _QUICK_HORIZONS = (0.5, 1.0, 2.0, 3.5), (0.3, 1.0, 0.6, 2.0)
_QUICK_ROTATION = 0.12
# Probabilities that a digit comes to the body, or leaves it, when that of a guide does, and that it
# comes otherwise.
_GUIDED_LANDING, _UNGUIDED_LANDING = 0.7, 0.02
# Distance from the body, m, over which digits of a guide that touch nothing cease to be of help.
_HELPFUL = 0.012
# Number of digits with which a body is held; fewer want help.
_FEW = 3
# Number of grasps of which the best is taken where a hand comes to a body that another one holds.
_GRASPS = 30


class Policy(NamedTuple):
    """How plans are drawn over T frames for D digits; probabilities are for each chance."""

    window: int
    """Expected length of a window, frames."""
    slide: Float[np.ndarray, "T D"]
    """Probability that a digit on its friction cone slides."""
    relocate: Float[np.ndarray, "T D"]
    """Probability that a digit without load moves to another candidate."""
    land: Float[np.ndarray, "T D"]
    """Probability that a free digit comes to the body."""
    help: Float[np.ndarray, "T D"]
    """The same where nothing else carries the body."""
    leave_free: Float[np.ndarray, "T D"]
    """Probability that a digit takes no part in a grasp that begins then."""
    slide_step: float
    """Largest sliding, m a frame."""
    flight: int
    """Least frames from lift-off to landing."""
    stride: float
    """Largest distance by which a digit relocates in a frame, m."""
    look_ahead: int
    """Frames within which a contact must stay in reach; 0 for a search without look-ahead."""
    comfort: float
    """How much comfortable candidates are preferred."""
    lasting: float
    """How much candidates are preferred that stay within reach for long."""
    grasp_tries: int
    """Number of first grasps that are drawn at a time."""
    is_informed: bool
    """Whether dead ends are answered by their cause; else everything is drawn anew."""
    wraps: bool
    """Whether first grasps are looked for by closing the hand."""
    schedule: DigitSchedule
    """What single digits are told to do."""
    guide: GuideContacts
    """Where digits of a guide touch."""
    favour: Float[np.ndarray, "D M K"]
    """How much candidates are preferred because of the guide."""


def guided_policy(policy: Policy, guide: GuideContacts, candidates: Candidates) -> Policy:
    """The policy with digits that touch, come and leave when those of a guide do."""
    # A digit that sets out now arrives then.
    then = np.minimum(np.arange(len(guide.touches)) + policy.flight, len(guide.touches) - 1)
    will_touch = guide.touches[then]
    # Digits that are nearest to the body in the guide help rather than others.
    near = np.where(guide.touches, 0.0, np.exp(-np.maximum(guide.gap, 0.0) / _HELPFUL))
    near /= np.maximum(near.max(axis=1, keepdims=True), 1e-12)
    is_few = guide.touches.sum(axis=1, keepdims=True) < _FEW
    return policy._replace(
        land=np.where(will_touch, _GUIDED_LANDING, _UNGUIDED_LANDING),
        help=np.where(will_touch, 1.0, near[then]),
        relocate=np.where(will_touch, policy.relocate, _UNGUIDED_LANDING),
        leave_free=np.where(
            guide.touches, _UNGUIDED_LANDING, 1.0 - np.where(is_few, 0.7, 0.15) * near
        ),
        guide=guide,
        favour=candidate_favour(guide, candidates),
    )


class ForcedMoves(NamedTuple):
    """Digits that must leave their contacts, after a dead end."""

    is_forced: Bool[np.ndarray, " D"]
    avoids_point: Bool[np.ndarray, " D"]
    """Those of them that have a point to keep away from."""
    avoided_point: Float[np.ndarray, "D 3"]
    """That point, m."""


class PlanScratch(NamedTuple):
    """Scratch memory for drawing plans, with H horizons, M candidates and N grasps."""

    best: Path
    """One row with the best plan so far."""
    frames: Int[np.ndarray, " H"]
    """Frames of the horizons."""
    keys: Int[np.ndarray, " H"]
    """Key frames for the horizons."""
    keeps: Int[np.ndarray, "D H"]
    """Whether digits can keep their contacts up to a horizon: NO, YES or UNKNOWN."""
    departures: Int[np.ndarray, " D"]
    """Latest frames at which digits must set out for their next scheduled contacts."""
    is_away: Bool[np.ndarray, " D"]
    """Digits that are off the body, or will be."""
    is_spared: Bool[np.ndarray, " D"]
    """Digits that are off the body, will be, or slide."""
    planning_order: Int[np.ndarray, " D"]
    """The order in which digits are planned."""
    sums: Float[np.ndarray, " M"]
    """Appeal of candidates, added up."""
    taken: Float[np.ndarray, "D 3"]
    """Points that other digits hold, m."""
    grasps: Int[np.ndarray, "N D"]
    """Candidates of digits, or -1."""
    score: Float[np.ndarray, " N"]
    """For how many key frames each grasp carries the body, with and without friction to spare."""


class PlanData(NamedTuple):
    """What plans are drawn from, and the memory to draw them in; there are K key frames."""

    policy: Policy
    appeal: Float[np.ndarray, "2 D K M"]
    """How much digits prefer candidates: all of them, and those that are not soon out of reach."""
    is_thumb: Bool[np.ndarray, " D"]
    horizons: Int[np.ndarray, " H"]
    """Frames from the start of a window."""
    dice: np.ndarray
    """State of the random number generator."""
    forced: ForcedMoves
    scratch: PlanScratch


def make_plan_data(
    data: HoldData,
    candidates: Candidates,
    policy: Policy,
    appeal: Float[np.ndarray, "D M K"],
    rng: np.random.Generator,
) -> PlanData:
    """Allocates the memory for plans and seeds their random numbers.

    ``appeal`` is how much digits prefer candidates at key frames.
    """
    is_quick = rotation_steps(data.root_rotation).max(initial=0.0) > _QUICK_ROTATION
    horizons = _QUICK_HORIZONS if is_quick else _HORIZONS
    frames = candidates.frame
    # Number of key frames for which a candidate must last from each of them.
    until = np.minimum(frames + policy.look_ahead, frames[-1])
    needed = np.searchsorted(frames, until, side="right") - np.arange(len(frames))
    both = np.stack([appeal, np.where(candidates.life >= needed, appeal, 0.0)])
    sizes = {**data.sizes, "H": len(horizons), "M": appeal.shape[1], "N": _GRASPS}
    return PlanData(
        policy=policy,
        appeal=np.ascontiguousarray(both.transpose(0, 1, 3, 2)),
        is_thumb=first_digits(data.hands.hand_of_digit),
        horizons=np.array([round(share * policy.look_ahead) for share in horizons]),
        dice=make_dice(rng),
        forced=zeros(ForcedMoves, sizes),
        scratch=zeros(PlanScratch, sizes, best=make_path(data, 1)),
    )
