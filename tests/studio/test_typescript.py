from __future__ import annotations

from pathlib import Path

import pytest

from handwright.studio import typescript
from handwright.studio.messages import ClipSummary

WRITTEN = Path(__file__).parents[2] / "studio-web" / "src" / "messages.ts"


def test_page_has_the_types_of_the_server():
    if not WRITTEN.parent.exists():
        pytest.skip("this tree has no page sources")
    assert WRITTEN.read_text() == typescript.typescript(), (
        "run: python -m handwright.studio.typescript studio-web/src/messages.ts"
    )


def test_every_message_and_field_is_there():
    text = typescript.typescript()
    for cls in typescript.message_classes():
        assert f"export interface {cls.__name__} {{\n" in text
        for name in cls.model_fields:
            assert f"  {name}: " in text or f"  {name}?: " in text
    assert ClipSummary in typescript.message_classes()


@pytest.mark.parametrize(
    "line",
    [
        "point: [number, number, number];",
        'state: "queued" | "running" | "done" | "failed" | "cancelled";',
        "force: ([number, number, number] | null)[];",
        "values: (number | null)[];",
        "failed: string[][];",
        "settings?: Record<string, number | boolean | string | null>;",
        "statistics: Record<string, number>;",
        "/** Edges of its bounding box, m. */",
        "mass?: number | null;",
        "hands: LiveHand[];",
    ],
)
def test_types_read_as_meant(line):
    assert line in typescript.typescript()
