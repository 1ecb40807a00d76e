"""The same motion with key states twice as dense.

Forces are continuous at keys, so accelerations of a held body are too. With coarse keys the body
can neither leave the table gently nor stop gently, and floats; passes on finer keys correct that.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_workspace
from handwright.methods.trajopt.solver.system import fill_sample


def refined_keys(
    transcription: Transcription, keys: Float[np.ndarray, "K n"]
) -> Float[np.ndarray, "L n"]:
    """Key states with one more in the middle of every phase; the motion stays as it is."""
    m, work = transcription.model, make_workspace(transcription.model)
    packed, packed_work = Packed(m), Packed(work)
    size = keys.shape[1]
    phases = m.num_phases
    dense = []
    for k in range(phases):
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, packed_work)
        dense += [keys[k], work.z[:size].copy()]
    if not m.is_cyclic:
        dense.append(keys[-1])
    return np.array(dense)
