"""What all tests share: shape checks switched on, hypothesis settings, and honest skips.

- Array annotations are enforced while tests run, and only then. Of the tests of whole motions,
  which that makes slow, it is done in those that every method passes.
- A test that needs something optional skips with a reason. With ``HANDWRIGHT_REQUIRE_ALL=1`` such
  a skip is a failure, except for recordings that cannot be shipped (marker ``data``) and for
  Blender, which is too large to install for every run (marker ``blender``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

from handwright.folders import cache_dir

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
REQUIRE_ALL = os.environ.get("HANDWRIGHT_REQUIRE_ALL", "") not in ("", "0")
MAY_SKIP = ("data", "blender")
CHECKED_LAYERS = ("math", "core", "geometry")
TESTS_OF_MOTIONS = tuple(
    ROOT / "tests" / name for name in ("methods", "studio", "live", "benchmarks", "demo", "scenes")
)
SPLIT_FILES = (
    "tests/methods/test_contract.py",
    "tests/methods/test_stepwise_scenes.py",
    "tests/scenes/test_every_scene.py",
)
"""Files whose tests are grouped by what is in their brackets."""
TESTS_OF_EVERY_METHOD = ROOT / "tests" / "methods" / "test_contract.py"


def _checked_modules() -> list[str]:
    """Modules whose annotations are enforced: compiled ones cannot be wrapped."""
    names = []
    for layer in CHECKED_LAYERS:
        for path in sorted((SOURCE / "handwright" / layer).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            is_compiled = "njit" in text or "handwright.kernels.decorators" in text
            if path.name != "__init__.py" and not is_compiled:
                names.append(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    return names


# Tests that give themselves an empty cache still share compiled kernels, which are never stale.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_dir() / "kernels"))
install_import_hook(_checked_modules(), "beartype.beartype")

settings.register_profile("handwright", deadline=None, derandomize=REQUIRE_ALL)
settings.load_profile("handwright")


def _recordings() -> Path | None:
    chosen = os.environ.get("HANDWRIGHT_MANIPNET_DATA")
    folder = Path(chosen) if chosen else ROOT.parent / "shared" / "data" / "manipnet"
    return folder if folder.is_dir() else None


def group_of(nodeid: str) -> str:
    """Name of the group of tests that one worker runs.

    That is the file, so that fixtures of a module are made once and not in each worker. Tests of
    different methods or scenes do not wait for each other. Only one worker opens a browser.
    """
    path, _, test = nodeid.partition("::")
    if path.startswith("tests/studio/page/"):
        return "tests/studio/page"
    return path + test[test.find("[") :] if path in SPLIT_FILES and "[" in test else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deals out tests by ``group_of``.

    The marker ``xdist_group`` would do the same, but with pytest 9.2 it does nothing and says
    nothing: https://github.com/pytest-dev/pytest-xdist/issues/1386
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return Groups(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The first tests compile the methods, each worker another one. Whole motions come next: a
    # worker that began a long one last would work on alone.
    items.sort(key=lambda item: (item.path != TESTS_OF_EVERY_METHOD, not _is_of_motions(item)))
    if _recordings() is None:
        reason = (
            "the ManipNet recordings are not here; set HANDWRIGHT_MANIPNET_DATA to their folder"
        )
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason=reason))


def _is_of_motions(item: pytest.Item) -> bool:
    return any(item.path.is_relative_to(folder) for folder in TESTS_OF_MOTIONS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Before fixtures are made, for those are what takes the time.
    is_free = _is_of_motions(item) and item.path != TESTS_OF_EVERY_METHOD
    jaxtyping.config.update("jaxtyping_disable", is_free)


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"HANDWRIGHT_REQUIRE_ALL is set, but this was skipped: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if not any(item.get_closest_marker(name) for name in MAY_SKIP):
        _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.fixture
def manipnet_data() -> Path:
    """Folder of the ManipNet recordings; for tests with the marker ``data``."""
    folder = _recordings()
    assert folder is not None, "mark tests that need the recordings with pytest.mark.data"
    return folder


@pytest.fixture
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder; the other tests share the user's, which makes them quick."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def opengl() -> None:
    """Skips where pictures cannot be drawn."""
    from handwright.render.backend import NoDisplayError, make_context

    try:
        make_context(16, 16).free()
    except NoDisplayError as error:
        pytest.skip(str(error))


@pytest.fixture
def user_view() -> Iterator[None]:
    """Switches off the shape checks of the test run, which would forestall the errors users see."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
