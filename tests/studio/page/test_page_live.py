"""Pushing a body while it is simulated."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.io.clip.file import load_clip

pytestmark = pytest.mark.slow


def seconds(page) -> float:
    return float(page.find("live-time").text.split()[0])


def test_a_box_that_is_dragged_is_pushed(page, studio):
    from selenium.webdriver import ActionChains

    page.open("live/gift_box_pushed")
    page.ready("live")
    page.wait("the box in the hand", lambda: seconds(page) > 1.0)
    view = page.find("live-view")
    for x, y in page.points_of("live-view"):
        ActionChains(page.driver).move_to_element_with_offset(view, x, y).click_and_hold().perform()
        if page.all("newtons"):
            break
        ActionChains(page.driver).release().perform()
    ActionChains(page.driver).move_by_offset(40, -20).perform()
    page.wait("a force", lambda: float(page.find("newtons").text.split()[0]) > 0.5)
    start = seconds(page)
    page.wait("the push to last", lambda: seconds(page) > start + 0.3)
    ActionChains(page.driver).release().perform()
    assert page.wait("release", lambda: not page.all("newtons"))
    page.click("live-save")
    file = page.wait("the clip", lambda: next(studio.folder.glob("gift_box_pushed_live*"), None))
    clip = load_clip(file)
    pushes = [push for push in clip.problem.pushes if np.linalg.norm(push.force) > 0.5]
    assert {push.body for push in pushes} == {"gift_box"}
    page.click("live-pause")
    page.click("live-reset")
    page.ready("live")
