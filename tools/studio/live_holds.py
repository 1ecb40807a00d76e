"""Finds where hands hold the props of the studio's live tab: ``python -m tools.studio.live_holds``.

Takes a good quarter of an hour where the planner's cache is empty.
"""

from __future__ import annotations

import numpy as np

from handwright.learning.data.handovers import handover
from handwright.learning.data.holds import Hold, holds_of
from handwright.studio.live.fingers.props import HOLDS, prop_kinds


def main() -> None:
    """Writes the file anew."""
    rows: dict[str, np.ndarray] = {}
    for name, (kind, thing) in prop_kinds().items():
        holds = holds_of(kind, thing)
        found = [
            handover(thing, hold, number, kind.mirror, "right") for number, hold in enumerate(holds)
        ]
        partners = [None if one is None else one.taker for one in found]
        free = sum(partner is not None for partner in partners)
        print(f"{name}: {len(holds)} holds, {free} with room for the other hand", flush=True)
        rows[f"{name}/grip"] = np.array([hold.grip for hold in holds])
        rows[f"{name}/hold"] = np.array([_row(hold) for hold in holds], dtype=np.float32)
        nothing = np.full_like(_row(holds[0]), np.nan)
        given = [nothing if partner is None else _row(partner) for partner in partners]
        rows[f"{name}/partner"] = np.array(given, dtype=np.float32)
    np.savez_compressed(HOLDS, **rows)  # type: ignore[arg-type]


def _row(hold: Hold) -> np.ndarray:
    """Place of the wrist, its orientation, and joint values."""
    return np.concatenate([hold.wrist.position, hold.wrist.wxyz, hold.q])


if __name__ == "__main__":
    main()
