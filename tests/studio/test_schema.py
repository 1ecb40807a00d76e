"""Requests made up from the server's own schema: none may end in an internal error."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from handwright.io.clip.file import save_clip

from .conftest import serving, small_clip

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
# The stream of events never ends.
LEFT_OUT = {"/api/events"}


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A server that takes jobs and does none, so that no search is started."""
    root = tmp_path_factory.mktemp("schema")
    save_clip(small_clip(), root / "ball.npz")
    with serving(root, jobs_at_once=0) as server:
        yield server


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_address_keeps_to_the_schema(idle, mode):
    schema = schemathesis.openapi.from_url(f"{idle.url}/openapi.json")
    tried = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in LEFT_OUT:
            continue

        @settings(
            max_examples=4,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(mode))
        def ask(case):
            case.call_and_validate(checks=list(CHECKS), timeout=120)
            tried.add(f"{case.method} {case.path}")

        try:
            ask()
        except Unsatisfiable:
            # Nothing can be wrong about a request that has no parameters.
            assert mode is GenerationMode.NEGATIVE
    wanted = {"POST /api/jobs", "POST /api/uploads", "GET /api/clips/{clip}/export"}
    assert wanted <= tried
