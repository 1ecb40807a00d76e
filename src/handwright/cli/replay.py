"""What ``handwright replay`` does: a clip in, a table of what a simulated hand made of it out."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from math import degrees
from pathlib import Path

from rich.console import Console
from rich.table import Table

from handwright.io.clip.npz_file import load_npz
from handwright.physics.replay.play import replay
from handwright.physics.replay.pushes import random_pushes
from handwright.render.exporting import export


def replay_clip(
    file: Path,
    console: Console,
    *,
    push: float,
    hold: float,
    seed: int,
    out: Path | None,
    json: bool = False,
) -> bool:
    """Replays a clip, prints how its bodies fared, and says whether all were held.

    Args:
        file: The clip.
        console: What to print on.
        push: Size of random pushes, N.
        hold: How long the end is held, s.
        seed: Random seed of the directions of the pushes.
        out: Where to write what happened; None for nowhere.
        json: Print one JSON object instead of a table.
    """
    clip = load_npz(file)
    pushes = random_pushes(clip, size=push, seed=seed) if push != 0.0 else ()
    replayed = replay(clip, hold=hold, pushes=pushes)
    if out is not None:
        export(replayed.motion, out)
    if json:
        facts = {
            "bodies": {name: asdict(body) for name, body in replayed.bodies.items()},
            "pushes": len(pushes),
            "push_force": push,
            "hold": hold,
            "dropped": replayed.dropped,
            "notes": list(replayed.notes),
            "written": None if out is None else str(out),
        }
        print(json_module.dumps(facts))
        return not replayed.dropped
    table = Table("body", box=None, pad_edge=False)
    for heading in ("off plan mm", "turned off plan deg", "drift in hold mm", "sunk in hold mm"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for name, body in replayed.bodies.items():
        table.add_row(
            name,
            f"{1e3 * body.position_error:.1f}",
            f"{degrees(body.turn_error):.1f}",
            f"{1e3 * body.drift:.2f}",
            f"{1e3 * body.sunk:.2f}",
            "dropped" if body.dropped else "held",
        )
    console.print(table)
    console.print(f"{len(pushes)} pushes of {push:g} N; held for {hold:g} s after the plan's end.")
    for note in replayed.notes:
        console.print(note)
    if out is not None:
        console.print(f"Wrote {out}.", soft_wrap=True, highlight=False)
    return not replayed.dropped
