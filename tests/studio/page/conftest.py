"""The studio as a user has it: its own process on loopback, and its page in a real Chromium."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmarks.studio.picture import FLAGS
from handwright.studio.build import PAGE

PATIENCE = 900.0
"""s until a test gives up: a first run compiles, and software draws on busy cores."""
COMMAND = (sys.executable, "-c", "from handwright.cli.main import main; main()")


def wait_until(what: str, condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Waits for a condition to hold and returns what it gave."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"after {patience:.0f} s still waiting: {what}")


class Page:
    """A tab, driven by the names that the page gives to its controls."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, view: str) -> None:
        """Loads the page anew, at an address after its #."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#/{view}")

    def js(self, code: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(code, *arguments)

    def wait(self, what: str, condition: Callable[[], Any]) -> Any:
        """Waits for a condition to hold and returns what it gave."""
        return wait_until(what, condition)

    def ready(self, view: str) -> None:
        """Waits until a view has drawn its first picture."""
        wait_until(
            f"the view '{view}'",
            lambda: self.js("return document.documentElement.dataset.ready") == view,
        )

    def all(self, name: str, more: str = "") -> list[Any]:
        """Every element with a test name."""
        return self.driver.find_elements("css selector", f'[data-testid="{name}"]{more}')

    def find(self, name: str, more: str = "") -> Any:
        """The first element with a test name, once it is there."""
        return wait_until(f"'{name}' on the page", lambda: self.all(name, more))[0]

    def click(self, name: str) -> None:
        """Presses a control."""
        element = self.find(name)
        self.js("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def enter(self, name: str, value: object) -> None:
        """Gives a value to a field or a slider, as typing does."""
        self.js(
            "const [e, v] = arguments; e.value = v;"
            "e.dispatchEvent(new Event('input', {bubbles: true}));"
            "e.dispatchEvent(new Event('change', {bubbles: true}));",
            self.find(name),
            str(value),
        )

    def points_of(
        self, name: str, first: tuple[float, float] = (0.0, 0.0)
    ) -> Iterator[tuple[int, int]]:
        """Places within an element, in pixels from its middle.

        Args:
            name: Of the element.
            first: The first place, from the middle, in widths and heights; others are around it.
        """
        size = self.find(name).size
        for share in (0.0, 0.06, 0.12, 0.18):
            for x, y in ((0, 0), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (0, -1), (-1, -1)):
                right, down = first[0] + x * share, first[1] + y * share
                yield int(right * size["width"]), int(down * size["height"])

    def asked_for(self) -> list[str]:
        """Addresses that the tab has asked for since this was last called."""
        entries = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            entry["params"]["request"]["url"]
            for entry in entries
            if entry["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Errors of the console since this was last called."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]


@dataclass(frozen=True)
class Studio:
    """A running server."""

    address: str
    folder: Path


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    service = shutil.which("chromedriver")
    if browser is None or service is None:
        pytest.skip("there is no Chromium with its chromedriver to open the page in")
    if not (PAGE / "index.html").is_file():
        pytest.skip("the studio's page is not built; run 'make studio'")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    driver.command_executor.client_config.timeout = PATIENCE
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    yield driver
    driver.quit()


def answers(address: str) -> bool:
    """Whether a server listens."""
    try:
        with urllib.request.urlopen(f"{address}api/about", timeout=PATIENCE):
            return True
    except urllib.error.URLError:
        return False


def serve(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    """Starts a studio on a free port; returns the process and the address that it prints."""
    process = subprocess.Popen(
        [*COMMAND, "studio", str(folder), "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "400"},
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
            # What it prints later must not fill the pipe.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            wait_until("the studio to answer", lambda: answers(found[0]))
            return process, found[0]
    raise AssertionError(f"the studio did not start: {''.join(lines)}")


@pytest.fixture
def studio_on(driver: Any) -> Iterator[Callable[[Path], Page]]:
    """Starts a studio on a folder and gives a tab for it."""
    processes = []

    def start(folder: Path) -> Page:
        process, address = serve(folder)
        processes.append(process)
        return Page(driver, address)

    yield start
    for process in processes:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def report_of(driver: Any) -> Callable[[Path, Path], Page]:
    """Writes a report of a folder and gives a tab for the file."""

    def write(folder: Path, out: Path) -> Page:
        subprocess.run([*COMMAND, "report", str(folder), str(out)], check=True)
        return Page(driver, out.as_uri())

    return write


@pytest.fixture(scope="module")
def studio(driver: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio on an empty folder."""
    folder = tmp_path_factory.mktemp("clips")
    process, address = serve(folder)
    yield Studio(address, folder)
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture
def page(driver: Any, studio: Studio) -> Iterator[Page]:
    """A tab that complains of nothing and asks nobody but the studio."""
    page = Page(driver, studio.address)
    page.asked_for(), page.complaints()
    yield page
    assert page.complaints() == []
    strangers = [
        url
        for url in page.asked_for()
        if not url.startswith((studio.address, "data:", "blob:", "about:"))
        and not url.startswith(studio.address.replace("http:", "ws:"))
    ]
    assert strangers == []


@pytest.fixture(scope="module")
def made(driver: Any, studio: Studio) -> list[int]:
    """Six motions of milk_box_turn, asked for on the page; how many were seen as they came."""
    page = Page(driver, studio.address)
    page.open("make?scene=milk_box_turn")
    page.ready("editor")
    page.enter("setting-num_solutions", 6)
    page.enter("setting-time_budget", 300)
    page.click("run")
    seen = [0]

    def arrived() -> bool:
        count = len(page.all("cell", '[data-state="ready"]'))
        if count != seen[-1]:
            seen.append(count)
        return count == 6

    wait_until("six motions on the wall", arrived)
    # As they have come, without loading the page anew.
    wait_until("a hand in every view", lambda: all(map(shows_a_hand, page.all("cell"))))
    return seen


def colours(element: Any) -> np.ndarray:
    """A part of the page as it is seen: red, green and blue, (3, height, width)."""
    picture = Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB")
    return np.moveaxis(np.asarray(picture, dtype=float), -1, 0)


def skin(element: Any) -> np.ndarray:
    """Which pixels of a part of the page have the colour of skin."""
    red, green, blue = colours(element)
    return (red > 120.0) & (red > 1.2 * green) & (green > 1.05 * blue)


def shows_a_hand(element: Any) -> bool:
    """Whether a part of the page, as it is seen, has pixels of the colour of skin."""
    return bool(skin(element).mean() > 0.005)
