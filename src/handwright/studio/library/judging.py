"""What helpers make of a clip: the model that is played, the verdict, figures and the timeline.

Results are kept in a folder for each content of a clip file: ``model.glb``, ``timeline.json``,
``poses.npy`` and, last, ``summary.json``. Each appears whole or not at all.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from handwright.core.clip import Clip
from handwright.evidence import certify, evaluate
from handwright.evidence.metrics.diversity import pose_clusters, pose_track
from handwright.evidence.metrics.strategies import count_strategies
from handwright.io.atomic import written_whole
from handwright.io.clip.npz_file import load_npz
from handwright.io.gltf.write import save_glb
from handwright.studio.labels import finite, in_words
from handwright.studio.library.judged import MODEL, POSES, SUMMARY, TIMELINE, JudgedClip
from handwright.studio.library.timelines import make_timeline
from handwright.studio.messages import Figure, Strategies

_MOST_POSES = 64


@functools.lru_cache(maxsize=4)
def _loaded(path: Path, _changed: int) -> Clip:
    return load_npz(path)


def loaded_clip(path: Path) -> Clip:
    """A clip, which is kept for a while."""
    return _loaded(path, path.stat().st_mtime_ns)


def make_model(path: Path, folder: Path) -> None:
    """Writes what is played: hands, bodies and surroundings without contacts and forces."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MODEL).is_file():
        save_glb(loaded_clip(path), folder / MODEL, contacts=False, forces=False)


def judge_clip(path: Path, folder: Path, name: str) -> None:
    """Judges and measures a clip, and writes what was found.

    Args:
        path: The clip.
        folder: For the results.
        name: Identifier of the clip.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / SUMMARY).is_file():
        return
    clip = loaded_clip(path)
    certificate = certify(clip)
    judged = JudgedClip(
        is_certified=certificate.passed,
        verdict=certificate.verdict,
        figures=_figures(clip),
        strategies=Strategies(**count_strategies(clip)),
    )
    _write(folder / TIMELINE, make_timeline(clip, certificate, name=name).model_dump_json())
    frames = np.unique(np.linspace(0, clip.num_frames - 1, _MOST_POSES).astype(np.int64))
    with written_whole(folder / POSES) as file:
        np.save(file, pose_track(clip)[frames].astype(np.float32), allow_pickle=False)
    _write(folder / SUMMARY, judged.model_dump_json())


def cluster_clips(folders: list[Path]) -> list[int]:
    """Which clips of one scene and length move alike, from the results of judging."""
    poses = [np.load(folder / POSES, allow_pickle=False).astype(np.float64) for folder in folders]
    shapes = [pose.shape for pose in poses]
    numbers = [0] * len(poses)
    first = 0
    # Clips of one scene may still have other hands.
    for shape in dict.fromkeys(shapes):
        own = [n for n, other in enumerate(shapes) if other == shape]
        for n, number in zip(own, pose_clusters([poses[n] for n in own]), strict=True):
            numbers[n] = first + number
        first = max(numbers) + 1
    return numbers


def _figures(clip: Clip) -> list[Figure]:
    report = evaluate(clip)
    prefix = f"{next(iter(clip.bodies))}." if len(clip.bodies) == 1 else ""
    return [
        Figure(
            name=metric.name.removeprefix(prefix),
            label=in_words(metric.name.removeprefix(prefix)),
            value=finite(float(metric.value)),
            unit=metric.unit,
        )
        for metric in report.metrics
        if metric.name not in ("frames", "rate")
    ]


def _write(path: Path, text: str) -> None:
    with written_whole(path) as file:
        file.write(text.encode())
