"""What ``handwright push`` and ``replay`` do: a clip in, a table of how its bodies fared out."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from math import degrees
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from handwright.cli.console import make_table
from handwright.cli.reactions import PushOptions
from handwright.core.clip import Clip
from handwright.core.events import Push
from handwright.core.problem import push_problems
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import certify
from handwright.io.clip.npz_file import load_npz
from handwright.methods.stepwise.reaction import STRAY, Reaction, follow_clip, off_plan, reaction
from handwright.physics.replay.play import replay
from handwright.physics.replay.pushes import random_pushes
from handwright.render.film import export


def push_clip(
    file: Path, wanted: PushOptions, *, console: Console, out: Path | None, json: bool = False
) -> bool:
    """Plays a clip against a push, prints how its body fared, and says whether it was held.

    Args:
        file: The clip.
        wanted: The push.
        console: What to print on.
        out: Where to write what happened; None for nowhere.
        json: Print one JSON object instead of a table.
    """
    clip = load_npz(file)
    push = _push(clip, wanted)
    calm = follow_clip(clip).clip("stepwise")
    session = follow_clip(clip, (push,))
    pushed = session.clip("stepwise")
    found = reaction(pushed, calm, push.body, push.end)
    away = off_plan(calm, clip, push.body)
    is_lost = away > STRAY
    verdict = "lost without the push" if is_lost else "dropped" if found.is_dropped else "held"
    certificate = certify(pushed).verdict
    if out is not None:
        export(pushed, out)
    if json:
        facts = {
            "body": push.body,
            "displacement": found.displacement,
            "tilt": found.tilt,
            "back_after": found.back_after,
            "verdict": verdict,
            "certificate": certificate,
            "off_plan_without_push": away,
            "infeasible_frames": session.tally.infeasible,
            "written": None if out is None else str(out),
        }
        print(json_module.dumps(facts))
    else:
        table = _table(push.body, found, verdict)
        notes = _notes(certificate, away, is_lost, session.tally.infeasible, out)
        console.print(table)
        for note in notes:
            console.print(note, soft_wrap=True, highlight=False)
    return not (found.is_dropped or is_lost)


def _table(body: str, found: Reaction, verdict: str) -> Table:
    headings = ">displaced mm", ">tilted deg", ">back within 1 mm after s"
    table = make_table("body", *headings, "verdict")
    table.add_row(
        body,
        f"{1e3 * found.displacement:.1f}",
        f"{degrees(found.tilt):.1f}",
        "never" if found.back_after is None else f"{found.back_after:.2f}",
        verdict,
    )
    return table


def _notes(
    certificate: str, away: float, is_lost: bool, infeasible: int, out: Path | None
) -> list[str]:
    notes = [
        f"The pushed motion is {certificate}.",
        f"Without the push it is within {1e3 * away:.1f} mm of the clip.",
    ]
    if is_lost:
        notes.append("The hand does not follow this clip: contacts that slide or change lose it.")
    if infeasible:
        notes.append(f"Frames that could not keep things apart: {infeasible}.")
    return notes if out is None else [*notes, f"Wrote {out}."]


def _push(clip: Clip, wanted: PushOptions) -> Push:
    bodies, body = clip.problem.bodies, wanted.body
    if body is None:
        if len(bodies) != 1:
            known = ", ".join(bodies) or "none"
            raise InvalidValueError(
                f"The clip has {len(bodies)} bodies ({known}); expected --body with one of them."
            )
        (body,) = bodies
    if body not in bodies:
        raise UnknownNameError("body of the clip", body, bodies)
    where = bodies[body].center
    if wanted.point is not None:
        where = _numbers("--point", wanted.point, "m")
    if not wanted.length > 0.0:
        raise InvalidValueError(f"--for is {wanted.length}; expected seconds, more than 0.")
    force = _numbers("--force", wanted.force, "N")
    push = Push(body, wanted.at, wanted.at + wanted.length, where, force)
    texts = push_problems(push, bodies, (float(clip.times[0]), float(clip.times[-1])))
    if texts:
        raise InvalidValueError(f"The push {texts[0]}. Change --at or --for.")
    return push


def _numbers(option: str, text: str, unit: str) -> np.ndarray:
    try:
        numbers = np.array([float(part) for part in text.replace(",", " ").split()])
    except ValueError:
        numbers = np.zeros(0)
    if numbers.shape != (3,):
        raise InvalidValueError(
            f'{option} is "{text}"; expected three numbers in {unit}, such as "0 0 -5".'
        )
    return numbers


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
    headings = ">off plan mm", ">turned off plan deg", ">drift in hold mm", ">sunk in hold mm"
    table = make_table("body", *headings, "verdict")
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
