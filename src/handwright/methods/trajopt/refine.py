"""The same motion with key states twice as dense.

Forces are continuous at keys, so accelerations of a held body are too; with coarse keys it can
neither leave the table softly nor stop softly, and floats. A second pass on finer keys mends that.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.transcribe import Built, make_room
from handwright.methods.trajopt.solver.system import fill_sample


def refined_keys(built: Built, keys: Float[np.ndarray, "K n"]) -> Float[np.ndarray, "L n"]:
    """Key states with one more in the middle of every phase; the motion stays as it is."""
    m, room = built.model, make_room(built.model)
    packed, bench = Packed(m), Packed(room)
    size = keys.shape[1]
    phases = len(m.clearance)
    dense = []
    for k in range(phases):
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, bench)
        dense += [keys[k], room.z[:size].copy()]
    if not m.is_cyclic:
        dense.append(keys[-1])
    return np.array(dense)
