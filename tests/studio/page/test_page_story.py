"""From a scene to a file, as a user goes: make, browse, understand, change, export."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from handwright.io.clip.file import load_clip

from .conftest import colours, shows_a_hand, skin

pytestmark = pytest.mark.slow


def asked(studio, path: str):
    with urllib.request.urlopen(f"{studio.address}api/{path}", timeout=600) as answer:
        return json.load(answer)


def test_an_empty_wall_says_what_to_do(page, studio):
    if asked(studio, "clips"):
        pytest.skip("the folder has clips already: another test came first")
    page.open("wall")
    page.ready("wall")
    assert "empty wall" in page.find("wall-empty").text
    page.click("first-motion")
    page.ready("editor")


def test_six_solutions_arrive_without_loading_anew(made, page, studio):
    assert made == sorted(made)
    assert made[-1] == 6
    assert len(list(studio.folder.rglob("*.npz"))) == 6
    page.open("wall")
    page.ready("wall")
    assert page.find("clip-count").text == "6"
    assert page.all("run-number") == []


def test_no_hand_is_cut_off_by_the_edge_of_its_view(made, page):
    page.open("wall")
    page.ready("wall")
    for time in (0.0, 2.3, 99.0):
        page.enter("scrubber", time)
        for cell in page.all("cell"):
            page.wait("a hand", lambda cell=cell: shows_a_hand(cell))
            seen = skin(cell)
            edges = (seen[:, 1], seen[:, -2], seen[1], seen[-2])
            assert not any(edge.any() for edge in edges)


def test_a_scene_with_goals_shows_where_its_body_should_be(page):
    page.open("make?scene=pick_box")
    page.ready("editor")

    def is_blue() -> bool:
        red, _, blue = colours(page.find("preview"))
        return bool((blue > 1.15 * red).mean() > 0.01)

    page.wait("a pale box", is_blue)
    page.enter("method", "sampling")
    page.wait("none where goals mean nothing", lambda: not is_blue())


def test_the_clock_moves_all_views(made, page):
    page.open("wall")
    page.ready("wall")
    page.enter("scrubber", 1.0)
    page.wait("frame 30", lambda: page.find("time").get_attribute("data-frame") == "30")
    page.click("step-forward")
    page.wait("frame 31", lambda: page.find("time").get_attribute("data-frame") == "31")
    page.click("step-back")
    page.wait("frame 30", lambda: page.find("time").get_attribute("data-frame") == "30")
    page.enter("scrubber", 0.0)
    page.click("play")
    page.wait("time passes", lambda: page.find("time").get_attribute("data-frame") != "0")
    page.click("play")


def test_views_filters_and_favourites(made, page):
    page.open("wall")
    page.ready("wall")
    page.click("views-2")
    page.wait("two views", lambda: len(page.all("cell")) == 2)
    page.click("page-next")
    page.wait("the next page", lambda: len(page.all("cell")) == 2)
    page.click("views-6")
    page.wait("six views", lambda: len(page.all("cell")) == 6)
    page.js("arguments[0].click()", page.find("favourite"))
    page.wait("a star", lambda: page.all("favourite", '[aria-pressed="true"]'))
    page.js("arguments[0].click()", page.find("filter-favourites"))
    page.wait("one favourite", lambda: page.find("clip-count").text == "1")
    page.click("clear-filter")
    page.wait("all again", lambda: page.find("clip-count").text == "6")


def test_two_are_compared(made, page):
    page.open("wall")
    page.ready("wall")
    for button in page.all("pick")[:2]:
        page.js("arguments[0].click()", button)
    page.click("compare")
    page.ready("compare")
    assert len(page.wait("differences", lambda: page.all("curve"))) > 3


def test_a_frame_on_the_stage_tells_its_verdict(made, page):
    from selenium.webdriver import ActionChains

    page.open("wall")
    page.ready("wall")
    page.click("open-stage")
    page.ready("stage")
    assert page.all("verdict")[0].text
    assert len(page.wait("strips of digits", lambda: page.all("strip"))) >= 2
    area = page.find("time-area")
    ActionChains(page.driver).move_to_element(area).perform()
    tip = page.find("frame-tip")
    assert page.find("frame-reason").text == "All checks pass"
    frame = tip.get_attribute("data-frame")
    ActionChains(page.driver).move_to_element(area).click().perform()
    page.wait("the clock", lambda: page.find("time").get_attribute("data-frame") == frame)
    assert len(page.find("checks").find_elements("css selector", "tbody tr")) > 5
    for name in ("cones", "trails", "follow"):
        page.js("arguments[0].click()", page.find(f"show-{name}"))
    page.enter("hand-opacity", 0.4)


def test_a_pinned_thumb_stays_where_it_was_put(made, page, studio):
    from selenium.webdriver import ActionChains

    page.open("make?scene=milk_box_turn")
    page.ready("editor")
    page.enter("scrubber", 1.0)
    page.click("pin-thumb")
    preview = page.find("preview")

    def put(at: np.ndarray) -> np.ndarray | None:
        """Where a click puts the pin along the box's x and z, mm; None beside the box."""
        if page.all("pin"):
            page.click("pin-remove")
            page.click("pin-thumb")
        x, y = at.round().astype(int).tolist()
        ActionChains(page.driver).move_to_element_with_offset(preview, x, y).click().perform()
        pins = page.all("pin")
        if not pins:
            return None
        place = [float(part) for part in pins[0].get_attribute("data-place").split(",")]
        return np.array([place[0], place[2]])

    # Near where thumbs of the motions hold; others do not carry the box. Where clicks come to is
    # seen from three of them, and then they go there.
    wanted = np.array([15.0, 34.0])
    first = (np.array(place, dtype=float) for place in page.points_of("preview", (-0.012, -0.09)))
    at, found = next((one, place) for one in first if (place := put(one)) is not None)
    by_pixel = np.zeros((2, 2))
    for axis, way in enumerate(np.eye(2)):
        # At the rim of the box there is a place on one side only.
        beside = ((off, put(at + off * way)) for off in (8.0, -8.0))
        by_pixel[:, axis] = next((p - found) / off for off, p in beside if p is not None)
    for _ in range(6):
        at += np.linalg.solve(by_pixel, wanted - found)
        found = put(at)
        assert found is not None
        if np.abs(found - wanted).max() < 1.5:
            break
    assert np.abs(found - wanted).max() < 1.5
    assert len(page.all("pin")) == 1
    page.enter("setting-num_solutions", 1)
    page.enter("setting-time_budget", 300)
    page.click("run")
    job = page.wait(
        "the job with the pin",
        lambda: next((j for j in asked(studio, "jobs") if j["request"]["pins"]), None),
    )
    (pin,) = job["request"]["pins"]
    assert pin["digit"] == "thumb"
    assert abs(pin["start"] - 1.0) < 0.02
    page.wait("its motion", lambda: len(page.all("cell", '[data-state="ready"]')) == 1)
    summary = next(c for c in asked(studio, "clips") if c["job"] == job["id"])
    clip = load_clip(studio.folder / summary["file"])
    frame = int(np.argmin(np.abs(clip.times - clip.times[0] - pin["start"])))
    pose = clip.bodies["milk_box"][frame]
    goal = pose.apply(np.array([pin["point"]]))[0]
    contacts, model = clip.contacts, clip.problem.hands["right"]
    rows = np.flatnonzero(contacts.frame == frame)
    thumb = [r for r in rows if _digit(model, contacts, r) == "thumb"]
    assert thumb, "the thumb touches nothing at the time of its pin"
    apart = np.linalg.norm(contacts.point[thumb] - goal, axis=1).min()
    assert apart < 0.012


def _digit(model, contacts, row: int) -> str:
    if contacts.touchers[contacts.toucher[row]] != "right":
        return ""
    number = int(model.capsules.digit[contacts.part[row]])
    return model.digits[number].name if number >= 0 else "palm"


def test_an_exported_file_is_a_good_gltf(made, page, tmp_path: Path):
    pygltflib = pytest.importorskip("pygltflib")
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.open("wall")
    page.ready("wall")
    page.click("open-stage")
    page.ready("stage")
    page.click("export")
    page.click("format-glb")
    page.click("skeleton-openxr")
    page.enter("export-fps", 60)
    page.click("export-run")
    file = page.wait("the download", lambda: next(iter(tmp_path.glob("*.glb")), None))
    loaded = pygltflib.GLTF2.load_binary(str(file))
    assert len(loaded.skins) == 1
    assert len(loaded.animations) == 1
    names = {node.name for node in loaded.nodes}
    assert {"contacts", "forces", "environment"} <= names
    (times,) = {s.input for s in loaded.animations[0].samplers}
    assert loaded.accessors[times].count == 141
    if os.environ.get("HANDWRIGHT_GLTF_VALIDATOR"):
        assert _severities(file) == []


def _severities(file: Path) -> list[dict]:
    """What the format's own validator holds against a file, but hints that nothing draws data."""
    import subprocess

    script = (
        'const v = require("gltf-validator");'
        'const bytes = new Uint8Array(require("fs").readFileSync(process.argv[1]));'
        "v.validateBytes(bytes, {maxIssues: 50}).then((r) => console.log(JSON.stringify(r)));"
    )
    modules = Path(os.environ["HANDWRIGHT_GLTF_VALIDATOR"]).resolve() / "node_modules"
    done = subprocess.run(
        ["node", "-e", script, str(file)],
        env={**os.environ, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
        check=True,
    )
    issues = json.loads(done.stdout)["issues"]["messages"]
    return [m for m in issues if m["severity"] < 2]
