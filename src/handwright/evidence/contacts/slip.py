"""How fast the material of a toucher slips over a body, and how much of that its skin takes up.

The judge's own: methods have theirs in ``handwright.contact``, and neither imports the other, so
that a fault in one of them shows as a disagreement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.evidence.low_pass import LowPass, runs
from handwright.math import rotation
from handwright.math.pose import Pose

_TINY = 1e-12


class LinkMotion(NamedTuple):
    """Poses of the links that carry touching material, over the frames of a motion."""

    rotations: Float[np.ndarray, "T L 3 3"]
    positions: Float[np.ndarray, "T L 3"]

    @staticmethod
    def of_body(pose: Pose) -> LinkMotion:
        """A body that touches another, as the only link."""
        return LinkMotion(rotation.to_matrix(pose.wxyz)[:, None], pose.position[:, None])

    @staticmethod
    def standing(num_frames: int) -> LinkMotion:
        """Surroundings that stay where they are, as the only link."""
        return LinkMotion(
            np.broadcast_to(np.eye(3), (num_frames, 1, 3, 3)), np.zeros((num_frames, 1, 3))
        )


class Slips(NamedTuple):
    """Velocities of a toucher's material points over a body, in the world, m/s."""

    mean: Float[np.ndarray, "N 3"]
    """Over the steps before and after the frame."""
    before: Float[np.ndarray, "N 3"]
    """Over the step before it."""
    after: Float[np.ndarray, "N 3"]
    """Over the step after it."""

    def while_touching(
        self, before: Bool[np.ndarray, " N"], after: Bool[np.ndarray, " N"]
    ) -> Slips:
        """The mean instead of a side on which nothing touches: what is not there does not slip."""
        return Slips(
            self.mean,
            np.where(before[:, None], self.before, self.mean),
            np.where(after[:, None], self.after, self.mean),
        )

    def or_slower(self, others: Slips) -> Slips:
        """Of each velocity and that of others the slower one.

        A contact slips if it does with the low-pass for recordings and without: how it begins and
        ends shows best without. So no motion is refused for being smoothed.
        """
        sizes = ([np.linalg.norm(v, axis=1) for v in slips] for slips in (self, others))
        pairs = zip(self, others, *sizes, strict=True)
        return Slips(*(np.where((b < a)[:, None], v, u) for u, v, a, b in pairs))

    def rows(self, keep: Bool[np.ndarray, " N"]) -> Slips:
        """Some of the points."""
        return Slips(*(velocity[keep] for velocity in self))


class _MaterialPoints(NamedTuple):
    """Points fixed on links that move over a body.

    In the axes of the body a point is at M x + m, where x is its fixed position on the link and
    (M, m) is the link's pose there.
    """

    links: LinkMotion
    body: Pose
    link: Int[np.ndarray, " N"]
    fixed: Float[np.ndarray, "N 3"]
    """On the links, m."""

    @staticmethod
    def of(
        links: LinkMotion,
        body: Pose,
        frame: Int[np.ndarray, " N"],
        link: Int[np.ndarray, " N"],
        point: Float[np.ndarray, "N 3"],
    ) -> _MaterialPoints:
        away = point - links.positions[frame, link]
        fixed = np.einsum("nji,nj->ni", links.rotations[frame, link], away)
        return _MaterialPoints(links, body, link, fixed)

    def at(self, frame: Int[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Where each point is in a frame of its own, in the body's axes, m."""
        rotations, positions = self.links
        world = np.einsum("nij,nj->ni", rotations[frame, self.link], self.fixed)
        return self.body[frame].inverse().apply(world + positions[frame, self.link])


def material_slips(
    times: Float[np.ndarray, " T"],
    links: LinkMotion,
    body: Pose,
    frame: Int[np.ndarray, " N"],
    link: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
) -> Slips:
    """Velocities of a link's material point over the body.

    In the axes of the body the point is at M x + m, where x is its fixed position on the link and
    (M, m) is the link's pose there. Velocities are differences of that over neighbouring frames;
    the first and the last frame have one neighbour only.

    Args:
        times: Times of the frames, s.
        links: What carries the points.
        body: (T,) poses of the body.
        frame: Frame of each point.
        link: Link of each point.
        point: Where each point is in its frame, in the world, m.
    """
    last = len(times) - 1
    if len(frame) == 0 or last < 1:
        return Slips(*np.zeros((3, len(frame), 3)))
    places = _MaterialPoints.of(links, body, frame, link, point)
    earlier, later = np.clip(frame - 1, 0, last), np.clip(frame + 1, 0, last)
    before, here, after = (places.at(t) for t in (earlier, frame, later))

    def rate(way: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        lasts = times[end] - times[start]
        speed = way / np.where(lasts > 0.0, lasts, np.inf)[:, None]
        return body[frame].rotate(speed)

    return Slips(
        rate(after - before, earlier, later),
        rate(here - before, earlier, frame),
        rate(after - here, frame, later),
    )


class Smoothing(NamedTuple):
    """A low-pass over the motion of some points, each for as long as it touches."""

    low_pass: LowPass
    first: Int[np.ndarray, " N"]
    """Frame in which each point begins to touch."""
    last: Int[np.ndarray, " N"]
    """Last frame in which it still does."""

    @staticmethod
    def while_touching(
        low_pass: LowPass,
        touches: Bool[np.ndarray, "T C"],
        frame: Int[np.ndarray, " N"],
        part: Int[np.ndarray, " N"],
    ) -> Smoothing:
        """Of points of parts in some frames; how they come and leave is left out."""
        first, last = (ends[frame, part] for ends in runs(touches))
        return Smoothing(low_pass, first, last)


def smoothed_slips(
    slips: Slips,
    smoothing: Smoothing,
    links: LinkMotion,
    body: Pose,
    frame: Int[np.ndarray, " N"],
    link: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
) -> Slips:
    """Slips under a low-pass: the mean of a point's steps around its frame, while it touches.

    Trembling is taken for the recording's. Points that touch in a single frame keep their slip, as
    do all without a low-pass.

    Args:
        slips: As ``material_slips`` gives them for the same points.
        smoothing: The low-pass, and when each point touches.
        links: What carries the points.
        body: (T,) poses of the body.
        frame: Frame of each point.
        link: Link of each point.
        point: Where each point is in its frame, in the world, m.
    """
    low_pass = smoothing.low_pass
    if low_pass.sigma == 0.0 or len(frame) == 0:
        return slips
    times, places = low_pass.times, _MaterialPoints.of(links, body, frame, link, point)
    total, weight = np.zeros((len(frame), 3)), np.zeros(len(frame))
    reach = low_pass.most_frames
    for shift in range(-reach, reach + 1):
        start = frame + shift
        rows = np.flatnonzero((start >= smoothing.first) & (start < smoothing.last))
        some = _MaterialPoints(links, body, link[rows], places.fixed[rows])
        way = some.at(start[rows] + 1) - some.at(start[rows])
        lasts = times[start[rows] + 1] - times[start[rows]]
        middle = 0.5 * (times[start[rows] + 1] + times[start[rows]])
        share = low_pass.weight(middle - times[frame[rows]])
        total[rows] += (share / lasts)[:, None] * way
        weight[rows] += share
    mean = body[frame].rotate(total / np.maximum(weight, _TINY)[:, None])
    is_known = (weight > 0.0)[:, None]
    return Slips(*(np.where(is_known, mean, velocity) for velocity in slips))


def across(
    velocity: Float[np.ndarray, "N 3"], normal: Float[np.ndarray, "N 3"]
) -> Float[np.ndarray, "N 3"]:
    """The part of velocities that lies in the tangent planes of the normals."""
    return velocity - np.einsum("ni,ni->n", velocity, normal)[:, None] * normal


class SkinShear(NamedTuple):
    """How far the skin of a hand is stretched where it touches a body."""

    before: Float[np.ndarray, "T C 3"]
    """Stretch of each capsule's skin at the beginning of each frame, in the body's frame, m."""
    touches: Bool[np.ndarray, "T C"]
    normal: Float[np.ndarray, "T C 3"]
    """Normals of the capsules' own contacts, into the body, in the body's frame."""
    limit: float
    """Largest stretch before the contact slips, m."""

    @staticmethod
    def along(
        velocity: Float[np.ndarray, "T C 3"],
        normal: Float[np.ndarray, "T C 3"],
        touches: Bool[np.ndarray, "T C"],
        times: Float[np.ndarray, " T"],
        limit: float,
    ) -> SkinShear:
        """Follows the stretch through a motion; see ``docs/certificate.md``.

        Args:
            velocity: Tangential velocity of each capsule's material over the body, in the body's
                frame, m/s.
            normal: Normals of the contacts, in the body's frame.
            touches: Whether a capsule touches; what does not is not stretched.
            times: Times of the frames, s.
            limit: Largest stretch, m; 0 for skin that does not give way.
        """
        before = np.zeros(velocity.shape)
        if limit > 0.0:
            stretch = np.zeros(velocity.shape[1:])
            for t, lasts in enumerate(_frame_lengths(times)):
                stretch = _turned_into_plane(stretch, normal[t])
                stretch[~touches[t]] = 0.0
                before[t] = stretch
                stretch = stretch + lasts * velocity[t] * touches[t][:, None]
                size = np.linalg.norm(stretch, axis=1)
                stretch *= np.where(size > limit, limit / np.maximum(size, _TINY), 1.0)[:, None]
        return SkinShear(before, touches, normal, limit)

    def slips(
        self,
        velocity: Float[np.ndarray, "N 3"],
        frame: Int[np.ndarray, " N"],
        part: Int[np.ndarray, " N"],
        pose: Pose,
        times: Float[np.ndarray, " T"],
    ) -> Float[np.ndarray, "N 3"]:
        """Velocities in the world that the skin does not take up, m/s.

        Args:
            velocity: Velocity of capsules' material over the body, in the world, m/s.
            frame: Frame of each.
            part: Capsule of each.
            pose: (T,) poses of the body.
            times: Times of the frames, s.
        """
        if self.limit <= 0.0 or len(frame) == 0:
            return velocity
        lasts = _frame_lengths(times)[frame][:, None]
        end = pose[frame].rotate(self.before[frame, part]) + lasts * velocity
        size = np.linalg.norm(end, axis=1, keepdims=True)
        excess = np.clip(1.0 - self.limit / np.maximum(size, _TINY), 0.0, None)
        slipped = excess * end / np.maximum(lasts, _TINY)
        return np.where(self.touches[frame, part][:, None], slipped, velocity)


def _frame_lengths(times: Float[np.ndarray, " T"]) -> Float[np.ndarray, " T"]:
    """The time that each frame stands for, s: half of the steps before and after it."""
    half = 0.5 * np.diff(times)
    return np.pad(half, (0, 1)) + np.pad(half, (1, 0))


def _turned_into_plane(
    stretch: Float[np.ndarray, "C 3"], normal: Float[np.ndarray, "C 3"]
) -> Float[np.ndarray, "C 3"]:
    """Stretches laid into the tangent planes of new normals, as long as they were.

    The normal turns while a contact rolls on, and the skin stays as stretched as it is.
    """
    flat = across(stretch, normal)
    length, kept = np.linalg.norm(stretch, axis=1), np.linalg.norm(flat, axis=1)
    return flat * (length / np.maximum(kept, _TINY))[:, None]
