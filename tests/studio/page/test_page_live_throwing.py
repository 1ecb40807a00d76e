"""An arm that throws as the page asks for it."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.io.clip.file import load_clip

from .conftest import shows_a_hand

pytestmark = pytest.mark.slow


def in_a_row(page) -> int:
    shown = page.all("throwing-in-a-row")
    return int(shown[0].text) if shown else 0


def recorded(page) -> float:
    shown = page.all("throwing-recorded")
    return float(shown[0].text.split()[0]) if shown else 0.0


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
    assert page.find("throwing-target-height").text == "0.50 m"
    page.wait("a catch", lambda: in_a_row(page) > 0)
    page.wait("its height", lambda: "last throw\n0.5" in page.find("throwing-score").text)
    page.click("throwing-target-box")
    page.wait("the box in its place", lambda: "hit and caught" in page.find("throwing-score").text)
    page.wait("a hit", lambda: in_a_row(page) > 0)
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
    page.wait("half a turn", lambda: "turned and caught" in page.find("throwing-score").text)
    assert page.find("throwing-half-turns-1").get_attribute("aria-checked") == "true"
    page.wait("it caught", lambda: in_a_row(page) > 0)
    page.click("live-pause")
    page.click("live-reset")
    page.wait("the first throw", lambda: "caught\n0" in page.find("throwing-score").text)
