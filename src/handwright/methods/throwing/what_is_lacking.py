"""What keeps a problem from being one of tosses, before anything is simulated."""

from __future__ import annotations

from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.math import rotation

LOWEST, HIGHEST = 0.30, 1.20
"""Heights above the palm that an arm can throw to from standing still, m."""
# What a hand can close around, m, and throw, kg; friction below which nothing is held.
_SMALLEST, _LARGEST = 0.03, 0.10
_LIGHTEST, _HEAVIEST = 0.01, 0.6
_LEAST_FRICTION = 0.3
# How far a box may be turned, rad: throws are at the face that looks at the thrower.
_STRAIGHT = 0.05


def lacking(problem: Problem) -> list[str]:
    """What is missing or out of reach, each with what was expected."""
    if not problem.tosses:
        return ["needs tosses: how high which hand throws which body, or at which box"]
    found = []
    first = problem.tosses[0]
    if any((toss.hand, toss.body) != (first.hand, first.body) for toss in problem.tosses):
        found.append("takes one hand and one body in all tosses so far")
    model = problem.hands[first.hand]
    if model.name not in ("human_right_arm", "human_left_arm"):
        found.append(
            f"needs a human hand with its arm as '{first.hand}' (human_right_arm or "
            f"human_left_arm), which is '{model.name}'"
        )
    if first.hand not in problem.start:
        found.append(f"needs a start of '{first.hand}', which is where its shoulder stays")
    if len(problem.hands) > 1 or len(problem.bodies) > 1:
        found.append("takes one hand and one body so far")
    body = problem.bodies[first.body]
    smallest, largest = body.bounds[1] - body.bounds[0], body.bounds[1] - body.bounds[0]
    if not _SMALLEST <= float(smallest.min()) <= _LARGEST or float(largest.max()) > 0.12:
        size = " x ".join(f"{1e3 * edge:.0f}" for edge in body.bounds[1] - body.bounds[0])
        found.append(
            f"needs a body that a hand closes around, {1e3 * _SMALLEST:.0f} to "
            f"{1e3 * _LARGEST:.0f} mm across; '{first.body}' is {size} mm"
        )
    if not _LIGHTEST <= body.mass <= _HEAVIEST:
        found.append(
            f"needs a body of {_LIGHTEST:g} to {_HEAVIEST:g} kg; '{first.body}' has {body.mass:g}"
        )
    if body.friction < _LEAST_FRICTION:
        found.append(
            f"needs a friction of at least {_LEAST_FRICTION:g}; '{first.body}' has "
            f"{body.friction:g} and slips out of any hand"
        )
    for number, toss in enumerate(problem.tosses):
        if toss.height is not None and not LOWEST <= toss.height <= HIGHEST:
            found.append(
                f"reaches heights from {LOWEST:g} to {HIGHEST:g} m above the palm; toss {number} "
                f"asks for {toss.height:g} m"
            )
        if toss.surface is not None:
            box = problem.environment[toss.surface]
            assert isinstance(box, EnvironmentBox)
            if rotation.angle(box.pose.wxyz, rotation.exp([0.0, 0.0, 0.0])) > _STRAIGHT:
                found.append(f"hits boxes that are not turned; that of toss {number} is")
    return found
