"""Trained networks at work: files, checks of what they are for, and their outputs."""
