"""Learned fingers: a network that gives the fingers of given wrists and objects."""
