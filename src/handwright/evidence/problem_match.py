"""Whether a clip answers a given problem: the same bodies, surroundings, tracks and goals.

A clip brings its own problem with it, and a certificate says that the motion can be for these
masses and surroundings. Whether they are those that were asked for, only who asked can say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.pose import Pose

_ROUNDING = 1e-9
"""By which numbers of the same problem may differ."""
_ON_TRACK = 1e-3
"""How far a motion may be from a track that is given, m; and, at 10 cm from it, how far turned."""
_ARM = 0.1
_UNASKED = ("name", "poses", "sites")
"""What a problem is not about: names of problems and hands, named poses, sensors."""


def problem_differences(clip: Clip, problem: Problem) -> list[str]:
    """In what a clip is not one of a problem, in words; empty if in nothing.

    Args:
        clip: The motion, with its own problem.
        problem: What it is held against.
    """
    return [*_differences("", clip.problem, problem), *_off_track(clip, problem)]


def _differences(path: str, mine: Any, theirs: Any) -> Iterator[str]:  # noqa: ANN401  any noun
    """What differs between two things, each with where it is."""
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        yield from _differing_entries(path, dict(mine), dict(theirs))
    elif isinstance(mine, tuple) and isinstance(theirs, tuple) and not _are_plain(mine, theirs):
        if len(mine) != len(theirs):
            yield f"{path}: there are {len(mine)}, expected {len(theirs)}"
            return
        for number, (one, two) in enumerate(zip(mine, theirs, strict=True)):
            yield from _differences(f"{path}/{number}", one, two)
    elif type(mine) is not type(theirs):
        yield f"{path} is {_told(mine)}, expected {_told(theirs)}"
    elif isinstance(mine, Pose):
        yield from _differences(f"{path}/position", mine.position, theirs.position)
        # A turn and its opposite quaternion are the same.
        if mine.wxyz.shape == theirs.wxyz.shape:
            turn = np.asarray(rotation.angle(mine.wxyz, theirs.wxyz))
            if turn.max(initial=0.0) > 1e-6:
                yield f"{path} is turned by up to {np.degrees(turn.max()):.3g} degrees"
    elif is_dataclass(mine):
        for item in fields(mine):
            if item.name not in _UNASKED:
                place = f"{path}/{item.name}" if path else item.name
                yield from _differences(place, getattr(mine, item.name), getattr(theirs, item.name))
    elif isinstance(mine, np.ndarray | float):
        yield from _differing_numbers(path, np.asarray(mine), np.asarray(theirs))
    elif mine != theirs:
        yield f"{path} is {_told(mine)}, expected {_told(theirs)}"


def _are_plain(*values: tuple[Any, ...]) -> bool:
    return all(isinstance(item, str | int) for value in values for item in value)


def _differing_entries(path: str, mine: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in theirs:
            yield f"{path}/{name} is not in it"
        elif name not in mine:
            yield f"{path}/{name} is missing"
        else:
            yield from _differences(f"{path}/{name}", mine[name], theirs[name])


def _differing_numbers(path: str, mine: np.ndarray, theirs: np.ndarray) -> Iterator[str]:
    if mine.shape != theirs.shape:
        yield f"{path} has {_shape(mine)}, expected {_shape(theirs)}"
    elif mine.dtype.kind in "fiub" and not np.allclose(
        mine, theirs, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True
    ):
        if mine.size <= 3:
            yield f"{path} is {_numbers(mine)}, expected {_numbers(theirs)}"
        else:
            away = np.abs(mine.astype(float) - theirs.astype(float))
            yield f"{path} differs by up to {np.nanmax(away):.3g}"


def _off_track(clip: Clip, problem: Problem) -> Iterator[str]:
    """Where the motion leaves a track that is given."""
    moving = {**clip.bodies, **{name: motion.root for name, motion in clip.hands.items()}}
    for name, track in problem.tracks.items():
        if name not in moving:
            continue
        first, last = float(track.times[0]) - 1e-9, float(track.times[-1]) + 1e-9
        frames = np.flatnonzero((clip.times >= first) & (clip.times <= last))
        if frames.size == 0:
            yield f"tracks/{name} is at other times than the motion"
            continue
        given, pose = track.at(np.clip(clip.times[frames], *track.times[[0, -1]])), moving[name]
        way = np.linalg.norm(pose.position[frames] - given.position, axis=1)
        way += _ARM * np.asarray(rotation.angle(pose.wxyz[frames], given.wxyz))
        if way.max() > _ON_TRACK:
            frame, most = int(frames[(way > _ON_TRACK).argmax()]), 1e3 * way.max()
            yield f"'{name}' is up to {most:.3g} mm off its track, first at frame {frame}"


def _numbers(value: np.ndarray) -> str:
    return ", ".join(f"{number:.6g}" for number in value.astype(float).ravel())


def _shape(value: np.ndarray) -> str:
    return f"{len(value)} rows" if value.ndim else "a number"


def _told(value: Any) -> str:  # noqa: ANN401  any noun
    return type(value).__name__ if is_dataclass(value) else f"{value!r}"[:60]
