"""Contact sampling on windows of recordings: how many are solved, and how near the real fingers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import bars_table, judged_part
from benchmarks.recordings.windows import (
    NUM_SOLUTIONS,
    Window,
    Wishes,
    measure_window,
    read_windows,
)
from handwright.errors import InvalidValueError

if TYPE_CHECKING:
    from rich.console import Group

BARS: dict[str, tuple[str, float]] = {
    "solved_single": (">=", 0.95),
    "certified": (">=", 1.0),
    "fingertip_mm": ("<=", 20.0),
    "acceleration_ratio": ("<=", 1.3),
    "pen_mm_p95": ("<=", 2.0),
}

_MEANINGS = {
    "solved": "share of all windows with a certified motion",
    "solved_single": "the same, windows of one hand",
    "solved_single_even": "the same, every second one: settings are tried on these",
    "solved_single_odd": "the same, the others: no setting was",
    "solved_both": "the same, windows in which the other hand helps",
    "certified": "share of the returned motions that the certificate passes",
    "seconds": "for one window, preparing included, mean, s",
    "pen_mm_p95": "depth of the skin, 95th percentile over frames, mean over solved, mm",
    "fingers": "digits that touch, mean over solved",
    "fingers_recorded": "the same, recorded fingers",
    "fingertip_mm": "best motion to the recorded fingertips, mean over solved, mm",
    "acceleration": "in the wrist's frame, best motion, mean over solved, cm/s²",
    "acceleration_recorded": "the same, recorded fingers at the same rate, cm/s²",
    "acceleration_ratio": "of the two means, over solved; hands that hardly move count for little",
    "acceleration_ratio_median": "of single windows, median over solved",
    "acceleration_ratio_max": "of single windows, largest of solved",
    "wrist_mm": "wrists moved out of bodies by at most, of all windows, mm",
    "wrist_deg": "the same, turned, degrees",
    "smoothed_mm": "tracks moved by the low-pass by at most, of all windows, mm",
    "smoothed_deg": "the same, turned, degrees",
}
_MEANS = (
    "pen_mm_p95", "fingers", "fingers_recorded", "fingertip_mm", "acceleration",
    "acceleration_recorded",
)  # fmt: skip
_LARGEST = ("wrist_mm", "wrist_deg", "smoothed_mm", "smoothed_deg")
_MAX_WORKERS = 2
_COLUMNS = {
    "seconds": "s",
    "clips": "clips",
    "certified": "good",
    "pen_mm_p95": "p95 mm",
    "fingers": "digits",
    "fingers_recorded": "real",
    "fingertip_mm": "tips mm",
    "acceleration": "cm/s²",
    "acceleration_recorded": "real",
}


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Shares and means over windows; None where no window gives a figure."""

    def share(kind: str | None) -> float | None:
        some = [row for row in rows if kind in (None, row["kind"])]
        return sum(row["is_solved"] for row in some) / len(some) if some else None

    def half(first: int) -> float | None:
        some = [row for row in rows if row["kind"] == "single"][first::2]
        return sum(row["is_solved"] for row in some) / len(some) if some else None

    def known(name: str) -> list[float]:
        return [row[name] for row in rows if row[name] is not None and row["is_solved"]]

    def mean(name: str) -> float | None:
        return float(np.mean(known(name))) if known(name) else None

    clips = sum(row["clips"] for row in rows)
    # A hand that hardly moves has a ratio far from one whatever it does: single ratios stand
    # beside, but do not make, the figure that is judged.
    ratios = known("acceleration_ratio")
    made, real = mean("acceleration"), mean("acceleration_recorded")
    return {
        "solved": share(None),
        "solved_single": share("single"),
        "solved_single_even": half(0),
        "solved_single_odd": half(1),
        "solved_both": share("both"),
        "certified": sum(row["certified"] for row in rows) / clips if clips else None,
        "seconds": float(np.mean([row["seconds"] for row in rows])) if rows else None,
        **{name: mean(name) for name in _MEANS},
        "acceleration_ratio": made / real if made is not None and real else None,
        "acceleration_ratio_median": float(np.median(ratios)) if ratios else None,
        "acceleration_ratio_max": max(ratios, default=None),
        **{name: max((row[name] for row in rows), default=None) for name in _LARGEST},
    }


def frequent_cause(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Why windows are not solved, most often, in words that name no frame; None if all are."""
    causes = Counter(row["cause"] for row in rows if not row["is_solved"])
    if not causes:
        return None
    cause, count = causes.most_common(1)[0]
    return f"{cause} ({count} of {causes.total()} windows)"


def run(
    data: Path,
    *,
    windows: int | None = None,
    budget: float = 30.0,
    num: int = NUM_SOLUTIONS,
    guided: bool = False,
    model: str | None = None,
    corrected: bool = False,
) -> dict[str, Any]:
    """Runs all windows in two processes; at most a quarter of an hour with warm caches.

    Args:
        data: Folder with the recordings and ``windows.json``.
        windows: Only so many, spread over the list; all if None.
        budget: Processor time of the search in each window, s.
        num: Motions that are looked for in each; with 1, a window is left when it is solved.
        guided: Whether the recorded fingers guide the search.
        model: Network whose fingers guide it instead: a folder, or ``shipped``.
        corrected: Whether tracks are corrected first.
    """
    if guided and model is not None:
        raise InvalidValueError(
            "Both --guided and --model were given; expected one guide. Leave one of them out."
        )
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    if not budget > 0.0:
        raise InvalidValueError(f"--budget is {budget:g}; expected seconds above 0.")
    wishes = Wishes(budget, num, guided, model, corrected)
    chosen = _spread(read_windows(data), windows)
    rows: dict[Window, dict[str, Any]] = {}
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        # The first one alone, so that two processes do not compile the same at the same time.
        with ProcessPoolExecutor(_MAX_WORKERS, get_context("spawn")) as pool:
            for part in (chosen[:1], chosen[1:]):
                jobs = {pool.submit(measure_window, data, one, wishes): one for one in part}
                for job in as_completed(jobs):
                    window = jobs[job]
                    rows[window] = job.result()
                    progress.update(task, advance=1, description=window.name)
    ordered = [rows[window] for window in chosen]
    result: dict[str, Any] = summary(ordered)
    judged = {name: _number(result[name]) for name in BARS}
    return {
        **result,
        "frequent_cause": frequent_cause(ordered),
        "windows": {window.name: rows[window] for window in chosen},
        **judged_part(judged, BARS),
        "budget_s": budget,
        "is_guided": guided,
        "model": model,
        "is_corrected": corrected,
    }


def _spread(windows: Sequence[Window], count: int | None) -> list[Window]:
    if count is None:
        return list(windows)
    if count < 1:
        raise InvalidValueError(f"--windows is {count}; expected 1 or more.")
    keep = np.unique(np.linspace(0, len(windows) - 1, min(count, len(windows))).round().astype(int))
    return [windows[k] for k in keep]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group
    from rich.table import Table

    causes = sorted({row["cause"] for row in result["windows"].values() if not row["is_solved"]})
    table = Table(box=None, pad_edge=False)
    table.title = f"Windows of recordings, at most {result['budget_s']:g} s of search each"
    table.add_column("window", no_wrap=True)
    table.add_column("hands")
    for heading in _COLUMNS.values():
        table.add_column(heading, justify="right")
    table.add_column("why", justify="right")
    for name, row in result["windows"].items():
        cells = ["-" if row[key] is None else f"{row[key]:.3g}" for key in _COLUMNS]
        why = "" if row["is_solved"] else f"({causes.index(row['cause']) + 1})"
        table.add_row(name, row["kind"], *cells, why)
    judged = {name: _number(result[name]) for name in _MEANINGS}
    verdicts = sorted({row["verdict"] for row in result["windows"].values() if row["verdict"]})
    lines = [f"Most frequent cause of failure: {result['frequent_cause']}."]
    return Group(
        table,
        *(f"({number}) {cause}" for number, cause in enumerate(causes, start=1)),
        bars_table("All windows (nan: there is no such figure)", judged, _MEANINGS, BARS),
        *(lines if result["frequent_cause"] else []),
        *(f"Verdict: {verdict}." for verdict in verdicts),
    )
