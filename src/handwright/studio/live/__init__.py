"""Scenes that are stepped while they are watched."""
