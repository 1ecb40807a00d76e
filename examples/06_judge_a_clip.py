"""The judge alone: what a clip is worth, why a frame fails, and stated tolerances.

Run: python examples/06_judge_a_clip.py [FOLDER]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import handwright as hw


def main(folder: Path) -> hw.Certificate:
    """Spoils a motion on purpose and reads what the certificate says of it."""
    folder.mkdir(parents=True, exist_ok=True)
    problem = hw.load_scene("lift_cup")
    good = hw.synthesize(problem, hw.Stepwise(), seed=0, throw=True).best
    print(hw.certify(good).verdict)
    motion = good.hands["right"]
    stiff = hw.HandMotion(motion.root, 0.0 * motion.q + motion.q[0])
    spoilt = replace(good, hands={"right": stiff})
    certificate = hw.certify(spoilt)
    print(certificate.verdict)
    # Looser limits are allowed, and are part of the verdict.
    print(hw.certify(good, tolerances=hw.Tolerances(penetration=2e-3)).verdict)
    print(hw.evaluate(good))
    return certificate


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
