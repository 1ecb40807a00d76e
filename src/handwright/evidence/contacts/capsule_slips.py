"""How the material of a hand's capsules moves over a body at their contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.impacts import IMPACT_SPEED, REACHING
from handwright.evidence.contacts.slip import (
    SkinShear,
    Slips,
    Smoothing,
    across,
    material_slips,
    smoothed_slips,
)
from handwright.math.pose import Pose


class CapsuleSlips(NamedTuple):
    """Contacts of a hand with a body, in any order, and how they move."""

    pose: Pose
    """(T,) of the body."""
    times: Float[np.ndarray, " T"]
    """s."""
    frame: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    """Capsule."""
    normal: Float[np.ndarray, "N 3"]
    """Of the capsule's own contact, into the body, in the world."""
    slips: Slips
    """Of the hand's material over the body's."""
    smooth: Slips | None
    """The same under the low-pass for recordings; None without one."""
    hand: Slips
    """Velocities of the hand's material in the world, m/s."""

    @staticmethod
    def of(
        hand: HandProbe,
        pose: Pose,
        times: Float[np.ndarray, " T"],
        frame: Int[np.ndarray, " N"],
        part: Int[np.ndarray, " N"],
        point: Float[np.ndarray, "N 3"],
        normal: Float[np.ndarray, "N 3"],
        smoothing: Smoothing,
    ) -> CapsuleSlips:
        """Measures contacts at points in the world, m."""
        still = Pose(np.zeros((len(times), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1)))
        link = hand.model.capsules.link[part]
        over, own = (
            material_slips(times, hand.links, base, frame, link, point) for base in (pose, still)
        )
        smooth = None
        if smoothing.low_pass.sigma > 0.0:
            smooth = smoothed_slips(over, smoothing, hand.links, pose, frame, link, point)
        return CapsuleSlips(pose, times, frame, part, normal, over, smooth, own)

    def rows(self, keep: Bool[np.ndarray, " N"]) -> CapsuleSlips:
        """Some of the contacts."""
        return self._replace(
            frame=self.frame[keep],
            part=self.part[keep],
            normal=self.normal[keep],
            slips=self.slips.rows(keep),
            smooth=None if self.smooth is None else self.smooth.rows(keep),
            hand=self.hand.rows(keep),
        )

    def leaves_too_fast(self) -> Bool[np.ndarray, " N"]:
        """Whether the body goes away along the normal faster than the hand moved before or with it.

        A hand may still speed up within the step in which it lets go, which leaves room for the
        trembling of recordings, too.
        """
        before, after, parting = (
            np.einsum("ni,ni->n", velocity, self.normal)
            for velocity in (self.hand.before, self.hand.after, self.slips.after)
        )
        lasts = np.diff(self.times, append=self.times[-1])[self.frame]
        allowed = IMPACT_SPEED + 0.5 * REACHING * lasts
        return np.asarray(after - parting > np.maximum(np.maximum(before, after), 0.0) + allowed)

    def shear(self, touches: Bool[np.ndarray, "T C"], limit: float) -> SkinShear:
        """Stretch of the capsules' skin, up to a limit, m."""
        back = self.pose.inverse()[self.frame]
        moving, facing = np.zeros((*touches.shape, 3)), np.zeros((*touches.shape, 3))
        moving[self.frame, self.part] = back.rotate(across(self.slips.mean, self.normal))
        facing[self.frame, self.part] = back.rotate(self.normal)
        return SkinShear.along(moving, facing, touches, self.times, limit)

    def beyond_skin(self, shear: SkinShear) -> Slips:
        """Slips less what the skin takes up; skin that gives way also takes up trembling."""
        mean = across(self.slips.mean, self.normal)
        slipped = shear.slips(mean, self.frame, self.part, self.pose, self.times)
        if shear.limit > 0.0:
            return Slips(slipped, slipped, slipped)
        return self.slips._replace(mean=slipped)

    def smoothed(self) -> CapsuleSlips | None:
        """The same contacts as they move under the low-pass; None without one."""
        return None if self.smooth is None else self._replace(slips=self.smooth, smooth=None)
