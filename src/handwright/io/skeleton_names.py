"""Names of a hand's links as other programs have them."""

from __future__ import annotations

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.hands.names import joint_names

SKELETONS = ("openxr", "unity", "unreal")
"""Whose names can be written."""
_SIDED = ("unity", "unreal")


def link_names(
    hand: str, model: HandModel, skeleton: str | None, *, is_only: bool
) -> dict[int, str]:
    """Other names for the links of a hand at whose origin one of its named frames is.

    Links between them, such as the first of two hinges at one place, have no name elsewhere.

    Args:
        hand: Its name in the clip; comes before names that do not tell the side of several hands.
        model: The hand.
        skeleton: One of ``SKELETONS``; None for no other names.
        is_only: Whether it is the only hand.
    """
    if skeleton is None:
        return {}
    if skeleton not in SKELETONS:
        raise UnknownNameError("skeleton", skeleton, SKELETONS)
    if model.side == "none":
        raise InvalidValueError(
            f"The hand '{hand}' is neither a right nor a left one, so its joints have no names in "
            f"'{skeleton}'. Leave skeleton out."
        )
    theirs = joint_names(skeleton, model.side)
    before = "" if is_only or skeleton in _SIDED else f"{hand}_"
    found: dict[int, str] = {}
    for name, link, place in zip(
        model.frames.names, model.frames.link.tolist(), model.frames.position, strict=True
    ):
        if name in theirs and not place.any():
            found.setdefault(link, before + theirs[name])
    return found
