"""Honest clips beside the wrong ones, by what moves."""
