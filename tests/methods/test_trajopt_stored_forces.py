"""Contacts and forces that trajectory optimisation stores agree with the frames of the clip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

from handwright.core.contact import ContactMode
from handwright.core.track import Track
from handwright.evidence import certify
from handwright.kinematics import link_poses
from handwright.mechanics.momentum import required_wrench
from handwright.methods import ContactInvariant
from handwright.methods.trajopt.stored_forces import settled


@pytest.fixture(scope="module")
def clip():
    return solved("pick_ball", ContactInvariant(time_budget=600.0)).best


def left_over(clip):
    """What stored forces leave of the needed force in every frame with hands only, in weights."""
    (body,) = clip.bodies
    asked = required_wrench(Track(clip.times, clip.bodies[body]), clip.problem.bodies[body])
    total = np.zeros((clip.num_frames, 3))
    np.add.at(total, clip.contacts.frame, clip.contacts.force)
    weight = 9.81 * clip.problem.bodies[body].mass
    held = np.zeros(clip.num_frames, dtype=bool)
    held[clip.contacts.frame] = True
    held[[0, -1]] = False
    return np.linalg.norm(asked.force - total, axis=1)[held] / weight


def test_forces_that_leave_a_little_are_made_to_balance(clip):
    weak = replace(clip, contacts=replace(clip.contacts, force=0.96 * clip.contacts.force))
    assert left_over(weak).max() > 0.03
    assert "stored_balance" in certify(weak).reasons
    before, after = left_over(weak), left_over(settled(weak))
    assert np.all(after <= before + 1e-9)
    # Where friction leaves no room for all of it, a part is corrected.
    assert np.mean(after < 2e-3) > 0.95
    assert certify(settled(weak)).passed


def test_what_is_a_fault_of_the_motion_is_left_alone(clip):
    weak = replace(clip, contacts=replace(clip.contacts, force=0.7 * clip.contacts.force))
    np.testing.assert_array_equal(settled(weak).contacts.force, weak.contacts.force)


def test_a_light_contact_that_still_moves_at_its_first_frame_is_left_out(clip):
    table, (hand,) = clip.contacts, clip.hands
    mine = np.flatnonzero(table.toucher == table.touchers.index(hand))
    first = mine[np.argmin(table.frame[mine])]
    frame, part = int(table.frame[first]), int(table.part[first])
    model, motion = clip.problem.hands[hand], clip.hands[hand]
    # A contact in the air, in the frame before the grasp in which the hand moves fastest.
    _, positions = link_poses(model, motion.q, motion.root)
    link = model.capsules.link[part]
    steps = np.linalg.norm(np.diff(positions[: frame - 2, link], axis=0), axis=1)
    early = int(steps.argmax())
    assert early > 0
    assert steps[early] > 1e-3

    def added(force):
        columns = {
            "frame": early, "toucher": table.toucher[first], "part": part,
            "body": table.body[first], "point": positions[early, link],
            "normal": table.normal[first], "gap": 0.0, "force": force,
            "mode": int(ContactMode.STATIC),
        }  # fmt: skip
        order = np.argsort(np.append(table.frame, early), kind="stable")
        return replace(
            table,
            **{
                name: np.concatenate([getattr(table, name), np.array([value])])[order]
                for name, value in columns.items()
            },
        )

    weight = 9.81 * next(iter(clip.problem.bodies.values())).mass
    light = replace(clip, contacts=added(0.01 * weight * table.normal[first]))
    assert len(settled(light).contacts) == len(settled(clip).contacts)
    # One that bears weight is no accident of the frames, and stays to be judged.
    heavy = replace(clip, contacts=added(0.5 * weight * table.normal[first]))
    assert len(settled(heavy).contacts) == len(settled(clip).contacts) + 1
