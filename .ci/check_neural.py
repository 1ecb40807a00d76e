"""Checks the extra that runs networks: small, and without torch. Run after check_minimal.py.

Takes the folder of the checkout, and installs the extra into the environment it is run with.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

MOST_BYTES = 60e6
"""What the extra may add to the smallest install."""


def installed_bytes() -> int:
    """Size of all packages of this environment."""
    site = Path(sysconfig.get_paths()["purelib"])
    return sum(file.stat().st_size for file in site.rglob("*") if file.is_file())


def loading_says() -> str:
    """What is said to somebody who loads a file that is no network."""
    from handwright.errors import HandwrightError
    from handwright.methods.neural.network.runtime import load_network

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        path.write_bytes(b"no network")
        try:
            load_network(path)
        except HandwrightError as error:
            return str(error)
    raise SystemExit("A file that is no network was loaded.")


def main(checkout: str) -> None:
    """Fails with a message at the first thing that does not hold."""
    if '"handwright[neural]"' not in loading_says():
        raise SystemExit("Without its extra a network does not say which one it needs.")
    before = installed_bytes()
    subprocess.run(
        [
            sys.executable,
            *("-m", "pip", "install", "--quiet"),
            *("--constraint", f"{checkout}/constraints.txt", f"{checkout}[neural]"),
        ],
        check=True,
    )
    added = installed_bytes() - before
    if not 0 < added < MOST_BYTES:
        raise SystemExit(f"handwright[neural] added {added / 1e6:.1f} MB; at most 60 are allowed.")
    for name in ("torch", "onnx", "sympy"):
        if importlib.util.find_spec(name) is not None:
            raise SystemExit(f"handwright[neural] brought '{name}'.")
    importlib.invalidate_caches()
    if "is no ONNX file" not in loading_says():
        raise SystemExit("With its extra a damaged network is not told to be one.")
    sys.stdout.write(f"The extra neural works and adds {added / 1e6:.1f} MB.\n")


if __name__ == "__main__":
    main(sys.argv[1])
