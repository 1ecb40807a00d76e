"""What commands of the command line share: kinds of arguments, folders for results, the console."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional

from handwright.errors import InvalidValueError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_NO_TERMINAL = 100_000
"""Characters of a line that nothing breaks or cuts."""
ClipPath = Annotated[Positional[Path], tyro.conf.arg(metavar="CLIP")]
"""A clip file, given without a flag."""


def unset(metavar: str) -> object:
    """An option that need not be given, without the word None in its help."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


def writable_folder(folder: Path) -> Path:
    """Makes a folder for results before any work is put into them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValueError(
            f"Cannot make the folder '{folder}' ({error.strerror}). Choose another one."
        ) from error
    if not os.access(folder, os.W_OK):
        raise InvalidValueError(f"Cannot write into '{folder}'. Choose another folder.")
    return folder


def make_console() -> Console:
    """Where to print; a pipe and a file get whole lines, however long."""
    from rich.console import Console

    console = Console()
    # A pipe has no width of its own, and rich would cut columns to one that it makes up.
    return console if console.is_terminal else Console(width=_NO_TERMINAL)


def make_table(*headings: str) -> Table:
    """An empty table without lines; columns whose heading begins with ">" are for numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        is_number = heading.startswith(">")
        table.add_column(heading.removeprefix(">"), justify="right" if is_number else "left")
    return table


def tell_deprecated(text: str) -> None:
    """Tells about a deprecated option, where it is not in the way of what a command prints."""
    print(f"handwright: {text}", file=sys.stderr)
