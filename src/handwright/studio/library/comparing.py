"""How two clips of one length differ, over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.kinematics import link_poses
from handwright.math.one_turn import turn_to
from handwright.studio.labels import finite
from handwright.studio.library.judging import loaded_clip
from handwright.studio.messages import Comparison, Curve
from handwright.studio.server.request_errors import TroubleError


def compare_clips(first: Path, second: Path, first_id: str, second_id: str) -> Comparison:
    """Distances of fingertips in the wrist's frame and of bodies, and differences of forces.

    Args:
        first: A clip.
        second: Another, with the same hands and as many frames.
        first_id: Identifier of the one.
        second_id: Identifier of the other.
    """
    one, two = loaded_clip(first), loaded_clip(second)
    _check_alike(one, two)
    curves = []
    for name in one.hands:
        for digit, apart in _tip_distances(one, two, name):
            label = f"{name} {digit} tip"
            curves.append(_curve(f"tip.{name}.{digit}", label, "mm", 1e3 * apart))
    for name in one.bodies:
        apart = one.bodies[name].position - two.bodies[name].position
        way = np.linalg.norm(apart, axis=1)
        curves.append(_curve(f"place.{name}", f"{name} place", "mm", 1e3 * way))
        pairs = zip(one.bodies[name].wxyz, two.bodies[name].wxyz, strict=True)
        turn = np.array([np.linalg.norm(turn_to(a, b)) for a, b in pairs])
        curves.append(_curve(f"turn.{name}", f"{name} turn", "°", np.degrees(turn)))
        change = np.abs(_pressing(two, name) - _pressing(one, name))
        curves.append(_curve(f"force.{name}", f"Force of hands on {name}", "N", change))
    times = [finite(float(time)) or 0.0 for time in one.times - one.times[0]]
    return Comparison(first=first_id, second=second_id, times=times, curves=curves)


def _check_alike(one: Clip, two: Clip) -> None:
    problems = []
    if one.num_frames != two.num_frames:
        problems.append(f"they have {one.num_frames} and {two.num_frames} frames")
    for kind, mine, others in (
        ("hands", one.problem.hands, two.problem.hands),
        ("bodies", one.problem.bodies, two.problem.bodies),
    ):
        if set(mine) != set(others):
            problems.append(f"their {kind} are {', '.join(mine)} and {', '.join(others)}")
    if not problems:
        problems += [
            f"their hands '{name}' have other digits"
            for name, hand in one.problem.hands.items()
            if [d.name for d in hand.digits] != [d.name for d in two.problem.hands[name].digits]
        ]
    if problems:
        text = "; ".join(problems)
        raise TroubleError(409, f"The two clips cannot be compared: {text}. Choose two alike.")


def _tip_distances(one: Clip, two: Clip, hand: str) -> list[tuple[str, Float[np.ndarray, " T"]]]:
    tips = [_tips(clip, hand) for clip in (one, two)]
    apart = np.linalg.norm(tips[0] - tips[1], axis=-1)
    digits = one.problem.hands[hand].digits
    return [(digit.name, apart[:, n]) for n, digit in enumerate(digits)]


def _tips(clip: Clip, hand: str) -> Float[np.ndarray, "T D 3"]:
    """Fingertips in the wrist's frame, m."""
    model = clip.problem.hands[hand]
    turns, places = link_poses(model, clip.hands[hand].q)
    wrist_turn, wrist_place = turns[:, model.wrist_link], places[:, model.wrist_link]
    tips = [
        turns[:, digit.tip.link] @ digit.tip.position + places[:, digit.tip.link]
        for digit in model.digits
    ]
    whole = np.stack(tips, axis=1) if tips else np.zeros((clip.num_frames, 0, 3))
    return np.einsum("tji,tnj->tni", wrist_turn, whole - wrist_place[:, None])


def _pressing(clip: Clip, body: str) -> Float[np.ndarray, " T"]:
    """Sum of the sizes of the forces that hands are stored to give a body, N."""
    contacts, total = clip.contacts, np.zeros(clip.num_frames)
    for row in range(len(contacts)):
        toucher = contacts.touchers[contacts.toucher[row]]
        if contacts.bodies[contacts.body[row]] == body and toucher in clip.problem.hands:
            size = float(np.linalg.norm(contacts.force[row]))
            total[contacts.frame[row]] += 0.0 if np.isnan(size) else size
    return total


def _curve(name: str, label: str, unit: str, values: Float[np.ndarray, " T"]) -> Curve:
    label = label[:1].upper() + label[1:].replace("_", " ")
    listed = [finite(float(value)) for value in values]
    return Curve(name=name, label=label, unit=unit, values=listed, allowed=None)
