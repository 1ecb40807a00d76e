"""Joints beyond their limits, and how fast bodies, wrists and joints move, whatever they hold.

Bodies have a limit because a clip may show them explained by impacts alone; hands because nothing
else of a hand that holds nothing is judged. A wrist's acceleration is the second difference of its
positions, which sees a hand that is somewhere else in every frame, however near. Recorded tracks
are looked at under the low-pass that is given for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.hand import HandModel
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.jumps import fastest_point
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.low_pass import LowPass
from handwright.math import rotation
from handwright.math.pose import Pose

_SHAKE, _SHAKE_TURN = 2e-3, 0.02
"""Ways and turns of a step that count as shaking if they are taken back in the next, m and rad."""
_HALF_SECOND = 0.5


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
    step, low_pass = np.diff(times), LowPass.at(times, tolerances.smoothing_hz)
    for name, pose in clip.bodies.items():
        radius = float(np.linalg.norm(clip.problem.bodies[name].vertices, axis=1).max())
        speed = fastest_point(low_pass.poses(pose), times, radius)
        yield name, speed, tolerances.body_speed, "m/s"
    for hand in hands:
        link = hand.model.wrist_link
        turn = rotation.from_matrix(hand.links.rotations[:, link])
        pose = low_pass.poses(Pose(hand.links.positions[:, link], turn))
        wrist, turn = pose.position, pose.wxyz
        velocity = np.diff(wrist, axis=0) / step[:, None]
        speed = np.linalg.norm(velocity, axis=1)
        yield f"the wrist of '{hand.name}'", speed, tolerances.wrist_speed, "m/s"
        rate = np.diff(velocity, axis=0) / (0.5 * (step[1:] + step[:-1]))[:, None]
        size = np.linalg.norm(rate, axis=1)
        yield f"the wrist of '{hand.name}'", size, tolerances.wrist_acceleration, "m/s^2"
        yield f"'{hand.name}' shaking", _shakes(wrist, times, _SHAKE), tolerances.shakes, "times"
        spin = rotation.log(rotation.multiply(turn[1:], rotation.conjugate(turn[:-1])))
        speed = np.linalg.norm(spin, axis=1) / step
        yield f"the turn of '{hand.name}'", speed, tolerances.wrist_spin, "rad/s"
        turned = np.concatenate([np.zeros((1, 3)), np.cumsum(spin, axis=0)])
        shaking = _shakes(turned, times, _SHAKE_TURN)
        yield f"'{hand.name}' shaking", shaking, tolerances.shakes, "times"
        q = low_pass.values(hand.motion.q)
        shaking = _shakes(q, times, _SHAKE_TURN)
        yield f"the fingers of '{hand.name}' shaking", shaking, tolerances.shakes, "times"
        rates = joint_speeds(q, times)
        for j in np.flatnonzero(~hand.model.joints.is_slide):
            joint = f"{hand.name}.{hand.model.joints.names[j]}"
            yield joint, rates[:, j], tolerances.joint_speed, "rad/s"


def _shakes(
    path: Float[np.ndarray, "T K"], times: Float[np.ndarray, " T"], least: float
) -> Float[np.ndarray, " S"]:
    """How often a way is taken back in the half second after each step."""
    way = np.diff(path, axis=0)
    large = np.linalg.norm(way, axis=1) > least
    back = np.einsum("sk,sk->s", way[1:], way[:-1]) < 0.0
    when = times[1:-1][back & large[1:] & large[:-1]]
    start = times[:-1]
    found = np.searchsorted(when, start + _HALF_SECOND) - np.searchsorted(when, start)
    return found.astype(np.float64)


def limit_excess(
    model: HandModel, q: Float[np.ndarray, "T J"]
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """The largest excess over a limit in each frame (rad; m for a slide), and whose it is."""
    excess = np.maximum(model.joints.lower - q, q - model.joints.upper)
    worst = excess.argmax(axis=1)
    names = [model.joints.names[j] for j in worst]
    return np.maximum(excess[np.arange(len(q)), worst], 0.0), names


def joint_speeds(
    q: Float[np.ndarray, "T J"], times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "S J"]:
    """Speeds of the joints between frames, rad/s (m/s for a slide)."""
    return np.abs(np.diff(q, axis=0)) / np.diff(times)[:, None]
