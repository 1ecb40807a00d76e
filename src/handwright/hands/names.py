"""Joint names of the hand in the formats that others use.

The package's own frame names are those of OpenXR in lower case, without the ``XR_HAND_JOINT_``
prefix and the ``_EXT`` suffix.
"""

from __future__ import annotations

from collections.abc import Mapping

from handwright.errors import UnknownNameError

FINGERS = ("index", "middle", "ring", "little")

OPENXR_JOINTS: tuple[str, ...] = (
    "palm",
    "wrist",
    "thumb_metacarpal",
    "thumb_proximal",
    "thumb_distal",
    "thumb_tip",
    *(
        f"{finger}_{part}"
        for finger in FINGERS
        for part in ("metacarpal", "proximal", "intermediate", "distal", "tip")
    ),
)

OPENXR_PARENTS: Mapping[str, str | None] = {
    "wrist": None,
    "palm": "wrist",
    "thumb_metacarpal": "wrist",
    "thumb_proximal": "thumb_metacarpal",
    "thumb_distal": "thumb_proximal",
    "thumb_tip": "thumb_distal",
    **{f"{finger}_metacarpal": "wrist" for finger in FINGERS},
    **{f"{finger}_proximal": f"{finger}_metacarpal" for finger in FINGERS},
    **{f"{finger}_intermediate": f"{finger}_proximal" for finger in FINGERS},
    **{f"{finger}_distal": f"{finger}_intermediate" for finger in FINGERS},
    **{f"{finger}_tip": f"{finger}_distal" for finger in FINGERS},
}


def _webxr(side: str) -> dict[str, str]:
    del side  # WebXR names both hands alike.
    names = {"wrist": "wrist", "thumb_tip": "thumb-tip"}
    names |= {
        "thumb_metacarpal": "thumb-metacarpal",
        "thumb_proximal": "thumb-phalanx-proximal",
        "thumb_distal": "thumb-phalanx-distal",
    }
    for finger in FINGERS:
        theirs = "pinky" if finger == "little" else finger
        names[f"{finger}_metacarpal"] = f"{theirs}-finger-metacarpal"
        for part in ("proximal", "intermediate", "distal"):
            names[f"{finger}_{part}"] = f"{theirs}-finger-phalanx-{part}"
        names[f"{finger}_tip"] = f"{theirs}-finger-tip"
    return names


def _unity(side: str) -> dict[str, str]:
    hand = side.capitalize()
    names = {
        "wrist": f"{hand}Hand",
        "thumb_metacarpal": f"{hand}ThumbProximal",
        "thumb_proximal": f"{hand}ThumbIntermediate",
        "thumb_distal": f"{hand}ThumbDistal",
    }
    for finger in FINGERS:
        for part in ("proximal", "intermediate", "distal"):
            names[f"{finger}_{part}"] = f"{hand}{finger.capitalize()}{part.capitalize()}"
    return names


def _unreal(side: str) -> dict[str, str]:
    end = side[0]
    names = {"wrist": f"hand_{end}"}
    for number, part in enumerate(("metacarpal", "proximal", "distal"), start=1):
        names[f"thumb_{part}"] = f"thumb_{number:02d}_{end}"
    for finger in FINGERS:
        theirs = "pinky" if finger == "little" else finger
        names[f"{finger}_metacarpal"] = f"{theirs}_metacarpal_{end}"
        for number, part in enumerate(("proximal", "intermediate", "distal"), start=1):
            names[f"{finger}_{part}"] = f"{theirs}_{number:02d}_{end}"
    return names


def _manipnet(side: str) -> dict[str, str]:
    del side  # The recordings keep one file section for each hand.
    names = {
        "wrist": "WRIST",
        "thumb_metacarpal": "THUMB_CMC_AA",
        "thumb_proximal": "THUMB_MCP_FE",
        "thumb_distal": "THUMB_IP_FE",
    }
    for finger in FINGERS:
        theirs = "PINKY" if finger == "little" else finger.upper()
        names[f"{finger}_proximal"] = f"{theirs}_MCP"
        names[f"{finger}_intermediate"] = f"{theirs}_PIP_FE"
        names[f"{finger}_distal"] = f"{theirs}_DIP_FE"
    return names


_SCHEMES = {"webxr": _webxr, "unity": _unity, "unreal": _unreal, "manipnet": _manipnet}


def joint_names(scheme: str, side: str) -> dict[str, str]:
    """Map from our frame names to those of another scheme; joints that it lacks are left out.

    Args:
        scheme: ``openxr``, ``webxr``, ``unity`` (Humanoid bones), ``unreal`` (mannequin) or
            ``manipnet``.
        side: ``right`` or ``left``.
    """
    if side not in ("right", "left"):
        raise UnknownNameError("side", side, ("right", "left"))
    if scheme == "openxr":
        return {name: f"XR_HAND_JOINT_{name.upper()}_EXT" for name in OPENXR_JOINTS}
    if scheme not in _SCHEMES:
        raise UnknownNameError("naming scheme", scheme, ("openxr", *_SCHEMES))
    return _SCHEMES[scheme](side)
