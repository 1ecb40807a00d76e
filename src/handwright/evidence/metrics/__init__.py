"""Metrics of clips: realism, smoothness, diversity, goals."""
