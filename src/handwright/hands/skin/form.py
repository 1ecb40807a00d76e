"""What the skin is modelled on: bones and girths of a right hand with its digits apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel, JointTree
from handwright.core.skin import SkinShape
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.hands.human.anthropometry import DIGITS, HandBones
from handwright.math import rotation

# How far each digit is turned sideways at the knuckle while the skin is modelled, degrees: wide
# enough that neighbouring fingers do not grow together, and near the middle of their range.
SPREAD = {"thumb": 0.0, "index": 9.0, "middle": 1.0, "ring": -8.0, "little": -16.0}


@dataclass(frozen=True, slots=True, eq=False)
class HandForm:
    """Bones of a right hand at the joint values ``bind_values``, in the wrist frame."""

    base: Float[np.ndarray, "5 3"]
    """Carpometacarpal joints, m."""
    knuckle: Float[np.ndarray, "5 3"]
    """Metacarpophalangeal joints, m."""
    direction: Float[np.ndarray, "5 3"]
    """Unit directions of the straight, spread digits."""
    dorsal: Float[np.ndarray, "5 3"]
    """Unit directions in which the nails face."""
    phalanges: Float[np.ndarray, "5 2"]
    """Lengths of proximal and intermediate (0 in the thumb) phalanx, m."""
    shape: SkinShape

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def metacarpal(self) -> Float[np.ndarray, "5 3"]:
        """From the carpometacarpal joints to the knuckles, m."""
        return self.knuckle - self.base

    @property
    def sideways(self) -> Float[np.ndarray, "5 3"]:
        """Unit directions across the digits, to the thumb side in the fingers."""
        return np.cross(self.dorsal, self.direction)

    @property
    def thickness(self) -> float:
        """Half the thickness of the palm, m: the measure of everything soft."""
        return self.shape.palm_half_thickness

    def digest(self) -> str:
        """Hash of all its numbers."""
        digest = hashlib.sha256()
        for array in (self.base, self.knuckle, self.direction, self.dorsal, self.phalanges):
            digest.update(np.ascontiguousarray(array).tobytes())
        for profile in self.shape.digits:
            for array in (profile.along, profile.half_breadth, profile.dorsal, profile.palmar):
                digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(np.float64(profile.length).tobytes())
        girths = (
            self.shape.palm_half_thickness,
            self.shape.wrist_half_breadth,
            self.shape.wrist_half_depth,
        )
        digest.update(np.array(girths).tobytes())
        return digest.hexdigest()


def _form(
    base: np.ndarray,
    knuckle: np.ndarray,
    direction: np.ndarray,
    dorsal: np.ndarray,
    phalanges: np.ndarray,
    shape: SkinShape,
) -> HandForm:
    turn = np.radians([SPREAD[digit] for digit in DIGITS])
    spread = rotation.rotate(rotation.from_axis_angle(dorsal, turn), direction)
    # Rounded, so that a hand and the mirror image of its mirror image have the same form.
    return HandForm(
        base=np.round(base, 9),
        knuckle=np.round(knuckle, 9),
        direction=np.round(spread, 9),
        dorsal=np.round(dorsal, 9),
        phalanges=np.round(phalanges, 9),
        shape=shape,
    )


def form_of_bones(bones: HandBones, shape: SkinShape) -> HandForm:
    """The form of a hand that is being built."""
    return _form(
        bones.base, bones.knuckle, bones.direction, bones.dorsal, bones.phalanges[:, :2], shape
    )


def form_of_model(model: HandModel) -> HandForm:
    """The form of a finished right human hand, read back from its joints and frames."""
    if model.skin is None or model.side != "right":
        raise InvalidValueError(
            f"Hand '{model.name}' (side '{model.side}') has no human skin to be modelled; "
            "expected a right hand made by human()."
        )
    joints, frames = model.joints, model.frames
    base, knuckle, direction, dorsal = (np.zeros((5, 3)) for _ in range(4))
    phalanges = np.zeros((5, 2))
    for row, digit in enumerate(DIGITS):
        own = [j for j, name in enumerate(joints.names) if name.startswith(digit)]
        if not own:
            raise UnknownNameError("digit among the joints of a human hand", digit, joints.names)
        first = own[0]
        bend = joints.index(f"{digit}_mcp_flexion")
        base[row] = joints.offset[first]
        knuckle[row] = joints.offset[first : bend + 1].sum(axis=0)
        tip = frames.index(f"{digit}_tip")
        turn = rotation.to_matrix(frames.wxyz[tip])
        direction[row], dorsal[row] = -turn[:, 2], turn[:, 1]
        later = ("ip",) if digit == "thumb" else ("pip", "dip")
        lengths = [
            float(np.linalg.norm(joints.offset[joints.index(f"{digit}_{name}_flexion")]))
            for name in later
        ]
        phalanges[row, : len(lengths)] = lengths
    return _form(base, knuckle, direction, dorsal, phalanges, model.skin)


def bind_values(joints: JointTree) -> Float[np.ndarray, " J"]:
    """Joint values, rad, at which the skin is modelled."""
    q = np.zeros(len(joints))
    for digit, degrees in SPREAD.items():
        q[joints.index(f"{digit}_mcp_abduction")] = np.radians(degrees)
    return q
