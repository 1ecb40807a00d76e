"""A body of your own on the tracks of a scene: here a can.

Run: python examples/04_own_body.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw
from handwright.core.editing import with_body


def main(folder: Path) -> hw.Result:
    """Exchanges the milk box for a can, and finds fingers for it.

    ``hw.load_body("can.obj", scale=0.001, mass=0.35, friction=0.8)`` reads a mesh of yours.
    """
    folder.mkdir(parents=True, exist_ok=True)
    can = hw.make_shape("cylinder", radius=0.033, height=0.12, mass=0.35)
    problem = with_body(hw.load_scene("milk_box_turn"), "milk_box", can, stand=True)
    result = hw.synthesize(problem, hw.ContactSampling(num_solutions=1), seed=0, throw=True)
    print(f"{result.certificates[0].verdict}; refused on the way: {dict(result.refused)}")
    hw.export(result.best, folder / "can.glb")
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
