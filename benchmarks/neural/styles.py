"""Whether several learned motions of the same tracks differ in style.

Sets of motions are compared: by noise on the joints that a network is shown, by the poses that
fingers start from, by networks that were trained with different seeds, and by contact sampling with
different seeds. Noise of a milliradian is the floor: what differs by no more does not differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from benchmarks.neural.cases import Case, own_trial
from benchmarks.neural.figures import measured, with_fingers
from benchmarks.progress import shown_steps
from handwright.core.clip import Clip
from handwright.errors import InvalidValueError
from handwright.evidence.metrics.diversity import STRATEGIES, diversity, pose_track
from handwright.methods import METHODS
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import (
    SHIPPED,
    Network,
    WindowedNetwork,
    load_network,
)
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.view import hand_views
from handwright.synthesis import synthesize

if TYPE_CHECKING:
    from rich.table import Table

FLOOR = "floor: noise of 0.001 rad"
STARTS = "start poses"
NETWORKS = "networks"
CERTIFIED = "noise of 0.05 rad, certified"
SAMPLING = "contact sampling"
NEAR = 0.001
"""Mean distance of joints below which a start pose is forgotten, m."""
_NOISE = {FLOOR: 0.001, "noise of 0.05 rad": 0.05, "noise of 0.15 rad": 0.15}
_CASES, _NUM, _FPS = 8, 4, 60.0


class Spread(NamedTuple):
    """Of one set of motions on the same tracks, or the mean of several sets."""

    pose: float
    """Mean distance of the same joints of two motions, mm."""
    contact: float
    """Mean distance of the contact points of two motions, mm."""
    lasting: float
    """Share of the distance from the mean motion that is the same over time: 1 if each motion has
    a posture of its own, 0 if they only tremble."""
    clusters: float
    """Groups of motions that are a centimetre apart."""
    strategies: tuple[str, ...]
    """What contacts are seen to do in any motion."""
    realism: float
    """Share of the carried frames that contact forces explain, %."""
    smoothness: float
    """Mean acceleration of joints, cm/s^2."""
    motions: float
    """How many motions a set has."""


def run(
    motions: Path | None = None,
    *,
    model: str = SHIPPED,
    windows: int = _CASES,
    num: int = _NUM,
    budget: float = 0.0,
) -> dict[str, Any]:
    """Measures the spread of sets of motions.

    Args:
        motions: Folder of 'handwright data make': motions of its test split are tried.
        model: Folders of networks with commas between them; all but the first only for their own
            set.
        windows: How many motions are tried.
        num: Motions in each set.
        budget: Of contact sampling for each set, s; 0 leaves it out.
    """
    if motions is None:
        raise InvalidValueError(
            "Nothing to try. Pass --motions DIR, made by 'handwright data make'."
        )
    networks = [load_network(folder) for folder in model.split(",")]
    cases = own_trial(motions).cases[:windows]
    ways = _ways(networks, num, model.split(",")[0], budget)
    spreads: dict[str, list[Spread]] = {way: [] for way in ways}
    forgotten = []
    with shown_steps(len(cases) * len(ways)) as step, threadpool_limits(1):
        for case in cases:
            for way, make in ways.items():
                step(f"{way}: {case.name}")
                found = make(case)
                if len(found) > 1:
                    spreads[way].append(spread_of(found, case.teacher))
                if way == STARTS:
                    forgotten.append(forgotten_after(found))
    return {
        "cases": len(cases),
        "forgotten_after": float(np.median(forgotten)),
        "ways": {way: mean_spread(rows)._asdict() for way, rows in spreads.items() if rows},
    }


def _ways(
    networks: Sequence[Network | WindowedNetwork], num: int, first: str, budget: float
) -> dict[str, Callable[[Case], list[Clip]]]:
    """How sets of motions come about, by name."""

    def noisy(amount: float) -> Callable[[Case], list[Clip]]:
        return lambda case: [
            learned_motion(
                case.teacher.problem, networks[0], style_noise=amount, rng=np.random.default_rng(n)
            )
            for n in range(num)
        ]

    def searched(name: str, **settings: Any) -> Callable[[Case], list[Clip]]:
        cls: Any = METHODS[name]
        method = cls(num_solutions=num, time_budget=budget, **settings)
        return lambda case: list(synthesize(case.teacher.problem, method).clips)

    ways = {way: noisy(amount) for way, amount in _NOISE.items()}
    ways[STARTS] = lambda case: _from_starts(networks[0], case, num)
    if len(networks) > 1:
        ways[NETWORKS] = lambda case: [
            learned_motion(case.teacher.problem, one) for one in networks
        ]
    if budget > 0.0:
        ways[CERTIFIED] = searched("neural", model=first, style_noise=0.05)
        ways[SAMPLING] = searched("sampling")
    return ways


def _from_starts(network: Network | WindowedNetwork, case: Case, num: int) -> list[Clip]:
    """Motions that begin with the joints anywhere between their limits."""
    problem, views = case.teacher.problem, hand_views(case.teacher.problem)
    found = []
    for number in range(num):
        rng = np.random.default_rng(number)
        start = {name: model.joints.random(rng) for name, model in problem.hands.items()}
        found.append(with_fingers(case.teacher, rolled_out(network, views, start=start)))
    return found


def _deviations(clips: Sequence[Clip]) -> Float[np.ndarray, "K T N 3"]:
    """Of joints from their mean over all motions, m."""
    tracks = np.stack([pose_track(clip) for clip in clips])
    deviations: np.ndarray = tracks - tracks.mean(axis=0)
    return deviations


def spread_of(clips: Sequence[Clip], teacher: Clip) -> Spread:
    """How different motions of the same tracks are.

    Args:
        clips: Two or more.
        teacher: Whose tracks they have.
    """
    found = [diversity(clips, body) for body in teacher.bodies]
    off = _deviations(clips)
    whole = float(np.linalg.norm(off, axis=-1).mean())
    lasting = float(np.linalg.norm(off.mean(axis=1), axis=-1).mean())
    figures = [measured(clip, teacher) for clip in clips]
    return Spread(
        pose=1e3 * found[0].pose_distance,
        contact=1e3 * float(np.mean([one.contact_distance for one in found])),
        lasting=lasting / whole if whole > 0.0 else 0.0,
        clusters=found[0].clusters,
        strategies=tuple(
            name for name in STRATEGIES if any(name in one.strategies for one in found)
        ),
        realism=float(np.mean([0.0 if one.carried == 0 else one.realism for one in figures])),
        smoothness=float(np.mean([one.smoothness for one in figures])),
        motions=len(clips),
    )


def mean_spread(rows: Sequence[Spread]) -> Spread:
    """Means over sets; strategies are those of any.

    Args:
        rows: One or more.
    """
    means = {
        name: float(np.mean([getattr(row, name) for row in rows]))
        for name in Spread._fields
        if name != "strategies"
    }
    seen = tuple(name for name in STRATEGIES if any(name in row.strategies for row in rows))
    return Spread(**means, strategies=seen)


def forgotten_after(clips: Sequence[Clip]) -> float:
    """When motions that begin differently are the same from then on, s.

    Args:
        clips: At 60 frames a second.
    """
    apart = np.linalg.norm(_deviations(clips), axis=-1).mean(axis=(0, 2))
    far = np.flatnonzero(apart >= NEAR)
    return float((far[-1] + 1) / _FPS) if len(far) else 0.0


def describe(result: Mapping[str, Any]) -> Table:
    """The result as a table."""
    from rich.table import Table

    title = (
        f"Spread of motions on the same tracks, {result['cases']} tracks; "
        f"a start pose is forgotten after {result['forgotten_after']:.1f} s"
    )
    table = Table(title=title, box=None, pad_edge=False)
    headings = ("motions by", "pose mm", "contacts mm", "lasting", "groups", "realism %", "cm/s²")
    for heading in (*headings, "contacts"):
        table.add_column(
            heading, justify="left" if heading in ("motions by", "contacts") else "right"
        )
    for way, row in result["ways"].items():
        table.add_row(
            way,
            f"{row['pose']:.1f}",
            f"{row['contact']:.1f}",
            f"{row['lasting']:.2f}",
            f"{row['clusters']:.1f} of {row['motions']:.1f}",
            f"{row['realism']:.0f}",
            f"{row['smoothness']:.0f}",
            " ".join(row["strategies"]),
        )
    return table
