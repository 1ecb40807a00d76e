"""The verb: a problem with tracks as they were captured in, one with corrected tracks out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from handwright.conditioning.corrections import (
    Corrected,
    Correction,
    Part,
    center_of,
    correction,
)
from handwright.conditioning.low_pass import Bounds, smoothed
from handwright.conditioning.mending import mended
from handwright.conditioning.settings import Conditioning
from handwright.conditioning.wrists import moved_wrists
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.support import contacts_along

# A body nearer than this to its surroundings may rest on them, m: a low-pass would lift it, or
# push it in.
_NEAR_SUPPORT = 0.01


def corrected(problem: Problem, settings: Conditioning | None = None) -> Corrected:
    """Corrects the tracks of a problem within bounds: for motion capture, not for exact tracks.

    Poses that leap are mended; wrists and bodies go through a low-pass that may move nothing
    farther than its bounds, and leaves tracks alone where it would and where a body is near what it
    may rest on; then wrists are moved, within bounds of their own, until palm and near phalanges
    are out of the bodies. Fingers are not looked at. A problem that moved and turned as a whole is
    corrected alike.

    Args:
        problem: Its tracks may have a higher rate than its frames: they are smoothed at their own.
        settings: What is corrected, and how far; everything, within the usual bounds, if None.
    """
    settings = settings or Conditioning()
    tracks, made = dict(problem.tracks), list[Correction | None]()

    def keep(part: Part, found: Mapping[str, Track]) -> None:
        made.extend(
            correction(problem, name, part, tracks[name], track) for name, track in found.items()
        )
        tracks.update(found)

    if settings.mends:
        keep("mended", {name: mended(track) for name, track in tracks.items()})
    if settings.smoothing_hz is not None:
        bounds = Bounds(settings.smoothing_shift, settings.smoothing_turn)
        centers = {name: center_of(problem, name) for name in tracks}
        left = {name: _near_support(problem, name, track) for name, track in tracks.items()}
        keep("smoothed", smoothed(tracks, centers, left, settings.smoothing_hz, bounds))
    if settings.wrists:
        keep("wrist", moved_wrists(problem, tracks, settings))
    return Corrected(
        replace(problem, tracks=tracks) if any(made) else problem,
        problem,
        tuple(one for one in made if one is not None),
    )


def _near_support(problem: Problem, name: str, track: Track) -> Bool[np.ndarray, " T"]:
    """Frames of a track in which a body is near surroundings that it may rest on."""
    near = np.zeros(len(track), dtype=bool)
    if name in problem.bodies:
        for surface in problem.environment:
            found = contacts_along(surface, problem.bodies[name], track.pose, within=_NEAR_SUPPORT)
            near |= np.array([one.distance < _NEAR_SUPPORT for one in found])
    return near
