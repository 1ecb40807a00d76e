"""Arms that catch and throw in a simulation, after Luo 2024 (chapters 3.1 and 4.1)."""
