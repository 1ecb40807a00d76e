from __future__ import annotations

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def user_view() -> Iterator[None]:
    """Switches off the shape checks of the test run, which would forestall the errors users see."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
