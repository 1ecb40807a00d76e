"""Skin that gives way: a contact sticks while its skin is stretched by less than a limit.

The bone moves over the body, and the skin between them shears. With u the shear of a contact, d
how far its material point moves over the body in a frame, and S the limit,

    u + d  becomes  u', its part within the ball of radius S, and  u + d - u'  is what slips.

The shear lasts for as long as the contact does and is never forgotten while it does: rolling on
moves both sides of the contact alike and adds nothing, and sliding leaves the skin fully stretched.
With S = 0 all motion is slip.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float


def frame_durations(times: Float[np.ndarray, " T"]) -> Float[np.ndarray, " T"]:
    """From half-way after the last frame to half-way before the next, s.

    Central differences over these add up to the way that a point has gone.
    """
    edges = np.concatenate([times[:1], 0.5 * (times[1:] + times[:-1]), times[-1:]])
    return np.diff(edges)


def skin_shears(
    velocity: Float[np.ndarray, "T C 3"],
    normal: Float[np.ndarray, "T C 3"],
    touches: Bool[np.ndarray, "T C"],
    times: Float[np.ndarray, " T"],
    limit: float,
) -> Float[np.ndarray, "T C 3"]:
    """By how much the skin of each contact is stretched at the beginning of each frame, m.

    Args:
        velocity: Of the skin's material points over the body, in the body's frame, m/s.
        normal: Of the contacts, in the body's frame.
        touches: Which contacts there are; what does not touch is not stretched.
        times: s.
        limit: Most shear, m.
    """
    before = np.zeros(velocity.shape)
    if limit <= 0.0:
        return before
    shear = np.zeros(velocity.shape[1:])
    for t, duration in enumerate(frame_durations(times)):
        # The normal turns as a contact rolls on; the skin stays as stretched as it was.
        flat = shear - np.einsum("ci,ci->c", shear, normal[t])[:, None] * normal[t]
        size = np.linalg.norm(flat, axis=1, keepdims=True)
        flat *= np.linalg.norm(shear, axis=1, keepdims=True) / np.maximum(size, 1e-12)
        before[t] = np.where(touches[t, :, None], flat, 0.0)
        moved = before[t] + duration * np.where(touches[t, :, None], velocity[t], 0.0)
        size = np.linalg.norm(moved, axis=1, keepdims=True)
        shear = moved * np.minimum(1.0, limit / np.maximum(size, 1e-12))
    return before


def slip_velocity(
    velocity: Float[np.ndarray, "N 3"],
    before: Float[np.ndarray, "N 3"],
    duration: Float[np.ndarray, " N"],
    limit: float,
) -> Float[np.ndarray, "N 3"]:
    """Velocity that skin does not make up for, m/s.

    Args:
        velocity: Across the normal, m/s.
        before: Shear at the frame's beginning, m, in the same frame of reference.
        duration: Of the frames, s.
        limit: Most shear, m.
    """
    if limit <= 0.0:
        return velocity
    moved = before + duration[:, None] * velocity
    size = np.linalg.norm(moved, axis=1, keepdims=True)
    over = np.maximum(size - limit, 0.0) / np.maximum(size, 1e-12)
    return np.asarray(over * moved / np.maximum(duration, 1e-12)[:, None])
