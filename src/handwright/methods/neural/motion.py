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
from handwright.methods.neural.retargeting import StandIn, followed, needs_stand_in, stand_in
from handwright.methods.neural.rollout import Fingers, rolled_out
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.resampling import resampled
from handwright.methods.neural.sensing.view import hand_views, nearest_body
from handwright.methods.neural.style import drawn_style

NAME = "neural"
"""Of the method."""
# How long everything stays still until fingers start, s.
_SETTLING = 0.5


def learned_motion(
    problem: Problem,
    network: Network | WindowedNetwork,
    correction: Correction = "contact",
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
    stands = {
        name: stand_in(model) for name, model in problem.hands.items() if needs_stand_in(model)
    }
    posed = _with_stand_ins(problem, stands)
    views = hand_views(posed)
    start = _settled(posed, network, correction)
    chance = np.random.default_rng(0) if rng is None else rng
    style = drawn_style(views, style_noise, chance) if style_noise > 0.0 else None
    found = rolled_out(network, views, start=start, correction=correction, style=style)
    times = problem.times
    even = next(iter(views.values())).times
    found |= {
        name: _followed(problem, posed, name, stand, even, found) for name, stand in stands.items()
    }
    hands = {
        name: HandMotion(problem.track(name).at(times), _at(times, even, found[name]))
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


def _with_stand_ins(problem: Problem, stands: dict[str, StandIn]) -> Problem:
    """The problem with human hands in the place of robot hands; nothing else of it is kept."""
    tracks = dict(problem.tracks)
    for name, stand in stands.items():
        track = problem.track(name)
        tracks[name] = Track(track.times, track.pose @ stand.wrist)
    hands = {**problem.hands, **{name: stand.model for name, stand in stands.items()}}
    return Problem(problem.name, problem.times, hands, problem.bodies, tracks=tracks)


def _followed(
    problem: Problem,
    posed: Problem,
    name: str,
    stand: StandIn,
    even: Float[np.ndarray, " N"],
    found: Fingers,
) -> Float[np.ndarray, "N J"]:
    """Joint values of a robot hand that follows its stand-in, at even times, rad."""
    poses = {one: track.at(problem.times) for one, track in posed.tracks.items()}
    body = nearest_body(stand.model, poses[name], problem.bodies, poses)
    root = resampled(problem.times, problem.track(name).at(problem.times), even)
    on_body = resampled(problem.times, poses[body], even).inverse() @ root
    field = sensed_body(problem.bodies[body]).near
    return followed(problem.hands[name], stand, found[name], on_body, field)


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
