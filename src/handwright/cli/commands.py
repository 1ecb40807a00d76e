"""The table of commands.

Nothing heavy is imported at module level, so that help comes at once; each command imports what it
needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import tyro

from handwright.cli.bench import bench
from handwright.cli.clips import evaluate, export, info, render, reproduce, verify
from handwright.cli.console import tell_deprecated
from handwright.cli.data import data
from handwright.cli.demo.command import demo
from handwright.cli.listing import cite, hands, methods, scenes, shapes, show
from handwright.cli.options import synth
from handwright.cli.reactions import push, replay
from handwright.cli.studio import report, studio
from handwright.cli.train import train
from handwright.deprecated import renamed_options
from handwright.errors import InvalidValueError

_DESCRIPTION = """Synthesises dexterous hand-object manipulation.

Five commands look at what there is: show draws a hand or a body; info says what is in a clip file;
verify certifies it, pass or fail; evaluate measures it; report puts all clips of a folder on one
page.

With any command, --debug shows the traceback of an error. --version prints the version.
Commands that take a clip end with a message at 8 GB of memory, and all but render after 600 s of
work; --limit-memory-gb and --limit-seconds set other limits."""
_TAKES_CLIP = ("info", "verify", "evaluate", "export", "render")
_RENAMED = {"verify": {"--skin-shear-mm": "--skin-stretch-mm"}}
"""Deprecated options by command; those of 'synth' follow the settings of the methods."""

COMMANDS: dict[str, Callable[..., None]] = {
    "hands": hands,
    "shapes": shapes,
    "scenes": scenes,
    "methods": methods,
    "cite": cite,
    "synth": synth,
    "reproduce": reproduce,
    "show": show,
    "info": info,
    "verify": verify,
    "evaluate": evaluate,
    "replay": replay,
    "push": push,
    "export": export,
    "render": render,
    "train": train,
    "studio": studio,
    "report": report,
    "data": data,
    "bench": bench,
    "demo": demo,
}
"""Every command, in the order in which help lists them."""


def run(given: list[str]) -> None:
    """Runs one command.

    Args:
        given: Its name and its options.
    """
    if given[:1] == ["synth"]:
        # Its options are made from the settings of the methods, which takes loading them.
        synth(*given[1:])
    else:
        _run_guarded(given)


def _run_guarded(given: list[str]) -> None:
    """Runs a command, within limits if it takes a clip: that may be anybody's."""
    memory, given = _taken(given, "--limit-memory-gb")
    seconds, given = _taken(given, "--limit-seconds")
    if not given or given[0] not in _TAKES_CLIP:
        _run(given)
        return
    from handwright.io.guarded import MEMORY_GB, SECONDS, guarded

    # A film takes as long as it takes.
    usual = math.inf if given[0] == "render" else SECONDS
    with guarded(memory_gb=memory or MEMORY_GB, seconds=seconds or usual):
        _run(given)


def _taken(given: list[str], option: str) -> tuple[float | None, list[str]]:
    """The number behind an option of all commands, and the arguments without them."""
    for place, argument in enumerate(given):
        name, sign, value = argument.partition("=")
        if name != option:
            continue
        end = place + 1 if sign else place + 2
        value = value if sign else "".join(given[place + 1 : end])
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not number > 0.0:
            raise InvalidValueError(f"{option} is '{value}'; expected a number above zero.")
        return number, given[:place] + given[end:]
    return None, given


def _run(given: list[str]) -> None:
    """Runs a command whose options are its own."""
    renamed = _RENAMED.get(given[0], {}) if given else {}
    # The list of all commands has one line for each; their own help says more.
    is_list = not given or given[0].startswith("-")
    commands = {name: _one_line(run) for name, run in COMMANDS.items()} if is_list else COMMANDS
    tyro.extras.subcommand_cli_from_dict(
        commands,
        prog="handwright",
        description=_DESCRIPTION,
        args=renamed_options(given, renamed, tell_deprecated) or ["--help"],
    )


def _one_line(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with the first line of its help only."""

    def brief() -> None:
        command()

    brief.__doc__ = (command.__doc__ or "").partition("\n")[0]
    return brief
