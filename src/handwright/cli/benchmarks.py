"""Benchmarks of a source checkout, for the command ``bench``; none are in the installed package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from handwright.errors import InvalidValueError, MissingExtraError

PACKAGE = Path(__file__).resolve().parents[1]
"""Folder of the package that is running."""


def load_benchmark(name: str) -> ModuleType:
    """The module of a benchmark, which has ``run`` and ``describe``.

    Args:
        name: A key of ``benchmarks.MODULES``.

    Raises:
        MissingExtraError: This package does not run from a source checkout.
        InvalidValueError: The process has imported somebody else's package ``benchmarks``.
    """
    folder = _checkout(name) / "benchmarks"
    if str(folder.parent) not in sys.path:
        # In front of everything, for other packages also install a folder of this name.
        sys.path.insert(0, str(folder.parent))
    ours = importlib.import_module("benchmarks")
    if ours.__file__ is None or Path(ours.__file__).resolve().parent != folder:
        raise InvalidValueError(
            f"'handwright bench' needs the package '{folder}', but another one, {ours}, "
            "has already been imported under that name. Run the command in a process of its own."
        )
    return importlib.import_module(ours.MODULES[name])


def _checkout(name: str) -> Path:
    """Root of the checkout whose ``src`` folder holds this package."""
    root = PACKAGE.parents[1]
    if PACKAGE.parent.name != "src" or not (root / "benchmarks" / "__init__.py").is_file():
        raise MissingExtraError(
            f"'handwright bench {name}' runs from a source checkout: benchmarks are not part of "
            f"the installed package in '{PACKAGE}'. Fetch the repository, run "
            'pip install --editable ".[dev]" in it, and give this command again.'
        )
    return root
