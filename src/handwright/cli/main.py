"""The command line: ``handwright COMMAND``.

Interrupts are listened for before anything is loaded: whenever they come, they end a command with
one line. A user's mistake is printed without a traceback and ends with exit code 1; a command line
that cannot be read ends with 2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from handwright.cli.interrupts import INTERRUPTED, Interrupts, ignore_interrupts
from handwright.errors import HandwrightError
from handwright.printable import printable

_CLOSED_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code; reads ``sys.argv`` if none is given."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_debug = "--debug" in given
    try:
        with Interrupts() as interrupts:
            code = _run([word for word in given if word != "--debug"], interrupts, is_debug)
    finally:
        if arguments is None:
            ignore_interrupts()  # The program is over; what is left is its interpreter's.
    return code


def _run(given: list[str], interrupts: Interrupts, is_debug: bool) -> int:
    try:
        if given[:1] == ["--version"]:
            from importlib.metadata import version

            print(f"handwright {version('handwright')}")
            return 0
        from handwright.cli.commands import run

        run(given)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BrokenPipeError:
        # The reader, such as head, has had enough. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except BaseException as error:
        # Whatever an interrupt became on its way, as within a module that is being loaded.
        if interrupts.came or isinstance(error, KeyboardInterrupt):
            print("handwright: interrupted; nothing was left half written.", file=sys.stderr)
            return INTERRUPTED
        if is_debug or not isinstance(error, HandwrightError | OSError):
            raise
        print(f"handwright: {_told(error, given)}", file=sys.stderr)
        return 1
    return 0


def _told(error: Exception, given: Sequence[str]) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return printable(f"{os.fsdecode(error.filename)}: {error.strerror}.")
    text = str(error)
    # A new line in the name of a file is none of the message; what is quoted comes from files.
    for word in given:
        text = text.replace(word, printable(word))
    return "\n".join(printable(line) for line in text.split("\n"))
