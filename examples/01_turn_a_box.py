"""Fingers for given tracks: three different ways in which a hand turns a milk box.

Run: python examples/01_turn_a_box.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import handwright as hw


def main(folder: Path) -> hw.Result:
    """Makes the motions, says what they are worth, and writes them as .glb files."""
    folder.mkdir(parents=True, exist_ok=True)
    problem = hw.load_scene("milk_box_turn")
    result = hw.synthesize(problem, hw.ContactSampling(num_solutions=3), seed=0)
    print(result.status.value)
    for number, (clip, certificate) in enumerate(
        zip(result.clips, result.certificates, strict=True)
    ):
        print(f"motion {number}: {certificate.verdict}")
        hw.export(clip, folder / f"turn_{number}.glb")
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples"))
