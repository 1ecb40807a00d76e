"""How fast bodies, wrists and joints move, over what is allowed; judged whether they hold or not.

Bodies have a limit because a clip may show them explained by impacts alone; hands because nothing
else of a hand that holds nothing is judged. A wrist's acceleration is the second difference of its
positions, which sees a hand that is somewhere else in every frame, however near.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.jumps import fastest_point
from handwright.evidence.contacts.hand_contacts import HandProbe


class Speeds(NamedTuple):
    """The fastest of everything in each frame."""

    share: Float[np.ndarray, " T"]
    """Over what is allowed."""
    detail: str
    """The worst excess in words."""


def speed_shares(clip: Clip, hands: Iterable[HandProbe], tolerances: Tolerances) -> Speeds:
    """Speeds and accelerations of a clip over what is allowed."""
    share, detail = np.zeros(clip.num_frames), ""
    for name, values, limit, unit in _series(clip, hands, tolerances):
        # Where nothing may move at all, any motion is too fast.
        over = values / max(limit, 1e-9)
        frame = np.arange(len(over)) + 1
        if over.max(initial=0.0) > max(1.0, float(share.max())):
            t = int(over.argmax())
            detail = f"{name} reaches {values[t]:.3g} {unit} at frame {t + 1}, allowed {limit:g}"
        np.maximum.at(share, frame, over)
    return Speeds(share, detail)


def _series(
    clip: Clip, hands: Iterable[HandProbe], tolerances: Tolerances
) -> Iterable[tuple[str, np.ndarray, float, str]]:
    """Name, values from frame 1 on, limit and unit of everything that has a limit."""
    times = clip.times
    if len(times) < 2:
        return
    step = np.diff(times)
    for name, pose in clip.bodies.items():
        radius = float(np.linalg.norm(clip.problem.bodies[name].vertices, axis=1).max())
        yield name, fastest_point(pose, times, radius), tolerances.body_speed, "m/s"
    for hand in hands:
        wrist = hand.links.positions[:, hand.model.wrist_link]
        velocity = np.diff(wrist, axis=0) / step[:, None]
        speed = np.linalg.norm(velocity, axis=1)
        yield f"the wrist of '{hand.name}'", speed, tolerances.wrist_speed, "m/s"
        rate = np.diff(velocity, axis=0) / (0.5 * (step[1:] + step[:-1]))[:, None]
        size = np.linalg.norm(rate, axis=1)
        yield f"the wrist of '{hand.name}'", size, tolerances.wrist_acceleration, "m/s^2"
        rates = np.abs(np.diff(hand.motion.q, axis=0)) / step[:, None]
        for j in np.flatnonzero(~hand.model.joints.is_slide):
            joint = f"{hand.name}.{hand.model.joints.names[j]}"
            yield joint, rates[:, j], tolerances.joint_speed, "rad/s"
