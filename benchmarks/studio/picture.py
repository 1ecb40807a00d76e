"""How soon the studio's page shows its clips, in a real Chromium without a window."""

from __future__ import annotations

import shutil
import time
from statistics import median
from typing import Any

from handwright.errors import InvalidValueError
from handwright.studio.build import PAGE

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--force-prefers-reduced-motion",
    "--window-size=1000,700",
)
"""Of a browser that draws with the processor, calls nobody, and needs no screen."""
_TRIES = 3
_PATIENCE = 120.0
_MARKS = {
    "first_picture_s": "handwright: first picture",
    "all_pictures_s": "handwright: all pictures",
}
"""Figures, and what the page calls the moments on the browser's clock."""
_ASK = (
    "const marks = performance.getEntriesByType('mark');"
    "return Object.fromEntries(marks.map((mark) => [mark.name, mark.startTime]))"
)
_TWELVE = "localStorage.setItem('handwright.views', '12')"


def find_browser() -> tuple[str, str]:
    """Chromium and its driver; an error if they, or the page that they are to show, are missing."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    service = shutil.which("chromedriver")
    if browser is None or service is None:
        raise InvalidValueError(
            "'handwright bench studio' opens the page in Chromium and found "
            f"{'no chromium' if browser is None else 'no chromedriver'} on the path. Install both, "
            "with Debian for example: apt-get install chromium chromium-driver."
        )
    if not (PAGE / "index.html").is_file():
        raise InvalidValueError(
            "The studio's page is not built in this source tree. Build it with 'make studio', or "
            "install the wheel, which contains it."
        )
    return browser, service


def picture_seconds(address: str, browser: str, service: str) -> dict[str, float]:
    """Time from asking for the page to the first view, and to all twelve, as they are seen, s.

    Medians of a few tries, each in a browser of its own, which has kept nothing.

    Args:
        address: Of a studio with twelve clips or more.
        browser: Chromium.
        service: Its driver.
    """
    tries = [_once(address, browser, service) for _ in range(_TRIES)]
    return {name: median(one[name] for one in tries) for name in _MARKS}


def _once(address: str, browser: str, service: str) -> dict[str, float]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _TWELVE})
        driver.get(address)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            marks: dict[str, Any] = driver.execute_script(_ASK)
            if all(mark in marks for mark in _MARKS.values()):
                return {name: marks[mark] / 1e3 for name, mark in _MARKS.items()}
            time.sleep(0.1)
    finally:
        driver.quit()
    raise InvalidValueError(
        f"The page showed no picture within {_PATIENCE:.0f} s. Open it by hand."
    )
