"""A check over the frames: a figure with its limit, and other grounds on which it may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.certificate import Check

Says = Callable[[int], str]
"""What is wrong in a frame, in words: who, where, how much."""


def always(text: str) -> Says:
    """The same words in every frame."""
    return lambda _: text


def by_frame(names: Sequence[str], of: str = "") -> Says:
    """Words of each frame, after those of whose they are."""
    return lambda frame: f"{of}{names[frame]}"


_NOTHING = always("")


class Ground(NamedTuple):
    """Something that fails a check whatever its figure is."""

    fails: Bool[np.ndarray, " T"]
    says: Says


class Measure(NamedTuple):
    """A check over the frames."""

    value: Float[np.ndarray, " T"]
    cap: Float[np.ndarray, " T"]
    """What is allowed: for small and thin bodies less than for others."""
    unit: str
    fails: Bool[np.ndarray, " T"]
    says: Says = _NOTHING
    grounds: tuple[Ground, ...] = ()
    note: str = ""
    """Said whether it passes or not."""

    def away_from(self, frames: Bool[np.ndarray, " T"]) -> Measure:
        """The same without some frames."""
        return self._replace(
            value=np.where(frames, 0.0, self.value),
            fails=self.fails & ~frames,
            grounds=tuple(Ground(g.fails & ~frames, g.says) for g in self.grounds),
        )

    def is_failing(self) -> Bool[np.ndarray, " T"]:
        """Frames that fail on any ground."""
        return np.asarray(np.any([self.fails, *(ground.fails for ground in self.grounds)], axis=0))

    def check(self, name: str) -> Check:
        """The check: the figure that is most beyond its limit, and every reason why it fails."""
        fails = self.is_failing()
        some = self.fails if self.fails.any() else np.ones_like(self.fails)
        share = np.where(some, self.value / np.maximum(self.cap, 1e-12), -1.0)
        worst = int(share.argmax())
        reasons = [self.says(worst)] if self.fails.any() else []
        reasons += [g.says(int(g.fails.argmax())) for g in self.grounds if g.fails.any()]
        return Check(
            name=name,
            passed=not fails.any(),
            worst=float(self.value[worst]),
            allowed=float(self.cap[worst]),
            unit=self.unit,
            frames=tuple(int(t) for t in np.flatnonzero(fails)),
            detail="; ".join(dict.fromkeys(text for text in (*reasons, self.note) if text)),
        )


def over(
    value: Float[np.ndarray, " T"], allowed: float, unit: str, says: Says = _NOTHING
) -> Measure:
    """A check whose figure must not exceed a limit."""
    return Measure(value, np.full(len(value), allowed), unit, value > allowed, says)


def whole(num_frames: int, faults: list[str]) -> Measure:
    """A check of a clip as a whole, by what is wrong with it in words."""
    value = np.full(num_frames, float(len(faults)))
    return over(value, 0.0, "faults", always("; ".join(faults)))


class Series(NamedTuple):
    """One thing that is measured in every frame, with a limit of its own."""

    value: Float[np.ndarray, " T"]
    cap: float
    says: Says


def worst_of(series: Iterable[Series], num_frames: int, allowed: float, unit: str) -> Measure:
    """A check of many things: in each frame the one that is most beyond its own limit.

    Args:
        series: What is measured.
        num_frames: Of the clip.
        allowed: Limit where nothing is measured.
        unit: Of all of them.
    """
    value, cap = np.zeros(num_frames), np.full(num_frames, allowed)
    share, whose = np.zeros(num_frames), np.full(num_frames, -1)
    listed = list(series)
    for number, one in enumerate(listed):
        mine = one.value / max(one.cap, 1e-12)
        worse = mine > share
        value[worse], cap[worse] = one.value[worse], one.cap
        share[worse], whose[worse] = mine[worse], number

    def says(frame: int) -> str:
        return listed[whose[frame]].says(frame) if whose[frame] >= 0 else ""

    return Measure(value, cap, unit, value > cap, says)
