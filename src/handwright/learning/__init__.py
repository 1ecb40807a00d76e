"""Learned hands: the motions that networks are taught with, and their training."""
