"""The network of the package does what its card says, on motions that the repository keeps."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from handwright.learning.data.motion import load_motions
from handwright.methods.neural.network.runtime import SHIPPED, SHIPPED_FOLDER, load_network
from tools.ship_weights import SMALL_SET, small_set_figures

CARD = json.loads((SHIPPED_FOLDER / "model.json").read_text())


def test_the_card_tells_the_figures_of_the_small_set():
    said, found = CARD["small_set"], small_set_figures(load_network(SHIPPED))
    # Floating-point sums differ from machine to machine, and a closed loop carries that on.
    assert found["realism"] == pytest.approx(said["realism"], abs=2.0)
    assert found["penetration"] == pytest.approx(said["penetration"], abs=0.02)
    assert found["smoothness"] == pytest.approx(said["smoothness"], rel=0.1)
    assert found["joint_error"] == pytest.approx(said["joint_error"], rel=0.1)


def test_the_small_set_was_not_learned():
    motions = list(load_motions(SMALL_SET))
    assert len(motions) >= 3
    assert {motion.split for motion in motions} == {"test"}


def test_it_is_small_and_free():
    assert sum(file.stat().st_size for file in SHIPPED_FOLDER.iterdir()) <= 15e6
    assert load_network(SHIPPED).facts.license == CARD["license"] == "Apache-2.0"
    assert CARD["command"].startswith("handwright train")
