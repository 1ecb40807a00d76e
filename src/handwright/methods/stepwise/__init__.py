"""Interactive manipulation, step by step (Liu 2008)."""

from __future__ import annotations
