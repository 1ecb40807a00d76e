"""Hands out to MJCF, and robot hands in from MJCF and URDF."""
