"""The planner as users call it, by the public interface alone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import handwright as hw

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "find-a-grasp.md"


@pytest.fixture(scope="module")
def example() -> dict:
    """What the how-to's code leaves behind, block after block."""
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    return names


def test_the_how_to_finds_the_grasps_that_it_shows(example):
    assert not isinstance(example["grasp"], hw.NoGrasp), example["grasp"].reason
    assert not isinstance(example["taken"], hw.NoGrasp), example["taken"].reason
    parts = {contact.part for contact in example["grasp"].contacts}
    assert len(parts) >= hw.GRIP_STYLES["power"].least_handles


def test_a_grasp_lies_on_the_body_and_bears_its_weight(example):
    taken, box, pose = example["taken"], example["box"], example["on_table"]
    np.testing.assert_allclose(taken.root.position, example["shoulder"].position)
    half = 0.04
    for contact in taken.contacts:
        assert np.abs(contact.body_point).max() == pytest.approx(half, abs=1e-9)
        assert np.count_nonzero(np.abs(contact.inward) > 0.99) == 1
    total = np.sum([contact.force for contact in taken.contacts], axis=0)
    np.testing.assert_allclose(
        pose.rotate(total), [0.0, 0.0, 9.81 * box.mass], atol=1e-4 * 9.81 * box.mass
    )


def test_a_body_out_of_reach_gives_a_reason(example):
    far = hw.Pose(np.array([0.0, 3.0, 0.79]), np.array([1.0, 0.0, 0.0, 0.0]))
    found = hw.find_grasp(
        example["arm"],
        example["box"],
        "precision",
        pose=far,
        root=example["shoulder"],
        options=hw.GraspOptions(num_starts=1),
    )
    assert isinstance(found, hw.NoGrasp)
    assert "Try another style" in found.reason
