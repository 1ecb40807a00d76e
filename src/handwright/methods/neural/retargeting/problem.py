"""Problems with robot hands: human hands stand in for them, and they follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.methods.neural.retargeting.following import followed
from handwright.methods.neural.retargeting.stand_in import StandIn, needs_stand_in, stand_in
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.resampling import even_times, resampled
from handwright.methods.neural.stretches import Stretch


def with_stand_ins(problem: Problem) -> Problem:
    """The problem with human hands in the place of robot hands; itself if it has none.

    Args:
        problem: With tracks of all wrists.
    """
    stands = _stands(problem)
    if not stands:
        return problem
    tracks = dict(problem.tracks)
    for name, stand in stands.items():
        track = problem.track(name)
        tracks[name] = Track(track.times, track.pose @ stand.wrist)
    hands = {**problem.hands, **{name: stand.model for name, stand in stands.items()}}
    return Problem(problem.name, problem.times, hands, problem.bodies, tracks=tracks)


def followed_by_robots(
    problem: Problem,
    fingers: Mapping[str, Float[np.ndarray, "T J"]],
    stretches: Sequence[Stretch],
) -> dict[str, Float[np.ndarray, "T J"]]:
    """Joint values of all hands, where those of robot hands follow the hands that stood in, rad.

    Args:
        problem: With robot hands or without.
        fingers: Joint values by hand, of stand-ins for robot hands, at 60 frames a second, rad.
        stretches: Which body each hand senses, and when.
    """
    even, found = even_times(problem.times), dict(fingers)
    poses = {
        name: resampled(problem.times, track.at(problem.times), even)
        for name, track in problem.tracks.items()
    }
    for name, stand in _stands(problem).items():
        model, parts = problem.hands[name], []
        q = model.pose("rest")
        for stretch in stretches:
            frames, body = slice(stretch.first, stretch.end), stretch.objects[name]
            root = poses[body][frames].inverse() @ poses[name][frames]
            field = sensed_body(problem.bodies[body]).near
            parts.append(followed(model, stand, fingers[name][frames], root, field, start=q))
            q = parts[-1][-1]
        found[name] = np.concatenate(parts)
    return found


def _stands(problem: Problem) -> dict[str, StandIn]:
    return {name: stand_in(model) for name, model in problem.hands.items() if needs_stand_in(model)}
