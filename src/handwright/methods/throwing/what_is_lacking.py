"""What keeps a problem from being one of tosses, before anything is simulated."""

from __future__ import annotations

import numpy as np

from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import facing_ahead
from handwright.physics.throwing.flight import FALL

LOWEST, HIGHEST = 0.30, 1.20
"""Heights above the palm that an arm can throw to from standing still, m."""
# How thin and how long a thing may be that a hand closes around, m, and what it throws, kg.
_THINNEST, _LONGEST = 0.03, 0.10
_LIGHTEST, _HEAVIEST = 0.01, 0.6
# Friction below which nothing is held.
_LEAST_FRICTION = 0.3
# How far shoulders and boxes may be turned, rad: throws are straight ahead, at the near face.
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
    elif first.hand not in problem.start:
        found.append(f"needs a start of '{first.hand}', which is where its shoulder stays")
    elif rotation.angle(problem.start[first.hand].wxyz, facing_ahead(model.side)) > _STRAIGHT:
        turn = 90 if model.side == "right" else -90
        found.append(
            f"needs a shoulder that looks ahead: turn_deg [{turn}, 0, 90] for '{first.hand}'"
        )
    if not np.allclose(problem.gravity, FALL):
        found.append("needs a gravity of 9.81 m/s^2 downwards")
    if len(problem.hands) > 1 or len(problem.bodies) > 1:
        found.append("takes one hand and one body so far")
    body = problem.bodies[first.body]
    edges = body.bounds[1] - body.bounds[0]
    if edges.min() < _THINNEST or edges.max() > _LONGEST:
        size = " x ".join(f"{1e3 * edge:.0f}" for edge in edges)
        found.append(
            f"needs a body that a hand closes around, {1e3 * _THINNEST:.0f} to "
            f"{1e3 * _LONGEST:.0f} mm across; '{first.body}' is {size} mm"
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
    found += [*_box_problems(problem), *_height_problems(problem)]
    return found


def _height_problems(problem: Problem) -> list[str]:
    found = []
    for number, toss in enumerate(problem.tosses):
        if toss.height is not None and not LOWEST <= toss.height <= HIGHEST:
            found.append(
                f"reaches heights from {LOWEST:g} to {HIGHEST:g} m above the palm; toss {number} "
                f"asks for {toss.height:g} m"
            )
    return found


def _box_problems(problem: Problem) -> list[str]:
    found, first = [], None
    for number, toss in enumerate(problem.tosses):
        if toss.surface is None:
            continue
        box = problem.environment[toss.surface]
        assert isinstance(box, EnvironmentBox)
        if rotation.angle(box.pose.wxyz, Pose.identity().wxyz) > _STRAIGHT:
            found.append(f"hits boxes that are not turned; that of toss {number} is")
        first = box if first is None else first
        if not np.allclose(box.half_extents, first.half_extents) or box.friction != first.friction:
            found.append(f"takes boxes of one size and friction; that of toss {number} differs")
    return found
