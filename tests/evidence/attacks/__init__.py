"""Clips that a person would call wrong, and honest ones beside them."""
