"""What a network's file says about itself, so that no network is fed what it was not made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from handwright.errors import FileFormatError

FORMAT = "handwright fingers 1"
"""Of the files: names of inputs and outputs, and what metadata they have."""
FEATURE_VERSION = 1
"""Of the feature table; raised whenever a feature or an output gets another meaning or place."""
Part = Literal["network", "first_pass", "second_pass"]
PARTS: dict[str, tuple[Part, ...]] = {
    "autoregressive": ("network",),
    "windowed": ("first_pass", "second_pass"),
}
"""Graphs of each kind of network; each is a file of that name with the suffix ``.onnx``."""
_AGAIN = "Train it again with this version: handwright train"


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """What a graph is, and what it was made for."""

    kind: str
    """A key of ``PARTS``."""
    part: str
    """Which of the graphs of its kind it is."""
    feature_version: int
    """Of the feature table."""
    joints: tuple[str, ...]
    """Joints whose poses and distances it says, in order."""
    rate: float
    """Frames a second that it was taught with, 1/s."""
    horizon: float
    """How far ahead of a frame it looks, s."""
    width: int
    """Of its hidden layers."""
    memory: int
    """Frames that it remembers; 0 if it sees one at a time."""
    license: str
    """Under which it may be used."""

    def as_text(self) -> dict[str, str]:
        """For the metadata of an ONNX file."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "part": self.part,
            "feature_version": str(self.feature_version),
            "joints": ",".join(self.joints),
            "rate": repr(self.rate),
            "horizon": repr(self.horizon),
            "width": str(self.width),
            "memory": str(self.memory),
            "license": self.license,
        }


def facts_of(path: Path, text: Mapping[str, str]) -> NetworkFacts:
    """What the metadata of a file say.

    Args:
        path: The file, for messages.
        text: Its metadata.
    """
    if text.get("format") != FORMAT:
        found = f"says '{text['format']}'" if "format" in text else "does not say what it is for"
        raise FileFormatError(
            f"{path}: is an ONNX file that {found}; expected '{FORMAT}'. "
            "Give a network that 'handwright train' has written."
        )
    try:
        return NetworkFacts(
            kind=text["kind"],
            part=text["part"],
            feature_version=int(text["feature_version"]),
            joints=tuple(text["joints"].split(",")),
            rate=float(text["rate"]),
            horizon=float(text["horizon"]),
            width=int(text["width"]),
            memory=int(text["memory"]),
            license=text["license"],
        )
    except (KeyError, ValueError) as error:
        raise FileFormatError(f"{path}: its metadata are damaged ({error!r}). {_AGAIN}.") from error


def check_facts(path: Path, facts: NetworkFacts, expected: NetworkFacts) -> None:
    """Refuses a network for other features, joints or rates than those of this version.

    Args:
        path: The file, for messages.
        facts: What it says.
        expected: What is needed; kind, width, horizon, memory and licence may be others.
    """
    problems = [
        f"its {name.replace('_', ' ')} is {getattr(facts, name)!r}, expected "
        f"{getattr(expected, name)!r}"
        for name in ("part", "feature_version", "joints", "rate")
        if getattr(facts, name) != getattr(expected, name)
    ]
    if facts.kind not in PARTS or facts.part not in PARTS[facts.kind]:
        problems.append(f"it is part '{facts.part}' of kind '{facts.kind}', which is unknown")
    if problems:
        raise FileFormatError(f"{path}: {'; '.join(problems)}. {_AGAIN}.")
