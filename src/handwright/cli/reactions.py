"""Commands that see how a motion fares: replayed by a simulated hand, or pushed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import FlagCreatePairsOff

from handwright.cli.console import ClipPath, make_console, unset, writable_folder


def replay(
    clip: ClipPath,
    /,
    *,
    push: float = 0.0,
    hold: float = 2.0,
    seed: int = 0,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Play a clip again with a simulated hand: does it hold what it holds in the plan?

    Ends with exit code 1 if a body is dropped.

    Args:
        clip: A clip file with contact forces (.npz).
        push: Size of random pushes at the bodies in the second half, N.
        hold: How long the end is held, s.
        seed: Random seed of the directions of the pushes.
        out: Where to write what happened, as a clip (.npz) or as 'handwright export' does.
        json: Print one JSON object instead of a table.
    """
    from handwright.cli.reacting import replay_clip

    if out is not None:
        writable_folder(out.parent)
    if not replay_clip(clip, make_console(), push=push, hold=hold, seed=seed, out=out, json=json):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class PushOptions:
    """A push, as one writes it on the command line."""

    force: Annotated[str, tyro.conf.arg(metavar='"X Y Z"')]
    """Force of the push in the world, N, as in "0 0 -5"."""
    at: Annotated[float, tyro.conf.arg(metavar="SECONDS")]
    """When it begins, s."""
    length: Annotated[float, tyro.conf.arg(name="for", metavar="SECONDS")] = 0.1
    """How long it lasts, s."""
    body: Annotated[str | None, unset("NAME")] = None
    """Which body is pushed; may be left out if there is only one."""
    point: Annotated[str | None, unset('"X Y Z"')] = None
    """Where, in the body's own axes, m; the centre of mass if left out."""


def push(
    clip: ClipPath,
    /,
    *,
    wanted: Annotated[PushOptions, tyro.conf.arg(name="")],
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Push a body of a clip and see how the hand reacts, frame by frame.

    Ends with exit code 1 if the body is dropped.

    Args:
        clip: A clip file of any method (.npz).
        wanted: The push.
        out: Where to write what happened, as a clip (.npz) or as 'handwright export' does.
        json: Print one JSON object instead of a table.
    """
    from handwright.cli.reacting import push_clip

    if out is not None:
        writable_folder(out.parent)
    if not push_clip(clip, wanted, console=make_console(), out=out, json=json):
        raise SystemExit(1)
