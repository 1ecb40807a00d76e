"""The server as a process: started, measured, killed and started again on the same port."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_CODE = "import sys; from handwright.cli.main import main; sys.exit(main())"
_TABLE = Path("/proc")


class Server:
    """The studio's server on a loopback address."""

    def __init__(self, root: Path, log: Path, environment: dict[str, str]) -> None:
        self._root, self._log, self._environment = root, log, environment
        self.port = 0
        self.changed = 0.0
        """When it was last started or ended, s of ``time.monotonic``."""
        self.start()

    @property
    def address(self) -> str:
        """What clients ask."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it, on the port that it had before."""
        command = [sys.executable, "-c", _CODE, "studio", str(self._root), "--no-browser"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--jobs=1", f"--port={self.port}"],
                stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment,
            )  # fmt: skip
        assert self._process.stdout is not None
        words = self._process.stdout.readline().split()
        self._process.stdout.close()
        address = next(word for word in words if word.startswith("http://"))
        self.port = int(address.strip("/").rpartition(":")[2])
        self.changed = time.monotonic()

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def end(self, number: signal.Signals) -> int:
        """Ends it by a signal and returns its exit code."""
        self.changed = time.monotonic()
        self._process.send_signal(number)
        code = self._process.wait(120)
        self.changed = time.monotonic()
        return code

    def family(self) -> dict[int, int]:
        """Resident memory in bytes of the server and all processes below it, by number."""
        parents, sizes = {}, {}
        page = os.sysconf("SC_PAGE_SIZE")
        for entry in _TABLE.iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                except OSError:
                    continue  # It has ended meanwhile.
                parents[int(entry.name)] = int(fields[1])
                sizes[int(entry.name)] = page * int(fields[21])
        family, waiting = {}, [self._process.pid]
        while waiting:
            one = waiting.pop()
            family[one] = sizes.get(one, 0)
            waiting += [child for child, parent in parents.items() if parent == one]
        return family

    def helpers(self) -> list[int]:
        """Processes below the server that work for it; Python's own that tidies up is none."""
        found = []
        for pid in self.family():
            with contextlib.suppress(OSError):
                if pid != self.pid and b"resource_tracker" not in _line(pid):
                    found.append(pid)
        return found

    @property
    def pid(self) -> int:
        """Number of the server itself."""
        return self._process.pid


def _line(pid: int) -> bytes:
    """The command that a process was started with."""
    return (_TABLE / str(pid) / "cmdline").read_bytes()
