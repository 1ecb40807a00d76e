"""Plants one fault after another: ``python -m tools.mutants [NAME ...] [--json] [--list]``.

Every fault is a line of ``faults.py``. It is put into a copy of the checkout, the tests that ought
to notice are run there until one fails, and the fault is taken out again. A fault that no test
notices is a survivor: write the test. The exit code is the number of survivors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.mutants.faults import FAULTS, Fault

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 600.0
"""Tests that take longer than this with a fault are stopped: the fault counts as caught, s."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def copy_checkout(folder: Path) -> None:
    """Copies the files that git knows of into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=_ROOT, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        source, target = _ROOT / name, folder / name
        if source.is_file() and not name.startswith("docs/images/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def planted(text: str, fault: Fault) -> str:
    """The text of a file with a fault in it."""
    count = text.count(fault.old)
    if count != 1:
        raise SystemExit(
            f"Fault '{fault.name}': {fault.path} holds {fault.old!r} {count} times; expected once. "
            "Adapt tools/mutants/faults.py to the sources."
        )
    return text.replace(fault.old, fault.new)


def run_tests(folder: Path, tests: tuple[str, ...]) -> tuple[bool, str]:
    """Whether a test fails, and which one."""
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    env |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=_LONGEST
        )
    except subprocess.TimeoutExpired:
        return True, f"no end within {_LONGEST:.0f} s"
    found = _FAILED.search(done.stdout)
    if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not found):
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.returncode != 0, found[1] if found else ""


def main() -> int:
    """Plants the chosen faults; returns the number of survivors."""
    parser = argparse.ArgumentParser(description="Plants faults and runs the tests on each.")
    parser.add_argument("names", nargs="*", help="faults to plant; all if none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--list", action="store_true", help="print the faults and stop")
    given = parser.parse_args()
    unknown = set(given.names) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"unknown faults: {', '.join(sorted(unknown))}; --list names all of them")
    chosen = [fault for fault in FAULTS if not given.names or fault.name in given.names]
    if given.list:
        for fault in chosen:
            print(f"{fault.name}: {fault.path}: {fault.old!r} -> {fault.new!r}")
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_checkout(folder)
        for fault in chosen:
            path = folder / fault.path
            text = path.read_text(encoding="utf-8")
            path.write_text(planted(text, fault), encoding="utf-8")
            begin = time.perf_counter()
            is_caught, test = run_tests(folder, fault.tests)
            path.write_text(text, encoding="utf-8")
            seconds = round(time.perf_counter() - begin, 1)
            rows.append({"fault": fault.name, "caught": is_caught, "by": test, "seconds": seconds})
            verdict = f"caught by {test}" if is_caught else "SURVIVES"
            print(f"{fault.name}: {verdict} ({seconds} s)", file=sys.stderr, flush=True)
    survivors = [row["fault"] for row in rows if not row["caught"]]
    result = {"planted": len(rows), "caught": len(rows) - len(survivors), "survivors": survivors}
    print(json.dumps(result | {"rows": rows} if given.json else result, indent=2))
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
