"""Forces of many frames at once, and leaps of many joints at once."""

from __future__ import annotations

import numpy as np

from handwright.contact.leaps import jumping_steps
from handwright.mechanics import force_contacts, least_forces
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.mechanics.wrench import ForceContacts


def test_forces_of_frames_are_those_of_each_frame():
    rng = np.random.default_rng(3)
    first = np.cumsum([0, 6, 2, 0, 4, 3])
    normals = rng.normal(size=(first[-1], 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    contacts = force_contacts(-0.03 * normals, normals, friction=rng.uniform(0.2, 1.0, first[-1]))
    wrench = rng.normal(size=(5, 6)) * [1.0, 1.0, 1.0, 0.01, 0.01, 0.01]
    found = forces_of_frames(contacts, first, wrench, force_scale=1.0, length_scale=0.03)
    for t in range(5):
        here = slice(first[t], first[t + 1])
        own = ForceContacts(*(column[here] for column in contacts))
        alone = least_forces(own, wrench[t], force_scale=1.0, length_scale=0.03)
        np.testing.assert_array_equal(found.forces[here], alone.forces)
        np.testing.assert_array_equal(found.residual[t], alone.residual)


def test_joints_side_by_side_leap_as_they_do_alone():
    rng = np.random.default_rng(0)
    times = np.arange(31) / 30.0
    speed = rng.uniform(0.0, 1.0, size=(30, 4))
    speed[12, 1] = speed[29, 3] = 40.0
    together = jumping_steps(speed, times, 8.0)
    alone = [jumping_steps(column, times, 8.0) for column in speed.T]
    np.testing.assert_array_equal(together, np.transpose(alone))
    assert np.argwhere(together).tolist() == [[12, 1], [29, 3]]
