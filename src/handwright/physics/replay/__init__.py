"""Motions played again by a simulated hand."""
