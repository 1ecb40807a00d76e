"""The same motion mirrored, turned about gravity or at twice the rate is judged the same.

The bands are those of docs/certificate.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pinch_lift import pinch_lift
from scripted_clips import (
    creeping,
    floating,
    lift_clip,
    mirrored,
    moved,
    sinking,
    with_judged_forces,
)

from handwright.core.contact import ContactTrack
from handwright.evidence import certify, evaluate
from handwright.math import rotation
from handwright.math.pose import Pose

TURNED = Pose(np.array([0.4, -0.2, 0.0]), rotation.exp(np.array([0.0, 0.0, 1.1])))
SYMMETRY_BAND = 1e-3
"""Relative, for mirrored and turned clips."""
RATE_BAND = 0.02
"""Relative, for a clip at twice the rate."""
CONTACT_BAND = 0.1
"""The same for means over contacts, which begin and end with a frame."""
DRIFT_BAND = 1e-4
"""The same for drift, which is counted from the frame in which a contact begins, m."""
COUNTS = ("frames", "rate", "counted_frames", "smoothness_rate")


@pytest.fixture(scope="module")
def clips():
    return {"lift": with_judged_forces(lift_clip())[0], "pinch": pinch_lift(fps=30.0)}


def worst(certificate):
    return {check.name: check.worst for check in certificate.checks}


def metrics(clip):
    return {metric.name: metric.value for metric in evaluate(clip).metrics}


@pytest.mark.parametrize("name", ["lift", "pinch"])
@pytest.mark.parametrize("image", [mirrored, lambda clip: moved(clip, TURNED)])
def test_mirrored_and_turned_clips_keep_verdict_and_metrics(clips, name, image):
    clip = clips[name]
    here, there = certify(clip), certify(image(clip))
    assert here.reasons == there.reasons == ()
    assert worst(there) == pytest.approx(worst(here), rel=SYMMETRY_BAND, abs=1e-6)
    before, after = metrics(clip), metrics(image(clip))
    assert after == pytest.approx(before, rel=SYMMETRY_BAND, abs=1e-6)
    for one, two in zip(here.frames, there.frames, strict=True):
        depth = [record.penetration for record in two.bodies.values()]
        assert depth == pytest.approx([r.penetration for r in one.bodies.values()], abs=1e-6)
        assert two.torque_share == pytest.approx(one.torque_share, rel=1e-3, abs=1e-6)


def test_faults_stay_faults_in_the_mirror_and_at_twice_the_rate():
    for fault, name in ((sinking, "penetration"), (creeping, "slip"), (floating, "force_residual")):
        assert certify(mirrored(fault(lift_clip()))).reasons == (name,)
        assert certify(fault(lift_clip(frames=81))).reasons == (name,)


@pytest.mark.parametrize(
    ("coarse", "fine"),
    [
        (lift_clip, lambda: lift_clip(frames=81)),
        (lambda: pinch_lift(fps=60.0), lambda: pinch_lift(fps=120.0)),
    ],
    ids=["lift", "pinch"],
)
def test_twice_the_rate_keeps_verdict_and_metrics(coarse, fine):
    coarse = replace(coarse(), contacts=ContactTrack.empty())
    fine = replace(fine(), contacts=ContactTrack.empty())
    assert fine.num_frames == 2 * coarse.num_frames - 1
    here, there = certify(coarse), certify(fine)
    assert here.reasons == there.reasons == ()
    for check, value in worst(there).items():
        band = DRIFT_BAND if check == "slip" else 1e-6
        assert value == pytest.approx(worst(here)[check], rel=RATE_BAND, abs=band), check
    before, after = metrics(coarse), metrics(fine)
    for metric, value in after.items():
        if metric.split(".")[-1] in COUNTS:
            continue
        is_mean = "contact_" in metric or "contacts_" in metric
        band = CONTACT_BAND if is_mean else RATE_BAND
        assert value == pytest.approx(before[metric], rel=band, abs=1e-6), metric


def test_tipping_the_world_over_changes_the_forces():
    """The sameness above is no blindness."""
    lift = lift_clip()
    tipped = certify(moved(lift, Pose(np.zeros(3), rotation.exp(np.array([1.5, 0.0, 0.0])))))
    here, there = (c.frames[3].bodies["ball"].contacts for c in (certify(lift), tipped))
    largest = [max(np.linalg.norm(c.force) for c in contacts) for contacts in (here, there)]
    assert abs(largest[0] - largest[1]) > 0.02 * largest[0]
