"""Which links each vertex of the skin follows, and how much."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.hands.human.anthropometry import DIGITS
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.mesh import Faces, Vertices, neighbour_mean

Values = Float[np.ndarray, " V"]

# Columns of the full weight table: the joint whose link carries each part, None for the wrist.
PARTS: tuple[str | None, ...] = (
    None,
    "thumb_cmc_rotation",
    "thumb_mcp_abduction",
    "thumb_ip_flexion",
    *(
        f"{digit}_{joint}"
        for digit in DIGITS[1:]
        for joint in ("cmc_abduction", "mcp_abduction", "pip_flexion", "dip_flexion")
    ),
)

# For each joint: where the change-over from one bone to the next lies beyond the joint, and half
# its width, both as shares of the digit's half depth there; first on the palm side, then on the
# back. On the back the change comes late: the skin there rides on the head of the nearer bone,
# which keeps the knuckle square in a fist.
_CHANGE_OVER = {
    "mcp": ((0.22, 1.30), (0.35, 0.90)),
    "pip": ((0.0, 1.20), (0.42, 0.72)),
    "dip": ((0.0, 1.05), (0.30, 0.70)),
    "ip": ((0.0, 1.0), (0.20, 0.90)),
    "thumb_mcp": ((0.0, 1.3), (0.10, 1.1)),
}
_NUM_SMOOTHING = 30


def _smoothstep(t: Values) -> Values:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _passed(kind: str, beyond: Values, height: Values, depth: float) -> Values:
    """How far vertices belong to the bone after a joint, 0 to 1.

    Args:
        kind: Row of the table above.
        beyond: Distance beyond the joint along the digit, m.
        height: -1 on the palm side to 1 on the back.
        depth: Half depth of the digit at the joint, m.
    """
    palm, back = _CHANGE_OVER[kind]
    share = 0.5 + 0.5 * np.clip(height, -1.0, 1.0)
    middle = (palm[0] + (back[0] - palm[0]) * share) * depth
    width = (palm[1] + (back[1] - palm[1]) * share) * depth
    return _smoothstep(0.5 + 0.5 * (beyond - middle) / width)


def _segment_distance(points: Vertices, start: np.ndarray, end: np.ndarray) -> Values:
    along = end - start
    t = np.clip((points - start) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(points - start - t[:, None] * along, axis=1)


def full_weights(field: SkinField, vertices: Vertices, faces: Faces) -> Float[np.ndarray, "V 20"]:
    """Weights for all parts of the hand, in the order of ``PARTS``."""
    form = field.form
    count = len(vertices)
    # Share of each digit in a vertex: near one digit all, in the webs between two of them half.
    near = np.stack([np.maximum(tube.distance(vertices), 0.0) for tube in field.digits], axis=1)
    share = (3e-3 / (near + 3e-3)) ** 4
    share /= share.sum(axis=1, keepdims=True)
    weights = np.zeros((count, len(PARTS)))
    beyond_palm = np.zeros(count)
    firm = np.zeros(count)
    for row, digit in enumerate(DIGITS):
        profile = form.shape.digits[row]
        along, _, up = field.digits[row].local(vertices).T
        half_breadth, dorsal, palmar = profile.at(0.0)
        height = np.where(up > 0, up / dorsal, up / palmar)
        first = 1 if digit == "thumb" else 4 * row
        passed = [_passed("thumb_mcp" if digit == "thumb" else "mcp", along, height, half_breadth)]
        places = np.cumsum(form.phalanges[row])
        kinds = (
            (("ip", places[0]),) if digit == "thumb" else (("pip", places[0]), ("dip", places[1]))
        )
        for kind, place in kinds:
            _, dorsal, palmar = profile.at(float(place))
            height = np.where(up > 0, up / dorsal, up / palmar)
            passed.append(_passed(kind, along - place, height, 0.5 * (dorsal + palmar)))
        reached = share[:, row]
        for k, now in enumerate(passed):
            reached = reached * now
            later = passed[k + 1] if k + 1 < len(passed) else 0.0
            weights[:, first + 1 + k] = reached * (1.0 - later)
        beyond_palm += share[:, row] * passed[0]
        proximal = float(form.phalanges[row, 0])
        firm = np.maximum(firm, share[:, row] * _smoothstep((along / proximal - 0.15) / 0.35))
    weights += (1.0 - beyond_palm)[:, None] * _palm_weights(field, vertices)
    mean = neighbour_mean(faces, count)
    loose = 0.5 * (1.0 - firm)[:, None]
    for _ in range(_NUM_SMOOTHING):
        weights += loose * (mean @ weights - weights)
    return weights / weights.sum(axis=1, keepdims=True)


def _palm_weights(field: SkinField, vertices: Vertices) -> Float[np.ndarray, "V 20"]:
    """Weights of the wrist and the five metacarpals for the skin of the palm."""
    form, unit = field.form, field.form.thickness
    weights = np.zeros((len(vertices), len(PARTS)))
    nearness, moved = [], []
    for row, digit in enumerate(DIGITS):
        bone = form.metacarpal[row]
        length = float(np.linalg.norm(bone))
        distance = _segment_distance(vertices, form.base[row], form.knuckle[row])
        # The ball of the thumb goes with its metacarpal.
        reach = 0.35 * unit if digit == "thumb" else 0.0
        nearness.append(1.0 / np.maximum(distance - reach, 0.2 * unit) ** 3)
        along = (vertices - form.base[row]) @ (bone / length)
        low, high = (-0.9, 1.3) if digit == "thumb" else (-0.5, 1.5)
        moved.append(_smoothstep((along / unit - low) / (high - low)))
    near = np.stack(nearness, axis=1)
    near /= near.sum(axis=1, keepdims=True)
    for row in range(len(DIGITS)):
        column = 1 if row == 0 else 4 * row
        weights[:, column] = near[:, row] * moved[row]
        weights[:, 0] += near[:, row] * (1.0 - moved[row])
    return weights


def strongest_four(
    weights: Float[np.ndarray, "V P"],
) -> tuple[Int[np.ndarray, "V 4"], Float[np.ndarray, "V 4"]]:
    """The four largest weights of each vertex, which add up to one, and their columns.

    Weights fade to zero before they are dropped: what the fifth has is taken from all, so that
    neighbours which keep different parts still move alike.
    """
    order = np.argsort(-weights, axis=1, kind="stable")
    sorted_weights = np.take_along_axis(weights, order, axis=1)
    kept = np.maximum(sorted_weights[:, :4] - sorted_weights[:, 4:5], 0.0)
    kept[kept < 1e-3] = 0.0
    kept /= kept.sum(axis=1, keepdims=True)
    columns = np.where(kept > 0.0, order[:, :4], order[:, :1])
    return columns, kept
