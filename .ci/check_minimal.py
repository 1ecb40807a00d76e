"""Checks the smallest install: run with the interpreter of an environment without extras."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

ABSENT = ("torch", "onnxruntime", "jax", "pytest", "mink", "beartype", "gymnasium", "fastapi")


def run(*arguments: str) -> str:
    """Runs a command of this environment and returns what it printed."""
    command = [str(Path(sys.executable).with_name(arguments[0])), *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(*arguments: str) -> str:
    """Runs a command that has to fail and returns what it said."""
    command = [str(Path(sys.executable).with_name(arguments[0])), *arguments[1:]]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        raise SystemExit(f"{' '.join(arguments)} did not fail.")
    return done.stderr


def check_what_stays_behind() -> None:
    """Benchmarks and tools belong to the checkout, and ``bench`` says so."""
    if "source checkout" not in refused("handwright", "bench", "verify"):
        raise SystemExit("handwright bench does not say that benchmarks need a source checkout.")
    for name in ("benchmarks", "tools"):
        if importlib.util.find_spec(name) is not None:
            raise SystemExit(f"The wheel brought '{name}', which belongs to the checkout alone.")


def main() -> None:
    """Fails with a message at the first thing that does not hold."""
    unwanted = [name for name in ABSENT if importlib.util.find_spec(name) is not None]
    if unwanted:
        raise SystemExit(f"The base install brought {unwanted}; these belong in extras.")
    import handwright

    if Path(sys.prefix) not in Path(handwright.__file__).parents:
        raise SystemExit(f"handwright came from {handwright.__file__}, not from the wheel.")
    for name in handwright.__all__:
        getattr(handwright, name)
    for words in ("show", "bench", "demo"):
        if words not in run("handwright", "--help"):
            raise SystemExit(f"handwright --help does not name '{words}'.")
    if "milk_box_turn" not in run("handwright", "scenes"):
        raise SystemExit("handwright scenes does not list milk_box_turn.")
    handwright.load_scene("cooking")
    if "trident" not in run("handwright", "hands"):
        raise SystemExit("handwright hands does not list the trident.")
    page = Path(handwright.__file__).parent / "studio" / "page"
    for file in ("index.html", "report.html"):
        if not (page / file).is_file():
            raise SystemExit(f"The wheel lacks the studio's {file}.")
    if '"handwright[studio]"' not in refused("handwright", "studio", "--no-browser"):
        raise SystemExit("handwright studio does not say which extra it needs.")
    check_what_stays_behind()
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "box.png"
        run("handwright", "show", "box", str(picture), "--views", "2", "--size", "64")
        if not picture.read_bytes().startswith(b"\x89PNG"):
            raise SystemExit("handwright show box did not write a PNG file.")
    sys.stdout.write("The minimal install works.\n")


if __name__ == "__main__":
    main()
