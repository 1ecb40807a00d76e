"""Directing a motion: quiet fingers, a precision grip, and a part that is kept.

Run: python examples/05_direct_the_fingers.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw


def main(folder: Path) -> tuple[hw.Clip, hw.Clip]:
    """Finds a motion without the little finger, then varies it with thumb and index kept."""
    folder.mkdir(parents=True, exist_ok=True)
    problem = hw.load_scene("milk_box_turn")
    quiet = hw.ContactSampling(num_solutions=1, no_contact=(hw.NoContact(("little",)),))
    first = hw.synthesize(problem, quiet, seed=2, throw=True).best
    kept = quiet.keeping(first, digits=("thumb", "index"))
    second = hw.synthesize(problem, kept, seed=3, throw=True).best
    hw.export(first, folder / "quiet.npz")
    hw.export(second, folder / "varied.npz")
    joints = problem.hands["right"].joints.names
    change = abs(first.hands["right"].q - second.hands["right"].q).max(axis=0)
    for name, most in zip(joints, change, strict=True):
        if name.endswith("mcp_flexion"):
            print(f"{name} differs by {most:.3f} rad at most")
    return first, second


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
