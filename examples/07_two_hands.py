"""Two hands and one body: a small box is turned over between them.

Run: python examples/07_two_hands.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw


def main(folder: Path) -> hw.Result:
    """Finds a motion of both hands and says which of them bears the box when."""
    folder.mkdir(parents=True, exist_ok=True)
    problem = hw.load_scene("small_box_two_hands")
    result = hw.synthesize(problem, hw.ContactSampling(num_solutions=1), seed=0, throw=True)
    contacts = result.best.contacts
    for hand in problem.hands:
        mine = contacts.toucher == contacts.touchers.index(hand)
        frames = len(set(contacts.frame[mine].tolist()))
        print(f"the {hand} hand touches the box in {frames} of {result.best.num_frames} frames")
    hw.export(result.best, folder / "two_hands.glb")
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
