"""The text of a BVH file, read with the line number of every fault."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from handwright.core.read_limits import read_limits
from handwright.errors import FileFormatError
from handwright.io.bvh.motion import CHANNELS, BvhMotion, UpAxis

MAX_BYTES = 512 * 1024**2
MAX_JOINTS = 4096
# Beyond any sensible length or angle; sums of such numbers would lose all digits.
_MAX_NUMBER = 1e9
_FRAME_TIMES = (1e-6, 1e3)
_LINE_END = re.compile(r"\r\n|\r|\n")
_CHANNEL_NAMES = {name.lower(): name for name in CHANNELS}


@dataclass(slots=True)
class _Skeleton:
    """The hierarchy while it is being read."""

    names: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    offset: list[list[float] | None] = field(default_factory=list)
    channels: list[tuple[str, ...] | None] = field(default_factory=list)
    end_joint: list[int] = field(default_factory=list)
    end_offset: list[list[float]] = field(default_factory=list)


class _Words:
    """The words of the hierarchy one by one, each with its line."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path = path
        self.lines = lines
        self.line = 0
        """Number of lines taken so far, which is the number of the present one."""
        self._rest: deque[str] = deque()

    def fail(self, problem: str, *, line: int | None = None) -> NoReturn:
        raise FileFormatError(f"{self.path}: line {line or max(self.line, 1)}: {problem}")

    def next(self, expected: str) -> str:
        while not self._rest:
            if self.line == len(self.lines):
                self.fail(f"the file ends here; expected {expected}. It may be cut short.")
            text = self.lines[self.line]
            self.line += 1
            self._rest.extend(_words_of(text))
        return self._rest.popleft()

    def expect(self, word: str) -> None:
        found = self.next(f"'{word}'")
        if found.upper() != word.upper():
            self.fail(f"found '{_shown(found)}'; expected '{word}'.")

    def number(self, what: str) -> float:
        return self.parse(self.next(what), what)

    def parse(self, word: str, what: str, line: int | None = None) -> float:
        try:
            number = float(word)
        except ValueError:
            number = np.nan
        # Python reads 1_000 as a thousand; no other program does.
        if not abs(number) <= _MAX_NUMBER or "_" in word:
            self.fail(
                f"found '{_shown(word)}' as {what}; expected a finite number.",
                line=line,
            )
        return number

    def line_end(self) -> None:
        if self._rest:
            self.fail(f"found '{_shown(self._rest[0])}' after the end of the line's content.")


def _words_of(text: str) -> list[str]:
    words = text.replace("{", " { ").replace("}", " } ").split()
    if words and words[0].upper() in ("ROOT", "JOINT"):
        # A name may hold spaces; it ends with its line or at the brace.
        end = next((n for n, word in enumerate(words) if word in "{}"), len(words))
        words[1:end] = [" ".join(words[1:end])] if end > 1 else []
    return words


def _shown(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "..."


def read_motion(path: Path, unit: float, up: UpAxis) -> BvhMotion:
    """Reads a BVH file; see ``read_bvh``."""
    words = _Words(path, _LINE_END.split(_load(path)))
    words.expect("HIERARCHY")
    skeleton = _Skeleton()
    word = words.next("ROOT")
    if word.upper() != "ROOT":
        words.fail(f"found '{_shown(word)}'; expected 'ROOT'.")
    while word.upper() == "ROOT":
        _read_root(words, skeleton)
        word = words.next("'ROOT' or 'MOTION'")
    if word.upper() != "MOTION":
        words.fail(f"found '{_shown(word)}'; expected 'ROOT' or 'MOTION'.")
    channels = tuple(() if one is None else one for one in skeleton.channels)
    num_frames, frame_time = _read_motion_header(words)
    values = _read_values(words, num_frames, sum(len(one) for one in channels))
    return BvhMotion(
        names=tuple(skeleton.names),
        parent=np.array(skeleton.parent, dtype=np.int64),
        offset=np.array(skeleton.offset, dtype=np.float64),
        channels=channels,
        end_joint=np.array(skeleton.end_joint, dtype=np.int64),
        end_offset=np.array(skeleton.end_offset, dtype=np.float64).reshape(-1, 3),
        values=values,
        frame_time=frame_time,
        unit=unit,
        up=up,
    )


def _load(path: Path) -> str:
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file; expected a BVH file.")
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise FileFormatError(
                f"{path}: has {size} bytes; expected at most {MAX_BYTES}. Cut the take into parts."
            )
        content = path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from error
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise FileFormatError(f"{path}: line {line}: holds a zero byte; expected the text of BVH.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Joint names from old programs; every sequence of bytes is valid Latin-1.
        return content.decode("latin-1")


def _read_root(words: _Words, skeleton: _Skeleton) -> None:
    """One tree of joints, from the name of its root to its closing brace; without recursion."""
    opened: list[int] = []
    word = "ROOT"
    while True:
        keyword = word.upper()
        if keyword in ("ROOT", "JOINT"):
            opened.append(_open_joint(words, skeleton, opened[-1] if opened else -1))
        elif keyword == "OFFSET":
            _set_once(words, skeleton.offset, opened[-1], _offset(words), keyword)
        elif keyword == "CHANNELS":
            _set_once(words, skeleton.channels, opened[-1], _channels(words), keyword)
        elif keyword == "END":
            _end_site(words, skeleton, opened[-1])
        elif keyword == "}":
            joint = opened.pop()
            if skeleton.offset[joint] is None:
                words.fail(f"joint '{_shown(skeleton.names[joint])}' has no OFFSET.")
            if not opened:
                return
        else:
            words.fail(
                f"found '{_shown(word)}'; expected OFFSET, CHANNELS, JOINT, End Site or '}}'."
            )
        word = words.next("'}'")
        if word.upper() == "ROOT":
            words.fail("ROOT inside a joint; expected JOINT, or a '}' before it.")


def _open_joint(words: _Words, skeleton: _Skeleton, parent: int) -> int:
    name = words.next("the name of a joint")
    if name in "{}":
        words.fail("a joint has no name; expected one after ROOT or JOINT.")
    words.expect("{")
    if len(skeleton.names) == MAX_JOINTS:
        words.fail(f"more than {MAX_JOINTS} joints; expected a body's skeleton.")
    skeleton.names.append(name)
    skeleton.parent.append(parent)
    skeleton.offset.append(None)
    skeleton.channels.append(None)
    return len(skeleton.names) - 1


def _set_once(words: _Words, values: list, joint: int, value: object, keyword: str) -> None:
    if values[joint] is not None:
        words.fail(f"a second {keyword} in one joint; expected one.")
    values[joint] = value


def _offset(words: _Words) -> list[float]:
    return [words.number("a component of OFFSET") for _ in range(3)]


def _channels(words: _Words) -> tuple[str, ...]:
    word = words.next("the number of CHANNELS")
    if not re.fullmatch(r"[0-9]", word):
        words.fail(f"found '{_shown(word)}' as the number of CHANNELS; expected 0 to 6.")
    found = [words.next("the name of a channel") for _ in range(int(word))]
    unknown = [name for name in found if name.lower() not in _CHANNEL_NAMES]
    if unknown:
        words.fail(f"unknown channel '{_shown(unknown[0])}'; expected {', '.join(CHANNELS)}.")
    channels = tuple(_CHANNEL_NAMES[name.lower()] for name in found)
    # Turns about one axis may come twice, as in Z-X-Z.
    places = [name for name in channels if name.endswith("position")]
    if len(set(places)) != len(places) or len(channels) - len(places) > 3:
        words.fail(f"channels {' '.join(channels)}; expected each position once and 3 rotations.")
    return channels


def _end_site(words: _Words, skeleton: _Skeleton, joint: int) -> None:
    word = words.next("'{'")
    if word != "{":
        # "End Site" as a rule; some programs give the end a name of several words.
        while words.next("'{'") != "{":
            pass
    words.expect("OFFSET")
    offset = _offset(words)
    word = words.next("'}'")
    if word.upper() == "CHANNELS":
        if _channels(words):
            words.fail("an End Site with channels; expected none.")
        word = words.next("'}'")
    if word != "}":
        words.fail(f"found '{_shown(word)}'; expected the '}}' of an End Site.")
    if len(skeleton.end_joint) == MAX_JOINTS:
        words.fail(f"more than {MAX_JOINTS} End Sites; expected a body's skeleton.")
    skeleton.end_joint.append(joint)
    skeleton.end_offset.append(offset)


def _read_motion_header(words: _Words) -> tuple[int, float]:
    words.expect("Frames:")
    word = words.next("the number of frames")
    if not re.fullmatch(r"[0-9]{1,12}", word) or not 1 <= int(word) <= read_limits().frames:
        words.fail(
            f"found '{_shown(word)}' as the number of frames; expected 1 to "
            f"{read_limits().frames}. Cut a longer take into parts."
        )
    words.expect("Frame")
    words.expect("Time:")
    frame_time = words.number("the frame time")
    if not _FRAME_TIMES[0] <= frame_time <= _FRAME_TIMES[1]:
        words.fail(
            f"the frame time is {frame_time:g} s; expected {_FRAME_TIMES[0]:g} to "
            f"{_FRAME_TIMES[1]:g}."
        )
    words.line_end()
    return int(word), frame_time


def _read_values(words: _Words, num_frames: int, num_channels: int) -> np.ndarray:
    if num_channels == 0:
        words.fail("the skeleton has no channels, so nothing can move; expected some.")
    rows: list[np.ndarray] = []
    last = words.line
    for number, text in enumerate(words.lines[words.line :], start=words.line + 1):
        found = text.split()
        if not found:
            continue
        if len(rows) == num_frames:
            words.fail(f"more than the {num_frames} frames that were announced.", line=number)
        if len(found) != num_channels:
            words.fail(
                f"frame {len(rows)} has {len(found)} values; expected {num_channels}, one for each "
                "channel. The file may be cut short.",
                line=number,
            )
        rows.append(_row(words, text, found, number))
        last = number
    if len(rows) < num_frames:
        words.fail(
            f"the file ends after {len(rows)} of {num_frames} frames; it is cut short.",
            line=last,
        )
    return np.stack(rows)


def _row(words: _Words, text: str, found: list[str], number: int) -> np.ndarray:
    try:
        row = np.fromiter(map(float, found), np.float64, len(found))
    except ValueError:
        row = None
    if row is None or "_" in text or not (np.abs(row) <= _MAX_NUMBER).all():
        for word in found:
            words.parse(word, "a channel's value", line=number)
        words.fail("a value cannot be read.", line=number)
    return row
