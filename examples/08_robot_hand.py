"""A robot hand instead of a human one: out to MJCF, in again, and put to work.

Run: python examples/08_robot_hand.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw


def main(folder: Path) -> hw.Result:
    """Writes a three-finger hand as MJCF, and picks up a ball with it."""
    folder.mkdir(parents=True, exist_ok=True)
    hand = hw.trident()
    file = folder / "trident.xml"
    file.write_text(hw.to_mjcf(hand), encoding="utf-8")
    print(f"{hand.name}: {hand.num_joints} joints, {len(hand.digits)} digits, see {file}")
    problem = hw.load_scene("trident_pick")
    result = hw.synthesize(problem, hw.ContactInvariant(), seed=0, throw=True)
    print(result.certificates[0].verdict)
    hw.export(result.best, folder / "trident_pick.npz")
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
