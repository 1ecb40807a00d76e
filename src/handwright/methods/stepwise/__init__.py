"""Interactive manipulation, step by step (Liu 2008)."""

from __future__ import annotations

from handwright.methods.stepwise.method import Stepwise
from handwright.methods.stepwise.session import Session
from handwright.methods.stepwise.settings import Settings

__all__ = ["Session", "Settings", "Stepwise"]
