"""Data of the studio that is made by code."""
