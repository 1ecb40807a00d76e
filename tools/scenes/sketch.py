"""A simple stand-in for the fingers: open, then on the points of the hold, then open again.

It is no solution, only a witness that the wrist is where a hand can do its work; and something to
look at.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.kinematics import DigitTargets, IkWeights, solve_ik
from tools.scenes.curves import ramp
from tools.scenes.task import Hold, Span, hold_of, opposed

CLOSING = 5.0
"""Frames in which the fingers close, or open."""
_WEIGHTS = IkWeights(object=30.0, posture=3e-7, num_spheres=12, num_object_capsules=3)


def sketch(problem: Problem, spans: tuple[Span, ...], holds: dict[str, Hold]) -> Clip:
    """A clip of the problem with stand-in fingers."""
    hands = {}
    for name, model in problem.hands.items():
        mine = [span for span in spans if span.hand == name]
        q = np.tile(_free(model, mine[0] if mine else None), (len(problem.times), 1))
        for span in mine:
            _close(problem, span, hold_of(span, holds), q)
        hands[name] = HandMotion(problem.track(name).at(problem.times), q)
    return Clip(
        problem=problem,
        times=problem.times,
        hands=hands,
        bodies={name: problem.track(name).at(problem.times) for name in problem.bodies},
        contacts=ContactTrack.empty(),
        provenance=Provenance(problem.name, "sketch"),
    )


def _free(model: HandModel, span: Span | None) -> Float[np.ndarray, " J"]:
    return model.pose("open") if span and not span.opposes else opposed(model, "open")


def _close(problem: Problem, span: Span, hold: Hold, q: Float[np.ndarray, "T J"]) -> None:
    """Writes the frames of one span: pads on their points, and the way there and back."""
    model = problem.hands[span.hand]
    field = signed_distance_field(problem.bodies[span.body])
    root = problem.track(span.hand).at(problem.times)
    body = problem.track(span.body).at(problem.times)
    free = _free(model, span)
    outward = np.zeros_like(hold.points)
    middle = hold.q[len(hold.q) // 2]
    for t in range(span.first, span.last + 1):
        # A round body may turn under the pads, which then stay where they are in the hand.
        points = (root[t] @ hold.wrist.inverse() if span.twirls else body[t]).apply(hold.points)
        targets = DigitTargets(points, outward, hold.touching)
        q[t] = solve_ik(
            model, middle, targets, root=root[t], body=body[t], field=field, weights=_WEIGHTS,
            reference=middle,
        ).q  # fmt: skip
    count = len(q)
    opening = ramp(count, span.last, span.last + CLOSING)
    closing = 1.0 - ramp(count, span.first - CLOSING, span.first)
    for t in range(max(0, span.first - int(CLOSING)), span.first):
        q[t] = q[span.first] + closing[t] * (free - q[span.first])
    for t in range(span.last + 1, min(count, span.last + int(CLOSING) + 1)):
        q[t] = q[span.last] + opening[t] * (free - q[span.last])
