"""How different the motions of a set are, and what the fingers do in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import squareform

from handwright.core.clip import Clip
from handwright.core.tolerances import STATIC_SPEED
from handwright.errors import InvalidValueError
from handwright.evidence.metrics.realism import CapsuleContacts, capsule_contacts
from handwright.evidence.metrics.smoothness import joints_in_wrist
from handwright.geometry.farthest_first import farthest_first

STRATEGIES = ("static", "slide", "roll", "relocate")

_TOUCHING = 0.002
_LEAST_TIME = 0.1
_ROLLED = 0.003
_RELOCATED = 0.01


class Diversity(NamedTuple):
    """Of a set of clips of the same problem."""

    contact_distance: float
    """Mean over pairs of clips and frames of the distance between their contact points on the
    body (each to the nearest of the other clip), m."""
    pose_distance: float
    """Mean over pairs of clips and frames of the distance between the same joints in the wrist's
    frame, m."""
    clusters: int
    """Groups of clips that are farther apart in pose than the stated distance."""
    strategies: tuple[str, ...]
    """Which of static, slide, roll, relocate are seen in any clip."""


def diversity(clips: Sequence[Clip], body: str, *, cluster_distance: float = 0.01) -> Diversity:
    """Measures a set of clips with the same frames.

    Args:
        clips: At least one; all with the same times.
        body: Name of the body that is handled.
        cluster_distance: Pose distance below which clips belong together, m.
    """
    if not clips:
        raise InvalidValueError("diversity was given no clips; expected one or more.")
    lengths = {clip.num_frames for clip in clips}
    if len(lengths) > 1:
        raise InvalidValueError(
            f"diversity was given clips of {sorted(lengths)} frames; expected one length. "
            "Resample them first."
        )
    contacts = [capsule_contacts(clip, body, reach=0.005) for clip in clips]
    points = [
        _points_on_body(clip, body, found) for clip, found in zip(clips, contacts, strict=True)
    ]
    joints = [pose_track(clip) for clip in clips]
    count, contact = len(clips), []
    for i in range(count):
        for j in range(i):
            between = [_set_distance(a, b) for a, b in zip(points[i], points[j], strict=True)]
            contact += [value for value in between if value is not None]
    mean_pose = float(_distances(joints).mean()) if count > 1 else 0.0
    clusters = max(pose_clusters(joints, cluster_distance=cluster_distance)) + 1
    seen = {
        name
        for clip, found in zip(clips, contacts, strict=True)
        for name in strategies(clip, body, found)
    }
    return Diversity(
        float(np.mean(contact)) if contact else 0.0,
        mean_pose,
        clusters,
        tuple(name for name in STRATEGIES if name in seen),
    )


def pose_track(clip: Clip) -> Float[np.ndarray, "T N 3"]:
    """Joints of all hands in the frames of their wrists, m: what clips are told apart by."""
    hands = [joints_in_wrist(clip.problem.hands[n], m.q) for n, m in clip.hands.items()]
    return np.concatenate([np.zeros((clip.num_frames, 0, 3)), *hands], axis=1)


def pose_clusters(
    poses: Sequence[Float[np.ndarray, "T N 3"]], *, cluster_distance: float = 0.01
) -> list[int]:
    """Which motions move alike: a number for each, from 0 in the order of their first ones.

    Args:
        poses: Of ``pose_track``, of one length.
        cluster_distance: Mean distance of joints below which motions belong together, m.
    """
    if len(poses) < 2:
        return [0] * len(poses)
    labels = fcluster(linkage(_distances(poses), "single"), cluster_distance, "distance").tolist()
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return [order[label] for label in labels]


def most_different(poses: Sequence[Float[np.ndarray, "T N 3"]], count: int) -> list[int]:
    """Up to ``count`` motions that move least alike, in their order; the first is one of them.

    Each is the one that is farthest from those before it.

    Args:
        poses: Of ``pose_track``, of one length.
        count: At most so many.
    """
    if not poses or count < 1:
        return []
    apart = squareform(_distances(poses))
    return sorted(farthest_first(lambda row: apart[row], first=0, count=count).tolist())


def _distances(poses: Sequence[Float[np.ndarray, "T N 3"]]) -> Float[np.ndarray, " P"]:
    """Mean distances of joints between all pairs, in scipy's condensed form, m."""
    apart = [
        np.linalg.norm(first - second, axis=-1).mean() if first.size else 0.0
        for first, second in itertools.combinations(poses, 2)
    ]
    return np.array(apart)


def strategies(clip: Clip, body: str, found: CapsuleContacts | None = None) -> set[str]:
    """What the contacts of one clip do: static, slide, roll, relocate."""
    found = capsule_contacts(clip, body, reach=0.005) if found is None else found
    local = clip.bodies[body].inverse()[:, None].apply(found.point)
    touching = found.gap <= _TOUCHING
    still = np.linalg.norm(found.velocity, axis=-1) <= STATIC_SPEED
    seen = set()
    for c in range(touching.shape[1]):
        for first, last in _runs(touching[:, c] & still[:, c]):
            if clip.times[last - 1] - clip.times[first] >= _LEAST_TIME:
                moved = float(np.linalg.norm(local[last - 1, c] - local[first, c]))
                seen.add("roll" if moved > _ROLLED else "static")
        for first, last in _runs(touching[:, c] & ~still[:, c]):
            if clip.times[last - 1] - clip.times[first] >= _LEAST_TIME:
                seen.add("slide")
        runs = _runs(touching[:, c])
        for (_, last), (first, _) in itertools.pairwise(runs):
            if np.linalg.norm(local[first, c] - local[last - 1, c]) > _RELOCATED:
                seen.add("relocate")
    return seen


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last index of every stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _points_on_body(clip: Clip, body: str, found: CapsuleContacts) -> list[np.ndarray]:
    local = clip.bodies[body].inverse()[:, None].apply(found.point)
    return [local[t, found.gap[t] <= _TOUCHING] for t in range(clip.num_frames)]


def _set_distance(
    first: Float[np.ndarray, "N 3"], second: Float[np.ndarray, "M 3"]
) -> float | None:
    if len(first) == 0 or len(second) == 0:
        return None
    forth = cKDTree(first).query(second)[0].mean()
    back = cKDTree(second).query(first)[0].mean()
    return 0.5 * float(forth + back)
