"""The published metrics on real recordings, against an independent implementation's figures."""

from __future__ import annotations

import pytest

from benchmarks.recordings.bands import REFERENCES, bands
from benchmarks.recordings.metrics import describe, recorded_joints, skin_depth
from handwright.evidence import physical_realism, smoothness
from handwright.evidence.metrics.smoothness import smoothness_of
from handwright.io.manipnet.dataset import read_recording


def assert_within(name, **figures):
    for key, value in figures.items():
        low, high = bands(name)[key]
        assert low <= value <= high, f"{name}: {key} is {value:.4g}, not {low:.4g} to {high:.4g}"


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_published_metrics_fall_in_their_bands(manipnet_data, name):
    recording = read_recording(manipnet_data / "sequences" / f"{name}.npz")
    clip = recording.clip(fps=60.0)
    found = physical_realism(clip, recording.body.name)
    assert_within(
        name,
        acceleration=smoothness_of(recorded_joints(recording), clip.times).acceleration,
        acceleration_matched=smoothness(clip).acceleration,
        penetration=found.penetration,
        realism=found.percent,
    )


@pytest.mark.data
@pytest.mark.parametrize("name", REFERENCES)
def test_depth_of_the_recorded_skin_is_within_three_percent(manipnet_data, name):
    recording = read_recording(manipnet_data / "sequences" / f"{name}.npz")
    depth = 1e2 * skin_depth(recording)
    assert_within(name, skin_mean=depth[depth > 0.0].mean(), skin_max=depth.max())


def test_the_table_says_what_is_out_of_its_band():
    from rich.console import Console

    limits = bands("cup1")
    figures = {key: 0.5 * (low + high) for key, (low, high) in limits.items()}
    figures |= {"realism": 12.345, "counted": 321, "deepest": 1.5}
    figures["realism_sweep"] = {"inscribed": {"0": 1.0, "2": 2.0, "3": 12.3, "5": 50.0}}
    figures["bands"] = limits
    figures["in_band"] = {key: key != "realism" for key in limits}
    console = Console(width=110)
    with console.capture() as capture:
        console.print(describe({"recordings": {"cup1": figures}, "conventions": "as stated"}))
    said = capture.get()
    lines = [line for line in said.splitlines() if "NO" in line]
    assert len(lines) == 1
    assert "12.35" in lines[0]
    assert "60 to 96" in lines[0]
    assert "as stated" in said
    assert "321" in said
