"""Environments in which throws are learned, and the training of policies in them."""
