"""Clips that a person would call wrong, by what is wrong."""
