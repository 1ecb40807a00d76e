"""Smooth motion of digits over all frames at once."""
