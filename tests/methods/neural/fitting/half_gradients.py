"""Derivatives of a digit's cost, as terms write them and as they are measured."""

from __future__ import annotations

from functools import partial

import numpy as np

from handwright.kernels.decorators import compiled
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import count_of, rig_of
from handwright.kinematics.ik.problem import make_work
from handwright.methods.neural.fitting.joint_table import wrist_links


@compiled
def _place(rig, links, digit, q):
    place_digit(rig, links, digit, q)


def _half_gradients(model, digit, q, terms):
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


def assert_derivatives(model, q, terms, *, atol=1e-5, least=0.0):
    """Whether the terms of every digit have the derivatives that are measured.

    ``terms(rig, links, work, digit)`` adds them and returns their cost; ``atol`` is a share of the
    largest derivative of a digit, which is more than ``least``.
    """
    for digit in range(len(model.digits)):
        own = partial(terms, digit=digit)
        written, measured = _half_gradients(model, digit, q, own)
        scale = np.abs(measured).max()
        assert scale > least
        np.testing.assert_allclose(written, measured, atol=atol * scale)
