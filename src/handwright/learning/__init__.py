"""Learning from motions: those that are taught with, and the training of networks."""
