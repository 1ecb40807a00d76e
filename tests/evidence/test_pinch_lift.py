"""Thumb and index finger lift a block: a scripted motion with forces that must be certified."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinch_lift as example
import pytest

import handwright as hw
from handwright.core.contact import ENVIRONMENT
from handwright.evidence import Tolerances, certify
from handwright.kinematics import posed_pads


@pytest.fixture(scope="module")
def clip():
    return example.pinch_lift()


@pytest.fixture(scope="module")
def certificate(clip):
    return certify(clip)


def lifted(clip):
    return np.flatnonzero(clip.bodies["block"].position[:, 2] > example.TABLE + 0.05)


def test_it_is_certified_with_its_own_forces(certificate):
    assert certificate.reasons == (), str(certificate)
    assert certificate.verdict == "certified"
    assert certificate.check("stored_balance").detail == ""
    assert certificate.check("stored_balance").worst < 1e-3


def test_it_says_which_version_made_it(clip):
    assert clip.provenance.version == hw.__version__


def test_only_thumb_and_index_hold_the_block_and_it_rises(clip, certificate):
    frames = lifted(clip)
    assert len(frames) > 40
    weight = 9.81 * clip.problem.bodies["block"].mass
    for t in frames:
        contacts = certificate.frames[t].bodies["block"].contacts
        assert {contact.part for contact in contacts} == {"thumb_distal", "index_distal"}
        for contact in contacts:
            assert np.linalg.norm(contact.force) > 0.5 * weight
    assert clip.bodies["block"].position[-1, 2] - example.TABLE > 0.15


def test_the_load_passes_from_the_table_to_the_fingers(clip):
    def carried(t, toucher):
        return sum(c.force[2] for c in clip.contacts.at(t) if c.toucher == toucher)

    weight = 9.81 * clip.problem.bodies["block"].mass
    assert carried(10, ENVIRONMENT) == pytest.approx(weight, rel=1e-5)
    assert carried(10, "hand") == 0.0
    half = round(0.5 * (example.CLOSING[1] + example.LIFTING[0]) * example.FPS)
    assert 0.3 * weight < carried(half, "hand") < 0.7 * weight
    assert carried(clip.num_frames - 1, "hand") == pytest.approx(weight, rel=1e-5)


def test_it_looks_like_a_precision_pinch(clip):
    """Pads opposed, index curved, the other fingers bent a little and off the block."""
    hand, q = clip.problem.hands["hand"], np.degrees(clip.hands["hand"].q[-1])
    pads = posed_pads(hand, clip.hands["hand"].q[-1])
    assert pads.normal[0] @ pads.normal[1] < -0.4
    bend = {name: q[hand.joints.index(name)] for name in hand.joints.names}
    assert bend["index_pip_flexion"] > 15.0
    assert bend["index_mcp_flexion"] > 30.0
    for finger in ("middle", "ring", "little"):
        assert 10.0 < bend[f"{finger}_pip_flexion"] < 60.0
        assert 10.0 < bend[f"{finger}_mcp_flexion"] < 60.0


def test_gripped_off_centre_it_would_tip(clip):
    """Two points cannot hold a turn about the line between them."""
    bare = replace(clip, contacts=example.ContactTrack.empty())
    block = replace(clip.problem.bodies["block"], center=np.array([0.0, 0.004, 0.0]))
    tipping = replace(bare, problem=replace(bare.problem, bodies={"block": block}))
    # Without the parts of the fingers that are near and might be thought to help.
    only = Tolerances(contact_distance=Tolerances().gap)
    certificate = certify(tipping, tolerances=only)
    assert "moment_residual" in certificate.reasons
    assert set(lifted(clip)) <= set(certificate.check("moment_residual").frames)


@pytest.mark.parametrize("fault", ["dropped", "heavy", "slippery", "sliding"])
def test_spoilt_it_is_not_certified(clip, fault):
    block, pose, motion = clip.problem.bodies["block"], clip.bodies["block"], clip.hands["hand"]
    bare = replace(clip, contacts=example.ContactTrack.empty())
    if fault == "heavy":
        bad = replace(bare, problem=replace(bare.problem, bodies={"block": block.with_mass(40.0)}))
        assert certify(bad).reasons == ("strength",)
    elif fault == "slippery":
        smooth = {"block": block.with_friction(0.05)}
        bad = replace(bare, problem=replace(bare.problem, bodies=smooth))
        only = Tolerances(contact_distance=Tolerances().gap)
        assert "force_residual" in certify(bad, tolerances=only).reasons
    elif fault == "dropped":
        open_hand = np.where(clip.times[:, None] > 2.0, motion.q[:1], motion.q)
        bad = replace(bare, hands={"hand": example.HandMotion(motion.root, open_hand)})
        assert "jump" in certify(bad).reasons
    else:
        slide = 0.02 * np.clip(clip.times - 1.5, 0.0, None)[:, None] * np.array([0.0, 0.0, 1.0])
        bad = replace(bare, bodies={"block": hw.Pose(pose.position - slide, pose.wxyz)})
        assert "slip" in certify(bad).reasons


def test_the_example_runs_and_writes_what_it_says(tmp_path, opengl, capsys):
    example.main(tmp_path / "new")
    assert ": certified" in capsys.readouterr().out
    written = {path.suffix for path in (tmp_path / "new").iterdir()}
    assert written == {".npz", ".glb", ".png"}
    assert certify(hw.load_clip(tmp_path / "new" / "pinch_lift.npz")).passed
