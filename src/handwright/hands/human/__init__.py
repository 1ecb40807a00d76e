"""The human hand: its figures, bones, collision surface, masses and strength."""
