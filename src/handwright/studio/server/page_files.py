"""Where the built page is."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "page"
"""Made by ``make studio`` from ``studio-web``; inside the wheel."""
