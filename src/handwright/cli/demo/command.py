"""The command that shows at once what the package does."""

from __future__ import annotations

import importlib
from pathlib import Path

from tyro.conf import FlagCreatePairsOff

from handwright.cli.console import writable_folder


def demo(
    *,
    out: Path = Path("out/demo"),
    num_solutions: int = 10,
    num_workers: int = 2,
    seed: int = 0,
    shapes: FlagCreatePairsOff[bool] = False,
) -> None:
    """Make ten certified ways to turn a milk box, and draw them.

    Writes every motion as a clip (.npz) and for Blender and game engines (.glb), a picture of
    some of them, and prints what they are worth. The first run on a machine also compiles.

    Args:
        out: Folder for the results; made if it is not there.
        num_solutions: How many different motions.
        num_workers: Processes; the motions do not depend on it.
        seed: Random seed; the same seed gives the same result.
        shapes: Pose the hand on ten shapes and draw it instead.
    """
    folder = writable_folder(out)
    if shapes:
        importlib.import_module("handwright.cli.demo.shapes").run(folder)
        return
    importlib.import_module("handwright.cli.demo.motions").run(
        folder, num_solutions=num_solutions, num_workers=num_workers, seed=seed
    )
