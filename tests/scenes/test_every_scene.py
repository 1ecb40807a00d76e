"""Every scene that the documentation shows is solved and certified."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpus import solved

import handwright as hw
from handwright.methods import ContactInvariant, ContactSampling
from handwright.scenes import SCENES, goal_scenes

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 600.0
"""s that a scene may take on a busy machine."""
UNSOLVED = {"trident_twirl"}
"""Scenes that no method solves; the documentation says so."""
REGIONS = {"mug_by_handle": "handle", "beaker_by_rim": "inside"}
"""Where bodies are held; scenes are named after it."""
WITH_GRIPS = {name for name, scene in goal_scenes().items() if scene.has_grips}
"""Scenes of stepwise control; ``tests/methods/test_stepwise_scenes.py`` certifies them all."""


def methods_by_scene() -> dict[str, ContactSampling | ContactInvariant]:
    """How a scene is solved here, for all that are claimed and have no grips."""
    from_tracks = {
        name: ContactSampling(
            num_solutions=1, time_budget=PATIENCE, grasp_region=REGIONS.get(name, "anywhere")
        )
        for name in SCENES
    }
    from_goals = {
        name: ContactInvariant(time_budget=PATIENCE)
        for name in goal_scenes()
        if name not in UNSOLVED | WITH_GRIPS
    }
    return from_tracks | from_goals


@pytest.mark.slow
@pytest.mark.scene
@pytest.mark.parametrize(
    ("name", "method"),
    [pytest.param(name, method, id=name) for name, method in methods_by_scene().items()],
)
def test_a_scene_is_solved_and_certified(name, method):
    certificate = hw.certify(solved(name, method).best)
    assert certificate.passed, str(certificate)


def claimed_scenes() -> set[str]:
    """Names in the tables of the gallery, and in the first lines of code of the README."""
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", read("docs/gallery.md"), flags=re.MULTILINE)
    shown = {name for row in rows for name in re.findall(r"\w+", row)}
    return shown | set(re.findall(r'load_scene\("(\w+)"\)', read("README.md")))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_all_scenes_are_claimed_but_for_those_that_are_said_to_be_unsolved():
    assert claimed_scenes() == (set(SCENES) | set(goal_scenes())) - UNSOLVED
    limits = read("docs/derivations/contact-invariant.md")
    assert all(f"`{name}` is not solved" in limits for name in UNSOLVED)


def test_every_claimed_scene_is_certified_by_a_test():
    assert set(methods_by_scene()) | WITH_GRIPS == claimed_scenes()
    stepwise = read("tests/methods/test_stepwise_scenes.py")
    assert (
        '@pytest.mark.parametrize("name", scene_names())\ndef test_a_scene_is_certified' in stepwise
    )
    assert not set(methods_by_scene()) & WITH_GRIPS


def test_the_readme_counts_scenes_as_they_are():
    text = read("README.md")
    from_goals = set(goal_scenes()) - WITH_GRIPS
    assert f"{len(SCENES)} of {len(SCENES)} scenes certified" in text
    assert f"{len(from_goals - UNSOLVED)} of {len(from_goals)} scenes" in text
    assert f"{len(WITH_GRIPS)} of {len(WITH_GRIPS)} scenes certified" in text
