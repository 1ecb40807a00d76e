"""USD stages."""
