"""Derivatives of a digit's cost, as terms write them and as they are measured."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import compiled
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import count_of, rig_of
from handwright.kinematics.ik.problem import make_work
from handwright.methods.neural.fitting.joint_table import wrist_links


@compiled
def _place(rig, links, digit, q):
    place_digit(rig, links, digit, q)


def half_gradients(model, digit, q, terms):
    """Half the derivative of the cost by the free joints: as the terms write it, and measured."""
    rig, links, work = rig_of(model), wrist_links(model), make_work()
    free = rig.table.free[digit, : count_of(rig.table.free, digit)]

    def cost(posture):
        posture = posture.copy()
        _place(rig, links, digit, posture)
        work.gradient[:] = 0.0
        work.matrix[:] = 0.0
        return terms(rig, links, work)

    measured = []
    for joint in free:
        step = np.zeros(len(q))
        step[joint] = 1e-6
        measured.append((cost(q + step) - cost(q - step)) / 4e-6)
    cost(q)
    return work.gradient[0, : len(free)].copy(), np.array(measured)
