"""An arm that throws as the page asks for it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from handwright.io.clip.file import load_clip

from .conftest import shows_a_hand

pytestmark = pytest.mark.slow


def text(page, name: str) -> str:
    """What an element says; it may be made anew at any time."""
    code = "return document.querySelector(`[data-testid=${arguments[0]}]`)?.textContent ?? ''"
    return page.js(code, name)


def in_a_row(page, done: str) -> int:
    """Throws in a row that did what they should; 0 while others are counted."""
    found = re.match(rf"{done}(\d+) in a row", text(page, "throwing-score"))
    return int(found[1]) if found else 0


def recorded(page) -> float:
    return float((text(page, "throwing-recorded").split() or ["0"])[0])


def up(page) -> float:
    """Height of the box above the palm, m."""
    return float(page.find("throwing-box-up").get_attribute("value"))


def test_heights_are_slid_the_box_is_dragged_and_what_happened_is_recorded(page, studio):
    from selenium.webdriver import ActionChains

    page.open("live/throwing/right")
    page.ready("throwing")
    view = page.find("throwing-view")
    page.wait("a hand", lambda: shows_a_hand(view))
    assert page.find("throwing-height").get_attribute("max") == "1.2"
    page.enter("throwing-height", 0.5)
    assert page.find("throwing-ring").text == "0.50 m"
    page.wait("a catch", lambda: in_a_row(page, "caught") > 0)
    page.wait("its height", lambda: re.search(r"throw0\.(49|50)", text(page, "throwing-score")))
    page.click("throwing-target-box")
    page.wait("a hit", lambda: in_a_row(page, "hit and caught") > 0)
    before = up(page)
    for x, y in page.points_of("throwing-view", (-0.12, -0.1)):
        ActionChains(page.driver).move_to_element_with_offset(view, x, y).click_and_hold().perform()
        if view.get_attribute("data-grabbed"):
            break
        ActionChains(page.driver).release().perform()
    assert view.get_attribute("data-grabbed") == "box"
    ActionChains(page.driver).move_by_offset(0, -20).move_by_offset(0, -20).perform()
    ActionChains(page.driver).release().perform()
    assert not view.get_attribute("data-grabbed")
    dragged = up(page)
    assert dragged > before + 0.01
    # A key lowers it, however short it is pressed; a field takes no place out of reach.
    ActionChains(page.driver).key_down("q").pause(0.3).key_up("q").perform()
    page.wait("the key", lambda: up(page) < dragged)
    page.enter("throwing-box-up", 7.0)
    assert up(page) == pytest.approx(0.82)
    page.click("throwing-record")
    page.wait("a recording", lambda: recorded(page) > 4.0)
    page.click("throwing-record")
    file = page.wait("a clip", lambda: next(studio.folder.glob("throwing_ball_live*"), None))
    clip = load_clip(file)
    assert clip.problem.tosses
    assert np.ptp(clip.bodies["ball"].position[:, 1]) > 0.2
    page.enter("throwing-thing", "can")
    page.wait("half a turn", lambda: in_a_row(page, "turned and caught") > 0)
    assert page.find("throwing-half-turns-1").get_attribute("aria-checked") == "true"
    page.click("live-pause")
    page.click("live-reset")
    page.wait("a new start", lambda: text(page, "throwing-score").startswith("caught"))
