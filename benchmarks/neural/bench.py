"""Learned fingers in closed loop from the neutral pose: figures, baselines, speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.bars import judged_part, judged_table
from benchmarks.neural.baselines import NearestNeighbour
from benchmarks.neural.cases import HELD_OUT, SEEN, TAILS, Case, Trial, own_trial, recorded_trial
from benchmarks.neural.certified import WAYS, certified_shares
from benchmarks.neural.recovery import recoveries
from benchmarks.neural.speed import speeds
from benchmarks.neural.table import CORRECTIONS, TEACHER, baselines, networks, table_of
from benchmarks.progress import shown_steps
from handwright.errors import InvalidValueError
from handwright.methods.neural.network.runtime import SHIPPED, load_network

if TYPE_CHECKING:
    from rich.console import Group

OURS = "ours, grip"
"""The row that is judged."""
BARS: dict[str, tuple[str, float]] = {
    "ms": ("<=", 2.0),
    "seen_realism": (">=", 95.0),
    "seen_penetration": ("<=", 0.30),
    "seen_smoothness_off": ("<=", 0.10),
    "held_out_realism": (">=", 93.0),
    "held_out_penetration": ("<=", 0.35),
    "held_out_smoothness_off": ("<=", 0.10),
    "tails_realism_lost": ("<=", 10.0),
    "tails_penetration_more": ("<=", 0.1),
    "tails_smoothness_ratio_low": (">=", 0.4),
    "tails_smoothness_ratio": ("<=", 1.3),
    "tails_joint_error": ("<=", 13.0),
    "baselines_beaten": (">=", 1.0),
    "back_after": ("<=", 1.0),
    "rollout_growth": ("<=", 1.3),
    "certified_share": (">=", 0.9),
}
_MEANINGS = {
    "ms": "processor time of a frame of both hands, sensors and fitting included, ms",
    "seen_realism": "shapes trained on, new trajectories: frames that forces explain, %",
    "seen_penetration": "the same: mean depth of what penetrates, cm",
    "seen_smoothness_off": "the same: acceleration over the teacher's, share off 1",
    "held_out_realism": "shapes never trained on: frames that forces explain, %",
    "held_out_penetration": "the same: mean depth of what penetrates, cm",
    "held_out_smoothness_off": "the same: acceleration over the teacher's, share off 1",
    "tails_realism_lost": "tails of recordings: points of realism below the recorded fingers",
    "tails_penetration_more": "the same: depth beyond the recorded fingers', cm",
    "tails_smoothness_ratio_low": "the same: acceleration over the recorded fingers'",
    "tails_smoothness_ratio": "the same",
    "tails_joint_error": "the same: mean distance of joints to the recorded ones, mm",
    "baselines_beaten": "share of the groups in which ours beats every baseline on joint error and "
    "on realism",
    "back_after": "30 s from a fist: until joints are within 5 mm of a good start's, worst, s",
    "rollout_growth": "the same: error of the last third over that of the first, worst motion",
    "certified_share": "own test motions: share with a certified motion, guided by the network",
}
# Motions of each group that get certified fingers, and the search for each, s.
_WINDOWS, _BUDGET = 40, 30.0
_COLUMNS = {
    "realism": "realism %",
    "realism_published": "at 0.35",
    "penetration": "penetration cm",
    "in_table": "in table cm",
    "smoothness": "cm/s²",
    "smoothness_ratio": "ratio",
    "joint_error": "error mm",
}
_BASELINES = ("mean pose", "first pose", "nearest neighbour")


def run(
    data: Path | None = None,
    *,
    motions: Path | None = None,
    model: str = SHIPPED,
    cases: int | None = None,
    windows: int | None = None,
    budget: float = _BUDGET,
) -> dict[str, Any]:
    """Tries networks on motions that they have not seen.

    Args:
        data: Folder of the ManipNet recordings: their tails are tried.
        motions: Folder of 'handwright data make': its test split is tried.
        model: Folders of networks with commas between them. The first is the one that is judged.
        cases: How many motions of each group of the test split are tried; all if not given.
        windows: How many motions of each group of the test split are given certified fingers; 40
            if not given, 0 for none.
        budget: Of the search for each of these, s.
    """
    if data is None and motions is None:
        raise InvalidValueError(
            "Nothing to try. Pass --motions DIR (made by 'handwright data make'), or --data FOLDER "
            "with the ManipNet recordings."
        )
    folders = model.split(",")
    found = {
        "ours" if number == 0 else Path(folder).name: load_network(folder)
        for number, folder in enumerate(folders)
    }
    tables: dict[str, dict[str, dict[str, Any]]] = {}
    timed: dict[str, Any] = {}
    trials = [trial for trial in (_own(motions, cases), _recorded(data)) if trial is not None]
    certifiable = _some(trials, _WINDOWS if windows is None else windows)
    certified: dict[str, dict[str, Any]] = {}
    rows = 1 + len(_BASELINES) + len(found) * len(CORRECTIONS)
    total = rows * sum(len(trial.cases) for trial in trials) + 2 + len(WAYS) * len(certifiable)
    with shown_steps(total) as step, threadpool_limits(1):
        for trial in trials:
            makers = {**baselines(trial.taught), **networks(found)}
            tables |= table_of(trial.cases, makers, step)
            two = [case for case in trial.cases if len(case.teacher.hands) == 2]
            if two and trial.taught and not timed:
                step("speed")
                timed = speeds(found, two[0].teacher, NearestNeighbour(trial.taught))
        step("30 s from a wrong pose")
        recovery = recoveries(found["ours"], [c.teacher for t in trials for c in t.cases])
        if certifiable:
            certified = certified_shares(certifiable, folders[0], budget, step)
    judged = _judged(tables, timed) | _also_judged(recovery, certified)
    return {
        "tables": tables,
        "speed": timed,
        "recovery": recovery,
        "certified": certified,
        "models": list(found),
        **judged_part(judged, BARS),
    }


def _some(trials: Sequence[Trial], most: int) -> list[Case]:
    """The first motions of each group of the own test split."""
    found: list[Case] = []
    for group in (SEEN, HELD_OUT):
        found += [case for t in trials for case in t.cases if case.group == group][:most]
    return found


def _also_judged(
    recovery: Mapping[str, Any], certified: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    judged = {"back_after": recovery["back_after"], "rollout_growth": recovery["growth"]}
    rows = [by_way[WAYS[0]] for by_way in certified.values()]
    if rows:
        count = sum(row["motions"] for row in rows)
        judged["certified_share"] = sum(row["share"] * row["motions"] for row in rows) / count
    return judged


def _own(folder: Path | None, most: int | None) -> Trial | None:
    return None if folder is None else own_trial(folder, most)


def _recorded(folder: Path | None) -> Trial | None:
    return None if folder is None else recorded_trial(folder)


def _judged(
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]], timed: Mapping[str, Any]
) -> dict[str, float]:
    """The figures that there are bars for, of what was tried."""
    judged: dict[str, float] = {"ms": timed["ours"]["ms"]} if timed else {}
    for group, word in ((SEEN, "seen"), (HELD_OUT, "held_out")):
        if group in tables:
            row = tables[group][OURS]
            judged[f"{word}_realism"] = row["realism"]
            judged[f"{word}_penetration"] = row["penetration"]
            judged[f"{word}_smoothness_off"] = abs(row["smoothness_ratio"] - 1.0)
    if TAILS in tables:
        row, real = tables[TAILS][OURS], tables[TAILS][TEACHER]
        judged["tails_realism_lost"] = real["realism"] - row["realism"]
        judged["tails_penetration_more"] = row["penetration"] - real["penetration"]
        judged["tails_smoothness_ratio_low"] = row["smoothness_ratio"]
        judged["tails_smoothness_ratio"] = row["smoothness_ratio"]
        judged["tails_joint_error"] = row["joint_error"]
    # Without motions to look up there are not all of them.
    whole = [table for table in tables.values() if set(_BASELINES) <= table.keys()]
    if whole:
        judged["baselines_beaten"] = sum(map(_beats_baselines, whole)) / len(whole)
    return judged


def _beats_baselines(table: Mapping[str, Mapping[str, Any]]) -> bool:
    ours = table[OURS]
    return all(
        ours["joint_error"] < table[name]["joint_error"]
        and ours["realism"] > table[name]["realism"]
        for name in _BASELINES
    )


def describe(result: Mapping[str, Any]) -> Group:
    """The result as tables."""
    from rich.console import Group
    from rich.table import Table

    parts: list[Any] = []
    for group, rows in result["tables"].items():
        table = Table(title=f"{group.capitalize()}, closed loop", box=None, pad_edge=False)
        table.add_column("fingers")
        for heading in _COLUMNS.values():
            table.add_column(heading, justify="right")
        for name, row in rows.items():
            cells = ["-" if row[key] is None else f"{row[key]:.3g}" for key in _COLUMNS]
            table.add_row(name, *cells)
        parts.append(table)
    if result["speed"]:
        table = Table(title="One frame of both hands", box=None, pad_edge=False)
        for heading in ("fingers", "ms", "of 16.7 ms", "of nearest neighbour"):
            table.add_column(heading, justify="left" if heading == "fingers" else "right")
        for name, row in result["speed"].items():
            share = f"{100.0 * row['share_of_real_time']:.0f} %"
            table.add_row(name, f"{row['ms']:.2f}", share, f"{row['times_the_neighbour']:.2g}")
        parts.append(table)
    if result["certified"]:
        table = Table(title="Certified fingers", box=None, pad_edge=False)
        for heading in ("motions", "guided by", "number", "certified", "s", "error mm"):
            table.add_column(heading, justify="left" if heading[0] in "mg" else "right")
        for group, by_way in result["certified"].items():
            for way, row in by_way.items():
                error = "-" if row["joint_error"] is None else f"{row['joint_error']:.1f}"
                share = f"{100.0 * row['share']:.0f} %"
                table.add_row(
                    group, way, str(row["motions"]), share, f"{row['seconds']:.1f}", error
                )
        parts.append(table)
    return Group(*parts, judged_table(result, _MEANINGS))
