"""Which skin points need a second look: distances change by no more than points move.

Each point keeps how near it can be, at a pose of its links that is kept too. At another pose a
ball around the points that a link carries says how far these have gone from there at most. As
long as that is less than the room that a point had, it is not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.digit_table import DigitTable, count_of
from handwright.kinematics.skin.samples import SkinSamples
from handwright.kinematics.tree import Links

# Between nodes a field can change a little faster than one walks.
_STEEPEST = 1.1


class SkinMemory(NamedTuple):
    """For T poses, S points, C capsules with K carriers each; nothing is remembered if S is 0."""

    known: np.ndarray
    """(T, S) least distance that a point can have at the kept pose, plus the travel by then, m."""
    least: np.ndarray
    """(T, C) least of ``known`` over the points of a capsule, or something below, m."""
    travel: np.ndarray
    """(T, C) how far points can have gone until the kept pose, m."""
    moved: np.ndarray
    """(T, C) and from the kept pose to where they were last looked at, m."""
    rotation: np.ndarray
    """(T, C, K, 3, 3) of the carriers, as kept."""
    position: np.ndarray
    """(T, C, K, 3) m."""


def make_skin_memory(samples: SkinSamples, num_poses: int) -> SkinMemory:
    """Memory in which no point has been looked at."""
    num_capsules, most = samples.carrier.shape
    return SkinMemory(
        np.full((num_poses, len(samples.link)), -np.inf),
        np.full((num_poses, num_capsules), -np.inf),
        np.zeros((num_poses, num_capsules)),
        np.zeros((num_poses, num_capsules)),
        np.zeros((num_poses, num_capsules, most, 3, 3)),
        np.zeros((num_poses, num_capsules, most, 3)),
    )


def no_skin_memory() -> SkinMemory:
    """Every point is looked at every time."""
    shapes = (*[(0, 0)] * 4, (0, 0, 0, 3, 3), (0, 0, 0, 3))
    return SkinMemory(*(np.zeros(shape) for shape in shapes))


@inlined
def skin_travel(
    samples: SkinSamples, memory: SkinMemory, links: Links, capsule: int, pose: int
) -> tuple[float, float]:
    """How far points of a capsule can have gone until the kept pose, and from there to now, m."""
    if memory.known.shape[1] == 0:
        return 0.0, 0.0
    most = 0.0
    for k in range(samples.carrier.shape[1]):
        link = samples.carrier[capsule, k]
        if link < 0:
            break
        ball, turn, place = samples.ball, memory.rotation, memory.position
        gone = turned = 0.0
        for i in range(3):
            # Of the middle of the ball, and by the turn about it.
            off = links.position[link, i] - place[pose, capsule, k, i]
            for j in range(3):
                change = links.rotation[link, i, j] - turn[pose, capsule, k, i, j]
                off += change * ball[capsule, k, j]
                turned += change * change
            gone += off * off
        # |R - R'| as an operator is its Frobenius norm over the root of two.
        most = max(most, np.sqrt(gone) + np.sqrt(0.5 * turned) * ball[capsule, k, 3])
    memory.moved[pose, capsule] = _STEEPEST * most
    return memory.travel[pose, capsule], _STEEPEST * most


@inlined
def recall(table: np.ndarray, pose: int, row: int) -> float:
    """What is known of a point or capsule in ``known`` or ``least``, with the travel by then, m."""
    return table[pose, row] if table.shape[1] > 0 else -np.inf


@inlined
def remember(table: np.ndarray, pose: int, row: int, known: float) -> None:
    """Remembers what is known of a point or capsule."""
    if table.shape[1] > 0:
        table[pose, row] = known


@inlined
def _keep_pose(
    samples: SkinSamples, memory: SkinMemory, links: Links, capsule: int, pose: int
) -> None:
    for k in range(samples.carrier.shape[1]):
        link = samples.carrier[capsule, k]
        if link < 0:
            break
        for i in range(3):
            memory.position[pose, capsule, k, i] = links.position[link, i]
            for j in range(3):
                memory.rotation[pose, capsule, k, i, j] = links.rotation[link, i, j]


@kernel
def keep_skin(
    table: DigitTable, samples: SkinSamples, memory: SkinMemory, links: Links, digit: int, pose: int
) -> None:
    """Keeps the pose at which the points of a digit have just been looked at."""
    if memory.known.shape[1] == 0:
        return
    for number in range(count_of(table.capsule, digit)):
        capsule = table.capsule[digit, number]
        memory.travel[pose, capsule] += memory.moved[pose, capsule]
        memory.moved[pose, capsule] = 0.0
        _keep_pose(samples, memory, links, capsule, pose)


@kernel
def forget_skin(
    table: DigitTable, samples: SkinSamples, memory: SkinMemory, links: Links, digit: int, pose: int
) -> None:
    """Nothing is known about the points of a digit; the pose of its links is kept."""
    if memory.known.shape[1] == 0:
        return
    for number in range(count_of(table.capsule, digit)):
        capsule = table.capsule[digit, number]
        memory.travel[pose, capsule] = memory.moved[pose, capsule] = 0.0
        memory.least[pose, capsule] = -np.inf
        for row in range(samples.first[capsule], samples.first[capsule + 1]):
            memory.known[pose, row] = -np.inf
    keep_skin(table, samples, memory, links, digit, pose)
