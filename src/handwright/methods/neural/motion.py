"""What a network makes of the tracks of a problem."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.methods.neural.fitting import Correction
from handwright.methods.neural.in_turn import moved_in_turn, turns_of
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.view import hand_views

NAME = "neural"
"""Of the method."""
# How long everything stays still until fingers start, s.
_SETTLING = 0.5


def learned_motion(
    problem: Problem, network: Network | WindowedNetwork, correction: Correction = "contact"
) -> Clip:
    """Hands and bodies on their tracks, fingers as a network says; nobody has judged it.

    Args:
        problem: With tracks of all wrists and bodies, at any rate from 24 to 120 frames a second.
        network: Trained.
        correction: What is done to its poses.
    """
    turns = turns_of(problem)
    if len(turns) > 1:
        return moved_in_turn(problem, turns, lambda part: learned_motion(part, network, correction))
    views = hand_views(problem)
    start = _settled(problem, network, correction)
    found = rolled_out(network, views, start=start, correction=correction)
    times = problem.times
    hands = {
        name: HandMotion(problem.track(name).at(times), _at(times, views[name].times, found[name]))
        for name in problem.hands
    }
    return Clip(
        problem=problem,
        times=times,
        hands=hands,
        bodies={name: problem.track(name).at(times) for name in problem.bodies},
        contacts=ContactTrack.empty(),
        provenance=Provenance(problem.name, NAME),
    )


def _settled(
    problem: Problem, network: Network | WindowedNetwork, correction: Correction
) -> dict[str, Float[np.ndarray, " J"]]:
    """The pose that fingers come to if everything stays where it is at first, by hand, rad.

    Tracks may begin with a body in the hand, and fingers are closed around it then.
    """
    times = np.arange(round(_SETTLING * RATE) + 1) / RATE
    now = np.full(len(times), problem.times[0])
    tracks = {name: Track(times, track.at(now)) for name, track in problem.tracks.items()}
    still = Problem(problem.name, times, problem.hands, problem.bodies, tracks=tracks)
    found = rolled_out(network, hand_views(still), correction=correction)
    return {name: q[-1] for name, q in found.items()}


def _at(
    wanted: Float[np.ndarray, " T"], times: Float[np.ndarray, " N"], q: Float[np.ndarray, "N J"]
) -> Float[np.ndarray, "T J"]:
    """Joint values at other times, rad: those in between lie on straight lines."""
    return np.stack([np.interp(wanted, times, column) for column in q.T], axis=1)
