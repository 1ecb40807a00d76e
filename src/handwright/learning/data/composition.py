"""What a folder of taught motions is made of: frames by shape and activity, and how they differ."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.evidence.metrics.diversity import STRATEGIES, pose_clusters, strategies
from handwright.evidence.metrics.smoothness import joints_in_wrist
from handwright.io.atomic import written_whole
from handwright.learning.data.motion import ACTIVITIES, TaughtMotion
from handwright.learning.data.script import SPLITS

COMPOSITION = "composition.json"
"""File in the folder of a run."""
# Postures that are compared, one of each of so many motions at most, and the distance, m, from
# which they differ.
_MOST_POSTURES, _DIFFERENT = 400, 0.010


@dataclass(frozen=True, slots=True)
class Composition:
    """Figures of a set of taught motions."""

    frames: Mapping[str, Mapping[str, int]]
    """Frames by shape and activity."""
    splits: Mapping[str, int]
    """Frames by split."""
    motions: Mapping[str, int]
    """Certified motions by shape."""
    unsolved: Mapping[str, int]
    """Tracks without fingers, by shape."""
    solved_acts: Mapping[str, tuple[int, int]]
    """By activity: certified motions that were asked for it, and all that were."""
    reasons: Mapping[str, int]
    """Tracks without fingers, by reason."""
    num_hands: Mapping[str, int]
    """Frames with the right hand alone, the left alone, and both."""
    gaits: Mapping[str, float]
    """Share of motions in which contacts stay, slide, roll and move elsewhere."""
    num_postures: int
    """Postures that were compared, one of each motion."""
    num_different: int
    """Groups of them that are 10 mm or more apart, in the mean over the joints."""
    posture_distance: float
    """Mean distance of the same joints of two of them, m."""

    @property
    def total(self) -> int:
        """All frames."""
        return sum(self.splits.values())

    def save(self, folder: str | Path) -> None:
        """Writes the figures into the folder of the motions."""
        with written_whole(Path(folder) / COMPOSITION) as file:
            file.write(json.dumps(asdict(self) | {"total": self.total}, indent=1).encode())


def composition_of(
    motions: Iterable[TaughtMotion], unsolved: Iterable[Mapping[str, Any]] = ()
) -> Composition:
    """Measures motions, and notes on tracks without fingers."""
    frames: dict[str, Counter[str]] = defaultdict(Counter)
    splits, counts, hands, seen = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    acts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    postures = []
    for motion in motions:
        frames[motion.shape].update(motion.activity)
        splits[motion.split] += motion.num_frames
        counts[motion.shape] += 1
        hands["+".join(motion.clip.hands)] += motion.num_frames
        for what in motion.acts:
            acts[what][0] += 1
            acts[what][1] += 1
        seen.update({name for body in motion.things for name in strategies(motion.clip, body)})
        postures.append(_posture(motion, len(postures)))
    failed, reasons = Counter[str](), Counter[str]()
    for row in unsolved:
        failed[str(row["shape"])] += 1
        reasons[str(row["reason"])] += 1
        for what in row["acts"]:
            acts[str(what)][1] += 1
    compared = postures[:: max(1, len(postures) // _MOST_POSTURES)]
    groups = pose_clusters(compared, cluster_distance=_DIFFERENT) if compared else []
    return Composition(
        {shape: _ordered(row, ACTIVITIES) for shape, row in sorted(frames.items())},
        _ordered(splits, SPLITS),
        dict(sorted(counts.items())),
        dict(sorted(failed.items())),
        {what: (done, asked) for what, (done, asked) in sorted(acts.items())},
        dict(reasons.most_common()),
        dict(hands),
        {name: seen[name] / max(1, len(postures)) for name in STRATEGIES},
        len(compared),
        len(set(groups)),
        _mean_distance(compared),
    )


def _ordered(counts: Counter[str], names: Iterable[str]) -> dict[str, int]:
    return {name: counts[name] for name in names if counts[name]}


def _posture(motion: TaughtMotion, number: int) -> Float[np.ndarray, "1 N 3"]:
    """Joints of one hand in one frame, m; a left hand as its mirror image."""
    sides = list(motion.clip.hands)
    side = sides[number % len(sides)]
    # Not always the same moment, but no matter of chance either: the golden section.
    frame = int((0.618034 * (number + 1) % 1.0) * (motion.num_frames - 1))
    model = motion.clip.problem.hands[side]
    joints = joints_in_wrist(model, motion.clip.hands[side].q[frame : frame + 1])
    return joints * np.array([1.0, -1.0 if side == "left" else 1.0, 1.0])


def _mean_distance(postures: list[Float[np.ndarray, "1 N 3"]]) -> float:
    if len(postures) < 2:
        return 0.0
    all_of_them = np.concatenate(postures)
    apart = [
        np.linalg.norm(all_of_them[i + 1 :] - all_of_them[i], axis=2).mean(axis=1)
        for i in range(len(all_of_them) - 1)
    ]
    return float(np.concatenate(apart).mean())
