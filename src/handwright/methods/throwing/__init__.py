"""Catching and throwing by a simulated arm, after Luo 2024 (chapters 3.1 and 4.1)."""
