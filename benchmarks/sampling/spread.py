"""How much of the space of postures the search covers, against the plain search of the paper.

Ye & Liu 2012 show in Figure 11 the curves of one joint of the index finger over time, for all of
the first 3000 explored frames of a motion of 230, and compare by eye how wide a band they fill. The
measure here is the width of that band, for all joints at once. In each frame of the motion it is
the square root of the trace of the covariance of the postures that were visited there: the
root-mean-square distance from their mean, rad. The trace, because the determinant is zero as soon
as one joint of thirty stands still. The mean is over all frames of the motion, those that were
never reached counting as zero, for a search that stays at the start covers nothing of the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from benchmarks.bars import bars_met, bars_table
from benchmarks.sampling.spread_figure import Band, draw_bands
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.methods import ContactSampling
from handwright.methods.sampling.attempt import PATHS
from handwright.methods.sampling.search.frame import FEASIBLE
from handwright.methods.sampling.search.search import TreeSearch
from handwright.methods.sampling.setup.prepare import HoldSearch, prepare
from handwright.methods.sampling.warm_up import warm_up
from handwright.render.scene import check_png, write_png
from handwright.scenes import load_scene

if TYPE_CHECKING:
    from rich.console import Group

BARS: dict[str, tuple[str, float]] = {"ratio": (">=", 3.0)}
FRAMES = 3000
"""Explored by each search, as in the paper."""
_JOINT = "index_mcp_flexion"
_SEED = 0

_MEANINGS = {
    "spread": "mean spread of postures over all frames, improved search, rad",
    "spread_baseline": "the same, plain search of the paper's section 4, rad",
    "ratio": "of the two",
    "reached": "share of the frames of the motion that were visited, improved",
    "reached_baseline": "the same, plain",
    "ratio_common": "ratio of spreads over the frames that both visited",
    "covered_deg": "width of the visited band, mean over joints and frames, improved, degrees",
    "covered_deg_baseline": "the same, plain, degrees",
    "ratio_covered": "of the two",
    "solutions": "paths to the last frame, improved",
    "solutions_baseline": "the same, plain",
}


class Explored(NamedTuple):
    """Feasible frames that a search visited."""

    frame: Int[np.ndarray, " N"]
    """Of the motion, from 0."""
    q: Float[np.ndarray, "N J"]
    """rad."""
    length: int
    """Frames of the motion."""
    solutions: int
    first: int
    """Frame of the problem at which the search starts."""


def frame_spread(
    frame: Int[np.ndarray, " N"], q: Float[np.ndarray, "N J"], length: int
) -> Float[np.ndarray, " T"]:
    """Root-mean-square distance of the postures of each frame from their mean, rad.

    Args:
        frame: Of each posture, 0 to ``length`` - 1.
        q: Postures, rad.
        length: Number of frames; those without postures get NaN.
    """
    spread = np.full(length, np.nan)
    for t in np.unique(frame):
        spread[t] = np.sqrt(q[frame == t].var(axis=0).sum())
    return spread


def covered_width(frame: Int[np.ndarray, " N"], q: Float[np.ndarray, "N J"], length: int) -> float:
    """Values of a joint that were visited in a frame, in cells of a degree, mean over both.

    Unlike the spread it does not care how often a value was visited.

    Args:
        frame: Of each posture, 0 to ``length`` - 1.
        q: Postures, rad.
        length: Number of frames.

    Returns:
        Degrees.
    """
    cells = np.floor(np.degrees(q)).astype(np.int64)
    cells -= cells.min(initial=0)
    keys = frame[:, None] * (cells.max(initial=0) + 1) + cells
    return sum(len(np.unique(column)) for column in keys.T) / (length * max(q.shape[1], 1))


def explore(problem: Problem, method: ContactSampling, *, frames: int, seed: int) -> Explored:
    """The postures that the search visits, over as many attempts as it takes.

    Args:
        problem: With one holding.
        method: Settings.
        frames: How many to explore, failing ones included.
        seed: Of the search.
    """
    holds = prepare(problem, method)
    if not holds:
        raise InvalidValueError(
            f"'{problem.name}' has no body that a hand must hold; choose another --scene."
        )
    hold = holds[0]
    warm_up(hold)
    seen: list[tuple[int, np.ndarray]] = []
    number = solutions = done = 0
    while done < frames:
        rng = np.random.default_rng([seed, number, 0])
        watched = _Watched(hold, rng)
        # As many paths from one tree as an attempt of the method asks for, at most. The plain
        # search of the paper goes through its tree exhaustively.
        end = frames - done if method.baseline else min(method.max_frames, frames - done)
        paths = 0
        while (method.baseline or paths < PATHS) and watched.next_path(end) is not None:
            paths += 1
        solutions += paths
        seen += watched.seen
        done += watched.tally.frames
        number += 1
    q = np.array([posture for _, posture in seen]).reshape(len(seen), len(hold.data.hands.rest))
    frame = np.array([t for t, _ in seen], dtype=np.int64)
    return Explored(frame, q, hold.stop - hold.start, solutions, hold.start)


class _Watched(TreeSearch):
    """A search that remembers the postures of all feasible frames."""

    def __init__(self, hold: HoldSearch, rng: np.random.Generator) -> None:
        super().__init__(hold, rng)
        self.seen: list[tuple[int, np.ndarray]] = []

    def _step(self) -> int:
        verdict = super()._step()
        if verdict == FEASIBLE:
            self._remember(self._t + 1)
        return verdict

    def _start(self) -> None:
        super()._start()
        if self._t == 0:
            self._remember(0)

    def _remember(self, t: int) -> None:
        self.seen.append((t, self._path.q[t].copy()))


def compare(improved: Explored, baseline: Explored) -> dict[str, float]:
    """Spreads of two searches of the same motion."""
    spreads = [frame_spread(each.frame, each.q, each.length) for each in (improved, baseline)]
    visited = [np.isfinite(spread) for spread in spreads]
    whole = [float(np.nan_to_num(spread).mean()) for spread in spreads]
    both = visited[0] & visited[1]
    width = [covered_width(each.frame, each.q, each.length) for each in (improved, baseline)]
    common = [float(spread[both].mean()) if both.any() else 0.0 for spread in spreads]
    return {
        "spread": whole[0],
        "spread_baseline": whole[1],
        "ratio": _ratio(*whole),
        "reached": float(visited[0].mean()),
        "reached_baseline": float(visited[1].mean()),
        "ratio_common": _ratio(*common),
        "covered_deg": width[0],
        "covered_deg_baseline": width[1],
        "ratio_covered": _ratio(*width),
        "solutions": float(improved.solutions),
        "solutions_baseline": float(baseline.solutions),
    }


def _ratio(value: float, other: float) -> float:
    """Zero over zero is no gain at all; a large number stands for infinity, which JSON has not."""
    if value == 0.0:
        return 0.0
    return min(value / other, 1e9) if other > 0.0 else 1e9


def run(
    *, scene: str = "spatula", frames: int = FRAMES, figure: Path | None = None
) -> dict[str, Any]:
    """Explores with both searches; a minute or so with warm caches.

    Args:
        scene: Name of the scene.
        frames: Explored by each search.
        figure: Picture (.png) of a joint's curves in both, to write.
    """
    from rich.console import Console

    if frames < 1:
        raise InvalidValueError(f"--frames is {frames}; expected 1 or more.")
    if figure is not None:
        check_png(figure)
    problem, console = load_scene(scene), Console(stderr=True)
    found = {}
    for name, method in (
        ("improved", ContactSampling()),
        ("baseline", ContactSampling(baseline=True)),
    ):
        with console.status(f"{scene}: {frames} frames by the {name} search"):
            found[name] = explore(problem, method, frames=frames, seed=_SEED)
    result: dict[str, Any] = compare(found["improved"], found["baseline"])
    result["bars_met"] = bars_met(result, BARS)
    empty = [name for name, each in found.items() if len(each.frame) == 0]
    message = (
        f"No frame of '{scene}' was feasible for the {' and the '.join(empty)} search, not even a "
        "first grasp, so that there is nothing to compare. Choose another --scene."
        if empty
        else ""
    )
    result |= {"scene": scene, "frames": frames, "seed": _SEED, "message": message}
    if figure is not None:
        joint = next(iter(problem.hands.values())).joints.index(_JOINT)
        titles = {"baseline": "plain search of section 4", "improved": "improved search"}
        bands = [
            Band(f"{title}: {_JOINT} on {scene}", each.frame + each.first, each.q[:, joint])
            for name, title in titles.items()
            for each in (found[name],)
        ]
        image = draw_bands(bands, last=len(problem.times) - 1)
        result["figure"] = str(write_png(image, figure))
    return result


def describe(result: dict[str, Any]) -> Group:
    """The result as a table."""
    from rich.console import Group

    title = f"Postures covered on {result['scene']} by {result['frames']} explored frames"
    table = bars_table(title, result, _MEANINGS, BARS)
    return Group(table, *([result["message"]] if result["message"] else []))
