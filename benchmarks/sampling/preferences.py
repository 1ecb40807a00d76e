"""Whether preferences and edited problems change motions as Ye & Liu 2012, section 7, describe.

Static contacts against sliding ones on the same scene; the direction in which fingers slide with
little and with much friction; the grip of a spatula as it is and brought closer to the palm.

Friction is tried on a tilted pot, whose sides slope: hands can bear its weight by normal forces or
by friction, and which costs less depends on the cone. On the upright sides of a box only friction
can bear it; that is measured beside it, without a bar.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from benchmarks.bars import bars_table
from benchmarks.sampling.grip_shares import near_share, vertical_share
from handwright.core.editing import with_friction, with_hand_offset
from handwright.core.problem import Problem
from handwright.core.result import Result
from handwright.errors import InvalidValueError
from handwright.evidence.metrics.strategies import total_strategies
from handwright.geometry.distance.exact import ExactDistance
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose
from handwright.methods import ContactSampling
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.console import Group

BARS: dict[str, tuple[str, float]] = {
    "change_ratio": (">=", 5.0),
    "vertical_turn": (">=", 0.05),
    "near_share_closer": (">=", 0.3),
    "near_share_rise": (">=", 0.2),
}
LOW_FRICTION, HIGH_FRICTION = 0.4, 1.5
CLOSER = 0.025
"""By how much the hand is brought nearer to the spatula, m."""
_SCENE, _SLOPING_SCENE, _GRIP_SCENE = "milk_box_turn", "wine_pot", "spatula"
_FRICTION_SEEDS = (0, 1, 2, 3)
"""Which way a finger slides depends on where it holds, and motions of one seed share first grasps;
all other runs have the first of these seeds."""

_MEANINGS = {
    "static_changes": "slides and relocations of a motion, strategy static",
    "slide_changes": "the same, strategy slide, same scene and seed",
    "change_ratio": "of the two",
    "vertical_low": f"mean upright share of sliding directions, pot, friction {LOW_FRICTION:g}",
    "vertical_high": f"the same, friction {HIGH_FRICTION:g}",
    "vertical_turn": "by how much sliding turns upright as the friction cone widens",
    "vertical_turn_box": "the same on the upright sides of the box",
    "near_share": "normal force on palm, near and middle phalanges, spatula as it is",
    "near_share_closer": f"the same, with the hand {1e3 * CLOSER:g} mm nearer",
    "near_share_rise": "of the two shares",
}


def towards_body(problem: Problem, hand: str, body: str) -> Float[np.ndarray, "3"]:
    """Unit vector from the palm to the nearest point of a body, in the frame of the hand's root.

    Taken half-way through the motion, from the part of the palm that is nearest.

    Args:
        problem: With tracks of both.
        hand: Its name.
        body: Its name.
    """
    model = problem.hands[hand]
    here = Pose(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
    posed = posed_capsules(model, model.pose("rest")[None], here)
    palm = np.flatnonzero(model.capsules.digit < 0)
    middle = 0.5 * (posed.start + posed.end)[0, palm]
    t = len(problem.times) // 2
    times = problem.times[t : t + 1]
    seen = (problem.track(hand).at(times).inverse() @ problem.track(body).at(times))[0]
    distance, nearest, _, _ = ExactDistance.from_body(problem.bodies[body]).signed_distance(
        seen.inverse().apply(middle)
    )
    row = int((distance - posed.radius[palm]).argmin())
    way = seen.apply(nearest[row]) - middle[row]
    return np.asarray(way / np.linalg.norm(way))


def run(*, num: int = 10, budget: float = 60.0) -> dict[str, Any]:
    """Twenty runs of contact sampling, within ten minutes or so.

    Args:
        num: Motions of each kind of run; those with several seeds share them, rounded up.
        budget: Search of each run, s.
    """
    from rich.console import Console

    if num < 1 or budget <= 0.0:
        raise InvalidValueError(
            f"--num is {num} and --budget {budget:g} s; expected 1 or more, and above 0."
        )
    console = Console(stderr=True)
    problem, spatula = load_scene(_SCENE), load_scene(_GRIP_SCENE)
    (hand,), (body,) = spatula.hands, spatula.bodies
    closer = with_hand_offset(spatula, hand, CLOSER * towards_body(spatula, hand, body))
    one = _FRICTION_SEEDS[:1]
    jobs: dict[str, tuple[Problem, ContactSampling, tuple[int, ...]]] = {
        "static": (problem, ContactSampling(num, budget, strategy="static"), one),
        "slide": (problem, ContactSampling(num, budget, strategy="slide"), one),
    }
    each = ContactSampling(math.ceil(num / len(_FRICTION_SEEDS)), budget, strategy="slide")
    for ending, scene in (("", load_scene(_SLOPING_SCENE)), ("_box", problem)):
        (prop,) = scene.bodies
        for name, friction in (("low", LOW_FRICTION), ("high", HIGH_FRICTION)):
            jobs[name + ending] = with_friction(scene, prop, friction), each, _FRICTION_SEEDS
    for name, edited in (("apart", spatula), ("closer", closer)):
        jobs[name] = edited, ContactSampling(num, budget), one
    found: dict[str, list[Result]] = {}
    for name, (edited, method, seeds) in jobs.items():
        wanted = method.num_solutions * len(seeds)
        with console.status(f"{edited.name}: {wanted} motions, {name}"):
            found[name] = [synthesize(edited, method, seed=seed) for seed in seeds]
    return figures(found)


def figures(found: dict[str, list[Result]]) -> dict[str, Any]:
    """The figures of all runs; null where a run gave no motion.

    Args:
        found: Results by seed of the runs static, slide, low, high, low_box, high_box, apart and
            closer.
    """
    clips = {name: [clip for one in runs for clip in one.clips] for name, runs in found.items()}
    result: dict[str, Any] = {}
    for name in ("static", "slide"):
        counts, many = total_strategies(clips[name]), len(clips[name])
        changes = (counts["slide"] + counts["relocate"]) / many if many else None
        result[f"{name}_changes"] = changes
    static, slide = result["static_changes"], result["slide_changes"]
    # A single change in all static motions is the least that could be told from none.
    least = 1.0 / max(len(clips["static"]), 1)
    result["change_ratio"] = None if static is None or slide is None else slide / max(static, least)
    for ending in ("", "_box"):
        low, high = (vertical_share(clips[name + ending]) for name in ("low", "high"))
        result |= {f"vertical_low{ending}": low, f"vertical_high{ending}": high}
        result[f"vertical_turn{ending}"] = _rise(low, high)
    result["near_share"] = near_share(clips["apart"])
    result["near_share_closer"] = near_share(clips["closer"])
    result["near_share_rise"] = _rise(result["near_share"], result["near_share_closer"])
    result["motions"] = {name: len(own) for name, own in clips.items()}
    result["messages"] = {
        f"{name} {seed}": one.message
        for name, runs in found.items()
        for seed, one in enumerate(runs)
        if one.message
    }
    result["bars_met"] = all(
        result[name] is not None and result[name] >= bound for name, (_, bound) in BARS.items()
    )
    return result


def _rise(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else second - first


def describe(result: dict[str, Any]) -> Group:
    """The result as a table."""
    from rich.console import Group

    shown = {name: np.nan if result[name] is None else result[name] for name in _MEANINGS}
    table = bars_table("Preferences of contact sampling", shown, _MEANINGS, BARS)
    return Group(table, *(f"{name}: {text}" for name, text in result["messages"].items()))
