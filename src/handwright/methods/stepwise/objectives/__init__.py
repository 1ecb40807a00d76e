"""Objectives of a frame: goals, postures, changes, and the cost to go."""
