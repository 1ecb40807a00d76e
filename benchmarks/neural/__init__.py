"""Learned fingers: measured in closed loop, beside their teachers and trivial baselines."""
