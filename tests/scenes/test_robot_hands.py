"""Files of goals with hands from robot files."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.errors import FileFormatError
from handwright.hands import trident
from handwright.physics import to_mjcf

TEXT = """
name: robot
duration: 1
hands:
  robot: {{model: trident.xml, mapping: {mapping}, pose: closed, start: {{position: [0, 0, 1]}}}}
bodies:
  ball: {{shape: sphere, start: {{position: [0, 0, 1.2]}}}}
goals:
  - {{of: ball, at: 1, position: [0, 0, 1.3]}}
"""
DIGITS = "{thumb: thumb_distal, finger1: finger1_distal, finger2: finger2_distal}"


@pytest.fixture
def read(tmp_path):
    def reader(mapping: str):
        (tmp_path / "trident.xml").write_text(to_mjcf(trident()))
        (tmp_path / "goals.yaml").write_text(TEXT.format(mapping=mapping))
        return hw.read_problem(tmp_path / "goals.yaml")

    return reader


def test_a_robot_file_is_read_with_its_mapping(read):
    model = read(f"{{root: root, digits: {DIGITS}, poses: {{closed: {{thumb_proximal: 0.4}}}}}}")
    robot = model.hands["robot"]
    assert [digit.name for digit in robot.digits] == ["thumb", "finger1", "finger2"]
    assert robot.num_joints == trident().num_joints
    posture = model.posture("robot")
    assert posture[robot.joints.index("thumb_proximal")] == pytest.approx(0.4)
    assert np.count_nonzero(posture) == 1


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        ("~", "mapping is None; expected what is what in 'trident.xml': one of shadow, or root"),
        ("shadw", "Unknown mapping 'shadw'. Did you mean 'shadow'?"),
        ("shadow", "Unknown body of 'trident.xml' 'robot0:palm'"),
        ("{rot: root}", "Unknown key of mapping 'rot'. Did you mean 'root'?"),
        ("{root: 3, digits: 4}", "mapping of 'trident.xml': root: Input should be a valid string"),
        ("{root: root, digits: {}}", "names no digits"),
    ],
)
def test_a_wrong_mapping_is_told_with_its_line(read, mapping, text):
    with pytest.raises(FileFormatError) as caught:
        read(mapping)
    assert "  - line 5, hands.robot: " in str(caught.value)
    assert text in str(caught.value)
