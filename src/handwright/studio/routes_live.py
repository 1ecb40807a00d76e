"""Scenes that are simulated while they are watched."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
