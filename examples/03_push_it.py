"""A hand that reacts: a lifted cup is pushed while it is carried.

Run: python examples/03_push_it.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import handwright as hw

STEP = 1.0 / 30.0
"""Length of a frame, s."""


def main(folder: Path) -> hw.Clip:
    """Steps the scene frame by frame, as a game would, with a push in the middle."""
    folder.mkdir(parents=True, exist_ok=True)
    session = hw.Session(hw.load_scene("lift_cup"))
    center = session.problem.bodies["cup"].center
    for _ in range(90):
        now = session.time
        push = hw.Push("cup", now, now + STEP, center, np.array([0.0, 2.0, 0.0]))
        moment = session.step(STEP, pushes=[push] if 1.5 <= now < 1.6 else [])
    print(f"the cup is {moment.bodies['cup'].position.round(3).tolist()} m from the origin")
    print(f"{len(moment.contacts)} contacts, {session.tally.frames} frames")
    clip = session.clip("stepwise")
    print(hw.certify(clip).verdict)
    hw.export(clip, folder / "pushed_cup.npz")
    return clip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
