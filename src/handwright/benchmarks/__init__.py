"""Measurements: every speed as a ratio against the peer a user would pick, gated on agreement."""
