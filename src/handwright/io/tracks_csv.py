"""Tracks of wrists and bodies as comma-separated text, for spreadsheets and other programs.

The first line names the columns ``time,x,y,z,qw,qx,qy,qz``, in any order, with units in brackets:
``time [s],x [m],...``; without brackets they are s and m. A column ``name`` tells several tracks
apart. Axes are ours: Z up; quaternions map the thing's frame to the world. Lines that start with
``#`` are left out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from handwright.core.clip import Clip
from handwright.core.read_limits import read_limits
from handwright.core.track import Track
from handwright.errors import FileFormatError, InvalidValueError
from handwright.io.atomic import written_whole
from handwright.math.pose import UNIT_TOLERANCE, Pose

MAX_CSV_BYTES = 256 * 1024**2
QUATERNION_SLACK = 0.01
"""How far a norm may be from one: text with few digits is made unit, nonsense is refused."""

_NUMBERS = ("time", "x", "y", "z", "qw", "qx", "qy", "qz")
_UNITS = {
    "time": {"s": 1.0, "ms": 1e-3},
    **{axis: {"m": 1.0, "cm": 1e-2, "mm": 1e-3} for axis in "xyz"},
}
_HEADER = "name,time [s],x [m],y [m],z [m],qw,qx,qy,qz"

Row = tuple[int, str, list[float]]
"""Line number, name of the track, numbers in the order of ``_NUMBERS``, in s and m."""


def save_tracks(tracks: Mapping[str, Track], path: str | Path) -> None:
    """Writes tracks as text with all digits, whole or not at all.

    Args:
        tracks: By name.
        path: Usually ends in ``.csv``.
    """
    if not tracks:
        raise InvalidValueError(f"{path}: there is no track to write; expected at least one.")
    text = io.StringIO()
    text.write(_HEADER + "\n")
    writer = csv.writer(text, lineterminator="\n")
    for name, track in tracks.items():
        if name != name.strip() or not name or name.startswith("#") or not name.isprintable():
            raise InvalidValueError(
                f"{path}: a track is named {name!r}; expected printable text without spaces "
                "around it that does not start with '#'. Rename it."
            )
        rows = np.column_stack([track.times, track.pose.position, track.pose.wxyz])
        writer.writerows([name, *map(repr, row)] for row in rows.tolist())
    with written_whole(path) as file:
        file.write(text.getvalue().encode("utf-8"))


def save_clip_tracks(clip: Clip, path: str | Path) -> None:
    """Writes the wrists (root links) and bodies of a clip as tracks."""
    poses = {**{name: motion.root for name, motion in clip.hands.items()}, **clip.bodies}
    save_tracks({name: Track(clip.times, pose) for name, pose in poses.items()}, path)


def load_tracks(path: str | Path) -> dict[str, Track]:
    """Reads tracks; without a column ``name`` the only track is named after the file.

    Quaternions may be off unit length by rounding (``QUATERNION_SLACK``); they are made unit.

    Args:
        path: A file with a header as described above.
    """
    path = Path(path)
    grouped: dict[str, list[Row]] = {}
    for row in _rows(path, _read(path)):
        rows = grouped.setdefault(row[1], [])
        rows.append(row)
        if len(rows) > read_limits().frames:
            raise FileFormatError(
                f"{path}, line {row[0]}: track '{row[1]}' has more than "
                f"{read_limits().frames} frames. Cut it into shorter ones."
            )
    if not grouped:
        raise FileFormatError(f"{path}: has a header but no rows.")
    return {name: _track(path, rows) for name, rows in grouped.items()}


def _read(path: Path) -> str:
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file.")
    if path.stat().st_size > MAX_CSV_BYTES:
        raise FileFormatError(f"{path}: is larger than {MAX_CSV_BYTES // 1024**2} MB.")
    content = path.read_bytes()
    try:
        # Spreadsheets put a byte-order mark first.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{path}, line {line}: is not UTF-8 text.") from error


def _rows(path: Path, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""))
    columns: list[tuple[str, float]] = []
    try:
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                continue
            if not columns:
                columns = _columns(path, line, cells)
                continue
            yield _row(path, line, cells, columns)
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {reader.line_num}: {error}.") from error
    if not columns:
        raise FileFormatError(f"{path}: is empty; expected a header such as '{_HEADER}'.")


def _columns(path: Path, line: int, cells: list[str]) -> list[tuple[str, float]]:
    """Name of each column and the factor to s and m."""
    columns, problems = [], []
    for cell in cells:
        name, bracket, unit = cell.strip().lower().partition("[")
        name, unit = name.strip(), unit.removesuffix("]").strip()
        factor = 1.0
        if name != "name" and name not in _NUMBERS:
            problems.append(f"column '{name[:40]}' is not known")
        elif bracket and unit not in _UNITS.get(name, {}):
            known = ", ".join(_UNITS.get(name, {})) or "none"
            problems.append(f"unit '{unit[:40]}' of {name} is not known (known: {known})")
        elif bracket:
            factor = _UNITS[name][unit]
        columns.append((name, factor))
    names = [name for name, _ in columns]
    problems += [f"column '{name}' is missing" for name in _NUMBERS if name not in names]
    problems += [f"column '{n}' is there twice" for n in sorted(set(names)) if names.count(n) > 1]
    if problems:
        raise FileFormatError(
            f"{path}, line {line}: {'; '.join(problems)}. Expected a header such as '{_HEADER}'."
        )
    return columns


def _row(path: Path, line: int, cells: list[str], columns: list[tuple[str, float]]) -> Row:
    if len(cells) != len(columns):
        raise FileFormatError(
            f"{path}, line {line}: has {len(cells)} cells; expected {len(columns)}."
        )
    name, values = path.stem, {}
    for cell, (column, factor) in zip(cells, columns, strict=True):
        if column == "name":
            name = cell.strip()
            continue
        try:
            # Python alone reads 1_0 as ten.
            value = math.nan if "_" in cell else float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise FileFormatError(
                f"{path}, line {line}: {column} is '{cell[:40]}'; expected a finite number."
            )
        values[column] = value * factor
    return line, name, [values[column] for column in _NUMBERS]


def _track(path: Path, rows: list[Row]) -> Track:
    lines = [line for line, _, _ in rows]
    values = np.array([numbers for _, _, numbers in rows])
    times, position, wxyz = values[:, 0], values[:, 1:4], values[:, 4:]
    stuck = np.flatnonzero(np.diff(times) <= 0.0)
    if len(stuck):
        raise FileFormatError(
            f"{path}, line {lines[stuck[0] + 1]}: time is {times[stuck[0] + 1]:g} s after "
            f"{times[stuck[0]]:g} s; expected it to increase."
        )
    norm = np.linalg.norm(wxyz, axis=1)
    wrong = np.flatnonzero(~(np.abs(norm - 1.0) <= QUATERNION_SLACK))
    if len(wrong):
        raise FileFormatError(
            f"{path}, line {lines[wrong[0]]}: the quaternion has length {norm[wrong[0]]:.4g}; "
            f"expected 1 within {QUATERNION_SLACK:g}."
        )
    loose = np.abs(norm - 1.0) > UNIT_TOLERANCE
    wxyz[loose] /= norm[loose, None]
    return Track(times, Pose(position, wxyz))
