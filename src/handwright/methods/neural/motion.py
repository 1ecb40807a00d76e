"""What a network makes of the tracks of a problem."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.methods.neural.fitting import Correction
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.retargeting import followed_by_robots, with_stand_ins
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.resampling import even_times
from handwright.methods.neural.sensing.view import hand_views
from handwright.methods.neural.stretches import sensed_stretches
from handwright.methods.neural.style import drawn_style

NAME = "neural"
"""Of the method."""
# How long everything stays still until fingers start, s.
_SETTLING = 0.5


def learned_motion(
    problem: Problem,
    network: Network | WindowedNetwork,
    correction: Correction = "grip",
    *,
    style_noise: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Clip:
    """Hands and bodies on their tracks, fingers as a network says; nobody has judged it.

    Human hands may be of any size. In the place of a robot hand the network poses a human one,
    which the robot's digits follow.

    Args:
        problem: With tracks of all wrists and bodies, at any rate from 24 to 120 frames a second.
        network: Trained.
        correction: What is done to its poses.
        style_noise: Standard deviation of the angles by which joints that the network is shown are
            off, rad; 0 for none.
        rng: Source of these angles; the same gives the same motion.
    """
    posed = with_stand_ins(problem)
    chance = np.random.default_rng(0) if rng is None else rng
    style = drawn_style(posed.hands, style_noise, chance) if style_noise > 0.0 else None
    posture = _settled(posed, network, correction)
    parts, stretches = [], sensed_stretches(posed)
    for stretch in stretches:
        views = hand_views(posed, stretch.objects)
        # The last frame of a stretch is the first of the next one.
        frames = stretch.first, min(stretch.end + 1, len(views[next(iter(views))]))
        found = rolled_out(
            network, views, start=posture, correction=correction, frames=frames, style=style
        )
        posture = {name: q[-1] for name, q in found.items()}
        parts.append({name: q[: stretch.end - stretch.first] for name, q in found.items()})
    times, even = problem.times, even_times(problem.times)
    fingers = {name: np.concatenate([part[name] for part in parts]) for name in problem.hands}
    fingers = followed_by_robots(problem, fingers, stretches)
    hands = {
        name: HandMotion(problem.track(name).at(times), _at(times, even, fingers[name]))
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
    still = Problem(
        problem.name,
        times,
        problem.hands,
        problem.bodies,
        tracks=tracks,
        environment=problem.environment,
    )
    first = sensed_stretches(problem)[0].objects
    found = rolled_out(network, hand_views(still, first), correction=correction)
    return {name: q[-1] for name, q in found.items()}


def _at(
    wanted: Float[np.ndarray, " T"], times: Float[np.ndarray, " N"], q: Float[np.ndarray, "N J"]
) -> Float[np.ndarray, "T J"]:
    """Joint values at other times, rad: those in between lie on straight lines."""
    return np.stack([np.interp(wanted, times, column) for column in q.T], axis=1)
