"""Clip files."""
