"""Commands of the studio: the server, and stand-alone reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.console import make_console, unset, writable_folder
from handwright.errors import InvalidValueError


def studio(
    folder: Annotated[Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("out"),
    /,
    *,
    port: Annotated[int | None, unset("INT")] = None,
    host: str = "127.0.0.1",
    jobs: Annotated[int | None, unset("INT")] = None,
    model: Annotated[str, tyro.conf.arg(metavar="MODEL")] = "shipped",
    no_browser: FlagCreatePairsOff[bool] = False,
) -> None:
    """Make, browse, understand and export motions in the browser.

    Serves a page that shows the clips of a folder and runs jobs. On another address than this
    machine's own every request needs a token, which is part of the address that is printed.

    Args:
        folder: Clips are read from here and written here; made if it is not there.
        port: Where to listen; the first free one from 8642 on by default.
        host: Address to listen on; others than 127.0.0.1 can be reached from other machines.
        jobs: How many are done at the same time; half the cores by default.
        model: Network of the live tab's learned fingers: a folder made by 'handwright train', or
            the one of the package.
        no_browser: Do not open the page.
    """
    from handwright.studio.server.serving import listen, serve

    if jobs is not None and jobs < 1:
        raise InvalidValueError(f"--jobs is {jobs}; expected 1 or more.")
    # The address is settled first: a typing mistake there leaves no folder behind.
    listener = listen(host, port)
    with listener:
        root = writable_folder(folder)
        serve(
            root,
            listener,
            host=host,
            opens_browser=not no_browser,
            jobs_at_once=jobs,
            fingers=model,
        )


def report(
    folder: Annotated[Positional[Path], tyro.conf.arg(metavar="DIR")],
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="OUT.html")],
    /,
    *,
    title: Annotated[str | None, unset("TEXT")] = None,
) -> None:
    """Put all clips of a folder on one page, which opens from disk without a server.

    It holds the wall of motions, their timelines and tables, and everything it needs.

    Args:
        folder: Clips are read from here.
        out: The page to write.
        title: Title of the page; the name of the folder by default.
    """
    from handwright.studio.library.report import write_report

    writable_folder(out.parent)
    write_report(folder, out, make_console(), title=title)
