"""The published metrics on real recordings, against an independent implementation's figures.

Its realism figures were made with its own capsules and an unstated pyramid. With the four edges at
the corners of the square around the friction cone ours fall in the bands below. With edges on the
cone, the default, two of the four fall just short: 68.5 % (cube_med2) and 97.3 % (mug1); cup1 and
teapot2 give 61.1 % and 82.0 %.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.benchmarks.recorded_hand import matched_hand, reproduce
from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.evidence import PublishedConventions, physical_realism, smoothness
from handwright.geometry import floor
from handwright.geometry.mesh import load_body
from handwright.io.manipnet import read_hand
from handwright.math import rotation
from handwright.math.pose import Pose

TO_Z_UP = Pose(np.zeros(3), rotation.exp(np.array([np.pi / 2, 0.0, 0.0])))
HALF_TURN = Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
# cube_med2 repeats its last frame from here on.
LAST = 4050


def recorded_clip(data, name):
    """A recording at 60 Hz, its hands matched by bones and inverse kinematics."""
    path = data / "sequences" / f"{name}.npz"
    arrays = np.load(path)
    thing = str(arrays["object_names"][0])
    body = load_body(data / "objects" / f"{thing}.obj", repair=True)

    def pose(prefix):
        place = arrays[f"{prefix}_pos"][:LAST:2].astype(float)
        turn = arrays[f"{prefix}_quat_wxyz"][:LAST:2].astype(float)
        return TO_Z_UP @ Pose.normalized(place, turn)

    track = pose(f"object_{thing}")
    hands, motions = {}, {}
    for side in ("left", "right"):
        recorded = read_hand(path, side)
        hands[side] = matched_hand(recorded)
        cut = replace(
            recorded, position=recorded.position[:LAST], thumb_base=recorded.thumb_base[:LAST]
        )
        q, _ = reproduce(hands[side], cut, stride=2)
        wrist = pose(f"{side}_wrist")
        motions[side] = HandMotion(wrist @ HALF_TURN if side == "left" else wrist, q)
    low = [one.apply(body.vertices)[:, 2].min() for one in track]
    times = np.arange(len(track)) / 60.0
    problem = Problem(
        name, times, hands, {"thing": body}, environment=(floor(float(np.percentile(low, 1))),)
    )
    made = Provenance(name, "recording")
    return Clip(problem, times, motions, {"thing": track}, ContactTrack.empty(), made)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "acceleration", "penetration", "lowest", "highest"),
    [
        ("cube_med2", 153.0, 0.41, 70.0, 93.0),
        ("cup1", 182.0, 0.28, 60.0, 96.0),
        ("mug1", 91.0, 0.35, 99.0, 100.0),
        ("teapot2", 106.0, 0.44, 72.0, 96.0),
    ],
)
def test_published_metrics_fall_in_their_bands(
    manipnet_data, name, acceleration, penetration, lowest, highest
):
    clip = recorded_clip(manipnet_data, name)
    assert smoothness(clip).acceleration == pytest.approx(acceleration, rel=0.08)
    found = physical_realism(clip, "thing", PublishedConventions(cone="circumscribed"))
    assert 0.75 < found.penetration / penetration < 1.4
    assert lowest <= found.percent <= highest
