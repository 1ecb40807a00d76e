"""What fingers are meant to do in a play: each hold with the planner's posture, and open between.

Contact sampling finds many ways to hold the same thing. Taught all of them, a network would say
their mean, which holds nothing. So the search is guided: where physics leaves a choice, it keeps
to the one posture that the hold was planned with.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.learning.data.curves import minimum_jerk
from handwright.learning.data.play import Actor, Play

# How long digits take to open for a thing, to close, to let go and to come to rest, s, and how far
# open they come on, as a share of the way from the hold to the open hand.
_READYING, _CLOSING, _OPENING, _RELAXING = 0.45, 0.3, 0.22, 0.4
_APERTURE = 0.55


def guide_of(play: Play, problem: Problem) -> Clip:
    """Hands and things on their tracks, with fingers as they are meant; nobody has judged it.

    Args:
        play: What happens.
        problem: Its tracks.
    """
    times = problem.times
    hands = {
        side: HandMotion(
            problem.track(side).at(times),
            _postures(problem.hands[side], play.actors[side], times),
        )
        for side in problem.hands
    }
    bodies = {name: problem.track(name).at(times) for name in problem.bodies}
    made = Provenance(problem.name, "guide")
    return Clip(problem, times, hands, bodies, ContactTrack.empty(), made)


def _postures(
    model: HandModel, actor: Actor, times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T J"]:
    """Joint values over time, rad: a sum of phases, which may overlap."""
    rest, open_hand = model.pose("rest"), model.pose("open")
    q = np.tile(rest, (len(times), 1))
    for station in actor.stations:
        if station.posture is None:
            continue
        held = model.joints.clamp(station.posture)
        ready = held + _APERTURE * (open_hand - held)
        since, until = station.since, station.until
        phases = [
            (since - _CLOSING - _READYING, since - _CLOSING, ready - rest),
            (since - _CLOSING, since, held - ready),
        ]
        if np.isfinite(until):
            phases += [
                (until, until + _OPENING, ready - held),
                (until + _OPENING, until + _OPENING + _RELAXING, rest - ready),
            ]
        for begin, end, change in phases:
            q += minimum_jerk(times, begin, end)[:, None] * change
    return model.joints.clamp(q)
