"""Learned fingers: a network that senses objects around moving wrists and poses the digits."""
