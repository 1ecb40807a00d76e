"""CPU time of a process and of all that it has started, from the system's table of processes."""

from __future__ import annotations

import os
from pathlib import Path

from handwright.errors import InvalidValueError

_TABLE = Path("/proc")


def family_seconds(pid: int) -> float:
    """CPU time that a process and those below it that still run have used so far, s."""
    if not (_TABLE / "self" / "stat").is_file():
        raise InvalidValueError(
            "The CPU time of other processes is only known where there is a table of processes in "
            "/proc. Run this on Linux."
        )
    parents, ticks = {}, {}
    for entry in _TABLE.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # It has ended meanwhile.
        # The name, in brackets, may hold anything.
        fields = text.rpartition(")")[2].split()
        parents[int(entry.name)] = int(fields[1])
        ticks[int(entry.name)] = int(fields[11]) + int(fields[12])
    family, waiting = set(), [pid]
    while waiting:
        one = waiting.pop()
        family.add(one)
        waiting += [child for child, parent in parents.items() if parent == one]
    return sum(ticks.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")
