"""Any motion played against pushes, and how far they take its bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handwright.core.clip import Clip
from handwright.core.events import Push
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.methods.stepwise.session import Session
from handwright.methods.stepwise.settings import Settings

# Frames of a motion that is followed are as long as its own, within these, s.
_SHORTEST, _LONGEST = 1.0 / 120.0, 1.0 / 30.0
STRAY = 0.02
"""A body is lost when it is this far from where it should be, m."""
# It is back when it is this near, m; it is lost, too, when it is turned by this much, rad.
_BACK, _TURN = 1e-3, np.pi / 6.0


@dataclass(frozen=True, slots=True)
class Reaction:
    """What pushes did to one body, against the same motion without them."""

    displacement: float
    """Largest distance of the centre of mass from where it would be, m."""
    tilt: float
    """Largest turn from how it would be, rad."""
    back_after: float | None
    """From when the pushes end until it stays within 1 mm of where it would be, s; None if it does
    not come back."""
    is_dropped: bool
    """Whether it ends more than 20 mm or 30 degrees from where it would be."""


def follow_clip(
    clip: Clip, pushes: Sequence[Push] = (), settings: Settings | None = None
) -> Session:
    """Steps through a motion of any method; its poses are goals, and pushes disturb them.

    Args:
        clip: The motion.
        pushes: Beside those of its problem.
        settings: Weights of the objectives.

    Returns:
        The session at the end of the motion.
    """
    first, last = float(clip.times[0]), float(clip.times[-1])
    frame = float(np.clip(1.0 / clip.fps, _SHORTEST, _LONGEST))
    count = int((last - first) / frame + 1e-6)
    if count < 1:
        raise InvalidValueError(
            f"The clip lasts {last - first:g} s; expected at least {frame:.3f} s, which is a frame."
        )
    problem = replace(
        clip.problem,
        times=first + frame * np.arange(count + 1),
        pushes=(*clip.problem.pushes, *pushes),
        # A motion that is followed is the only goal, and pushed it need not come round again.
        goals=(),
        touches=(),
        strokes=(),
        grips=(),
        is_cyclic=False,
    )
    session = Session(problem, settings, follow=clip)
    for _ in range(count):
        session.step(frame)
    return session


def off_plan(calm: Clip, plan: Clip, body: str) -> float:
    """Largest distance of a body's centre of mass from the motion that is followed, m.

    Args:
        calm: The motion as followed.
        plan: The motion to follow.
        body: Name.
    """
    center = plan.problem.bodies[body].center
    wanted = Track(plan.times, plan.bodies[body]).at(calm.times)
    away = np.linalg.norm(calm.bodies[body].apply(center) - wanted.apply(center), axis=-1)
    return float(away.max())


def reaction(pushed: Clip, calm: Clip, body: str, end: float) -> Reaction:
    """Compares a pushed motion of a body with the same one left alone.

    Args:
        pushed: The motion with pushes.
        calm: The motion without pushes, at the same times.
        body: Name.
        end: When the last push ends, s.
    """
    center = pushed.problem.bodies[body].center
    one, two = pushed.bodies[body], calm.bodies[body]
    away = np.linalg.norm(one.apply(center) - two.apply(center), axis=-1)
    turned = rotation.angle(one.wxyz, two.wxyz)
    off = np.flatnonzero(away > _BACK)
    back: float | None = 0.0
    if len(off):
        is_back = off[-1] + 1 < len(away)
        back = max(float(pushed.times[off[-1] + 1]) - end, 0.0) if is_back else None
    return Reaction(
        displacement=float(away.max()),
        tilt=float(turned.max()),
        back_after=back,
        is_dropped=bool(away[-1] > STRAY or turned[-1] > _TURN),
    )
