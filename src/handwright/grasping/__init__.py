"""Grasp planning: where a hand can take a body in a given style, and how it reaches there."""
