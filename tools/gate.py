"""Digests of eight small motions: whether a change of the code changes its results.

``python -m tools.gate --write FILE`` before a change, ``python -m tools.gate --check FILE`` after
it. A commit that only moves or renames keeps all digests; one that changes results says so and
why. Digests hold for one machine and one set of packages, so they are not kept in the repository.
Only the public interface is used, so that the same script runs on both sides of a move.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import handwright as hw

_LONG = 600.0
"""s: budgets that never run out, so that the speed of the machine plays no part."""


def _cases() -> dict[str, tuple[str, Any]]:
    """Scene and method by name: at least two of each family, and one with two hands in each."""
    sampling = hw.ContactSampling(num_solutions=1, time_budget=_LONG)
    trajopt = hw.ContactInvariant(num_solutions=1, time_budget=_LONG)
    return {
        "sampling_turn": ("milk_box_turn", sampling),
        "sampling_slide": ("spatula", sampling),
        "sampling_two_hands": ("small_box_two_hands", sampling),
        "trajopt_pick": ("pick_ball", trajopt),
        "trajopt_two_hands": ("two_hands_lift", trajopt),
        "stepwise_lift": ("lift_cup", hw.Stepwise()),
        "stepwise_pushed": ("gift_box_pushed", hw.Stepwise()),
        "stepwise_two_hands": ("hammer_nail", hw.Stepwise()),
    }


def digest(clip: hw.Clip) -> str:
    """Of every array of a motion, in a fixed order."""
    total = hashlib.sha256()
    arrays = [clip.times]
    for _, motion in sorted(clip.hands.items()):
        arrays += [motion.root.position, motion.root.wxyz, motion.q]
    for _, pose in sorted(clip.bodies.items()):
        arrays += [pose.position, pose.wxyz]
    table = clip.contacts
    arrays += [table.frame, table.toucher, table.part, table.body, table.mode]
    arrays += [table.point, table.normal, table.gap, table.force]
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def measure(names: list[str]) -> dict[str, str]:
    """Digests by name of the case."""
    found = {}
    for name, (scene, method) in _cases().items():
        if names and name not in names:
            continue
        begin = time.perf_counter()
        result = hw.synthesize(hw.load_scene(scene), method, seed=0)
        found[name] = digest(result.best)
        seconds = time.perf_counter() - begin
        print(f"{name}: {found[name]} ({result.status.name}, {seconds:.1f} s)", flush=True)
    return found


def main() -> int:
    """Writes digests or compares them; returns how many differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", type=Path, metavar="FILE", help="write the digests there")
    group.add_argument("--check", type=Path, metavar="FILE", help="compare them with these")
    parser.add_argument("cases", nargs="*", help="some of the eight; all if none is named")
    given = parser.parse_args()
    found = measure(given.cases)
    if given.write:
        given.write.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        return 0
    before = json.loads(given.check.read_text(encoding="utf-8"))
    changed = [name for name in found if before.get(name) != found[name]]
    print(f"changed: {', '.join(changed)}" if changed else f"all {len(found)} as before")
    return len(changed)


if __name__ == "__main__":
    sys.exit(main())
