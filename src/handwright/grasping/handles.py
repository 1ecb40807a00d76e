"""Which points of a hand's skin the handles of a grip style are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.grasping.grip_styles import Face, GripStyle, Handle
from handwright.grasping.skin import SkinPoints

# Cosine between the skin's normal and that of the face, from which skin belongs to it.
_FACE = 0.5
# Part of the skin around the middle of a handle that may touch, m.
_AROUND = {"distal": 0.010, "other": 0.022}


@dataclass(frozen=True, slots=True, eq=False)
class SkinHandle:
    """A handle on the skin of one hand."""

    handle: Handle
    capsule: int
    rows: Int[np.ndarray, " N"]
    """Skin points that may touch."""
    center: int
    """The one in the middle."""
    normal: Float[np.ndarray, "3"]
    """Out of the hand, in the frame of the capsule's link."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


def skin_handles(
    model: HandModel, points: SkinPoints, style: GripStyle
) -> tuple[list[SkinHandle], list[str]]:
    """Handles of a style on a hand, and the names of parts that it lacks and cannot do without."""
    known = model.capsules.names
    found = [_on_skin(model, points, handle) for handle in style.handles if handle.part in known]
    asked = [handle.part for handle in style.handles if handle.is_needed]
    asked += [part for jaw in style.jaws for part in jaw]
    return found, [part for part in dict.fromkeys(asked) if part not in known]


def _on_skin(model: HandModel, points: SkinPoints, handle: Handle) -> SkinHandle:
    capsules = model.capsules
    c = capsules.names.index(handle.part)
    normal = face_normal(model, c, handle.face)
    owner = capsules.digit[c]
    is_pad = (
        owner >= 0 and handle.face == "palm" and capsules.link[c] == model.digits[owner].pad.link
    )
    if is_pad:
        middle = model.digits[owner].pad.position
    else:
        middle = 0.5 * (capsules.start[c] + capsules.end[c]) + capsules.radius[c] * normal
    own = np.flatnonzero((points.owner == c) & (points.main == capsules.link[c]))
    own = own[points.normal[own] @ normal > _FACE]
    away = np.linalg.norm(points.local[own, 0] - middle, axis=1)
    near = _AROUND["distal" if is_pad else "other"]
    return SkinHandle(handle, c, own[away < near], int(own[away.argmin()]), normal)


def face_normal(model: HandModel, c: int, face: Face) -> np.ndarray:
    """Direction of a face; at the zero pose all links are parallel, so it fits any link."""
    owner = model.capsules.digit[c]
    palm = model.digits[owner].pad.normal if owner >= 0 else np.array([0.0, 0.0, -1.0])
    if face == "palm":
        return np.array(palm)
    side = np.array([0.0, -1.0 if model.side == "left" else 1.0, 0.0])
    side = side - (side @ palm) * palm
    return side / np.linalg.norm(side)
