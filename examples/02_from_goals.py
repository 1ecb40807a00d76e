"""A whole motion from goals: the hand finds out by itself how to pick up a ball.

Run: python examples/02_from_goals.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw

GOALS = """
name: ball_to_the_side
summary: a ball is picked up, carried to the side and held there
duration: 4.0
fps: 60
hands:
  right:
    model: human
    side: right
    pose: open
    start: {position: [0.035, -0.13, 0.925], turn_deg: [0, 0, 90]}
bodies:
  ball:
    shape: sphere
    size: {radius: 0.035}
    mass: 0.15
    friction: 0.8
    start: {position: [0.0, 0.0, 0.785]}
environment:
  - plane: {normal: [0, 0, 1], offset: 0.75, friction: 0.6}
goals:
  - {of: ball, from: 3.0, to: 4.0, position: [0.08, 0.0, 0.93]}
"""


def main(folder: Path) -> hw.Result:
    """Writes the goals, finds a motion for them, and keeps it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "ball_to_the_side.yaml"
    file.write_text(GOALS, encoding="utf-8")
    problem = hw.read_problem(file)
    result = hw.synthesize(problem, hw.ContactInvariant(), seed=0, throw=True)
    print(result.certificates[0].verdict)
    print(hw.evaluate(result.best))
    hw.export(result.best, folder / "ball_to_the_side.npz")
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
