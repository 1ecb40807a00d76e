"""Handling a prop while a network gives the fingers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handwright.io.clip.file import load_clip

from .conftest import Studio, serve, shows_a_hand

pytestmark = pytest.mark.slow
pytest.importorskip("onnxruntime", reason="learned fingers need the extra 'neural'")

TINY = Path(__file__).parents[2] / "fixtures" / "tiny_fingers"


@pytest.fixture(scope="module")
def studio(driver: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio on an empty folder, with a network that needs no weights of the package."""
    del driver
    folder = tmp_path_factory.mktemp("fingers")
    process, address = serve(folder, "--model", str(TINY))
    yield Studio(address, folder)
    process.terminate()
    process.wait(timeout=60)


def recorded(page) -> float:
    shown = page.all("fingers-recorded")
    return float(shown[0].text.split()[0]) if shown else 0.0


def test_a_prop_is_dragged_swapped_and_recorded(page, studio):
    from selenium.webdriver import ActionChains

    page.open("live/fingers/right")
    page.ready("fingers")
    view = page.find("fingers-view")
    page.wait("a hand", lambda: shows_a_hand(view))
    assert "0.48 s late" in page.find("fingers-facts").text.replace("\n", " ")
    page.click("fingers-record")
    page.wait("a recording", lambda: recorded(page) > 0.0)
    for x, y in page.points_of("fingers-view", (0.05, 0.1)):
        ActionChains(page.driver).move_to_element_with_offset(view, x, y).click_and_hold().perform()
        if view.get_attribute("data-grabbed"):
            break
        ActionChains(page.driver).release().perform()
    assert view.get_attribute("data-grabbed") == "prop"
    ActionChains(page.driver).move_by_offset(-20, -40).move_by_offset(-20, -60).perform()
    page.wait("the hand to take it", lambda: page.find("fingers-take-right").text == "Let go")
    start = recorded(page)
    page.wait("the hand to carry it", lambda: recorded(page) > start + 3.0)
    ActionChains(page.driver).release().perform()
    assert not view.get_attribute("data-grabbed")
    page.enter("fingers-prop", "sphere")
    page.wait("the swap", lambda: "1 swaps" in page.find("fingers-facts").text.replace("\n", " "))
    start = recorded(page)
    # A key lifts it, however short it is pressed.
    ActionChains(page.driver).key_down("e").pause(0.5).key_up("e").perform()
    page.wait("some seconds with it", lambda: recorded(page) > start + 1.5)
    page.click("fingers-record")
    files = page.wait(
        "two clips", lambda: len(found := sorted(studio.folder.glob("*.npz"))) == 2 and found
    )
    mug, sphere = (load_clip(file) for file in files)
    assert list(mug.bodies) == ["mug"]
    # It was dragged up and to the left, as seen by the camera.
    assert np.ptp(mug.bodies["mug"].position[:, 2]) > 0.03
    assert list(sphere.bodies) == ["sphere"]
    assert np.ptp(sphere.bodies["sphere"].position[:, 2]) > 0.005
    page.open("wall")
    page.ready("wall")
    page.wait("both on the wall", lambda: len(page.all("cell", '[data-state="ready"]')) == 2)
    texts = {cell.text.split("\n")[0] for cell in page.all("cell")}
    assert {"Learned fingers mug", "Learned fingers sphere"} <= texts
