"""The command that measures speed and exactness, with the benchmarks of a source checkout.

The installed package has no benchmarks.
"""

from __future__ import annotations

import importlib
import inspect
import json as json_module
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.console import make_console, unset
from handwright.errors import InvalidValueError, MissingExtraError, require

PACKAGE = Path(__file__).resolve().parents[1]
"""Folder of the package that is running."""
_BenchName = Literal[
    "kernels",
    "forces",
    "verify",
    "scenes",
    "sampling",
    "spread",
    "preferences",
    "trajopt",
    "stepwise",
    "recordings",
    "recorded-hand",
    "metrics",
    "neural",
    "neural-table",
    "neural-styles",
    "neural-live",
    "neural-shapes",
    "throwing",
    "studio",
]


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is measured; each benchmark takes some of them."""

    data: Annotated[Path | None, unset("FOLDER")] = None
    """Folder with the ManipNet recordings, for recordings, recorded-hand, metrics and neural."""
    motions: Annotated[Path | None, unset("DIR")] = None
    """Folder of 'handwright data make' whose test split is tried, for neural, neural-table and
    neural-styles."""
    model: Annotated[str | None, unset("MODELS")] = None
    """Folders of 'handwright train' with commas between them, the judged one first, for neural;
    those that are compared, for neural-styles; the one that guides the search, for recordings; the
    only one, for neural-live and neural-shapes."""
    scenes: Annotated[str | None, unset("NAMES")] = None
    """Some scenes with commas between them, for sampling, trajopt, stepwise and neural-shapes."""
    scene: Annotated[str | None, unset("NAME")] = None
    """The scene of spread."""
    num: Annotated[int | None, unset("INT")] = None
    """Motions for each scene, run, window or set, for sampling, preferences, recordings and
    neural-styles."""
    seeds: Annotated[int | None, unset("INT")] = None
    """Runs of each scene, for trajopt; of a thousand loops, for throwing."""
    budget: Annotated[float | None, unset("SECONDS")] = None
    """Search for each scene, run, window or set, s, for sampling, preferences, recordings, neural,
    neural-shapes and neural-styles."""
    windows: Annotated[int | None, unset("INT")] = None
    """Only so many windows, for recordings; certified motions of each group, for neural; motions
    that are tried, for neural-styles."""
    cases: Annotated[int | None, unset("INT")] = None
    """Only so many motions of each group of the test split, for neural and neural-table."""
    guided: Annotated[bool | None, unset("BOOL")] = None
    """Whether the recorded fingers guide the search, for recordings."""
    corrected: FlagCreatePairsOff[bool] = False
    """Whether tracks are corrected within bounds first, for recordings."""
    frames: Annotated[int | None, unset("INT")] = None
    """Explored by each search, for spread."""
    seconds: Annotated[int | None, unset("INT")] = None
    """Simulated time, s, for neural-live."""
    epochs: Annotated[int | None, unset("INT")] = None
    """Of each training, for neural-table."""
    loops: Annotated[int | None, unset("INT")] = None
    """Throws and catches in a row, for throwing."""
    positions: Annotated[int | None, unset("INT")] = None
    """Places of the box, for throwing."""
    balls: Annotated[int | None, unset("INT")] = None
    """Unknown balls, for throwing."""
    parts: Annotated[str | None, unset("NAMES")] = None
    """Some of heights, springs, balls, boxes, cans and scenes with commas between them, for
    throwing."""
    flips: Annotated[int | None, unset("INT")] = None
    """Half turns of a can after which a run ends, for throwing."""
    out: Annotated[Path | None, unset("FOLDER")] = None
    """Where networks are written, for neural-table; those that are there are not trained anew."""
    figure: Annotated[Path | None, unset("FILE.png")] = None
    """Picture (.png) to write, for spread."""


def bench(
    name: Annotated[Positional[_BenchName], tyro.conf.arg(metavar="NAME")] = "kernels",
    /,
    *,
    options: Annotated[BenchOptions, tyro.conf.arg(name="")],
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Measure speed and exactness against the tools and recordings one would compare with.

    kernels times kinematics, distances, inverse kinematics and ray casts beside mujoco, libigl and
    mink. forces times the contact force solvers beside Clarabel. verify times the certificate on a
    clip that passes, and on faults. scenes makes motions of every scene with the method that suits
    it and judges all that is returned once more. sampling times contact sampling on the five scenes
    of its paper, checks every motion, and times the test of one frame beside SLSQP and Clarabel.
    spread shows how much wider its search roams than the paper's plain one. preferences counts what
    wishes and edited problems change. trajopt makes motions for the scenes with goals, checks them,
    and times the solver beside L-BFGS-B with finite differences. stepwise steps through the scenes
    with grips, holds their ends, and pushes them beside a simulated hand with servos. recordings
    solves windows of the ManipNet recordings without their fingers and compares with them.
    recorded-hand fits the bones of the subject of these recordings and reports how far the recorded
    joints are missed, mm. metrics evaluates four of these recordings beside an independent
    implementation's figures. neural has networks of 'handwright train' move the fingers of motions
    that they have not seen, beside teachers, trivial baselines and the clock. neural-table trains
    networks that lack a sensor or a connection and compares them, the paper's Table 1. neural-live
    feeds a network ten minutes of tracked poses over a bad line and swaps objects. neural-shapes
    has a network move fingers around shapes and sizes, and in scenes, that it was not taught.
    neural-styles shows whether several learned motions of the same tracks differ in style. throwing
    throws balls to heights and at boxes, turns cans and counts what is caught. studio
    serves fifty clients and two hundred jobs, and measures the server while twelve clips are
    played. Benchmarks are run from a source checkout; the installed package has none.

    Args:
        name: What to measure; see above.
        options: What it is measured on.
        json: Print one JSON object instead of a table.
    """
    module = load_benchmark(name)
    wishes = asdict(options)
    given = {
        key: value for key, value in wishes.items() if value is not None and value is not False
    }
    known = inspect.signature(module.run).parameters
    foreign = [f"--{key}" for key in given if key not in known]
    if foreign:
        own = [f"--{key}" for key in wishes if key in known]
        raise InvalidValueError(
            f"'handwright bench {name}' was given {', '.join(foreign)}, which it does not take. "
            f"It takes {', '.join(own) or 'none of these options'}."
        )
    if "data" in known and known["data"].default is known["data"].empty and options.data is None:
        raise InvalidValueError(
            f"'handwright bench {name}' was given no recordings. "
            "Pass --data FOLDER, the folder that holds sequences/cube_med2.npz."
        )
    if name == "kernels":
        for peer in ("mink", "daqp"):
            require(peer, extra="dev", feature=f"'handwright bench {name}'")
    result = module.run(**given)
    if json:
        print(json_module.dumps(result))
    else:
        make_console().print(module.describe(result))


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
