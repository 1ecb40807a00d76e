"""The table of commands.

Nothing heavy is imported at module level, so that help comes at once; each command imports what it
needs.
"""

from __future__ import annotations

from collections.abc import Callable

import tyro

from handwright.cli.bench import bench
from handwright.cli.clips import evaluate, export, info, render, reproduce, verify
from handwright.cli.console import tell_deprecated
from handwright.cli.demo.command import demo
from handwright.cli.listing import cite, hands, methods, scenes, shapes, show
from handwright.cli.options import synth
from handwright.cli.reactions import push, replay
from handwright.cli.studio import report, studio
from handwright.deprecated import renamed_options

_DESCRIPTION = """Synthesises dexterous hand-object manipulation.

Five commands look at what there is: show draws a hand or a body; info says what is in a clip file;
verify certifies it, pass or fail; evaluate measures it; report puts all clips of a folder on one
page.

With any command, --debug shows the traceback of an error. --version prints the version."""
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
    "studio": studio,
    "report": report,
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
        _run(given)


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
