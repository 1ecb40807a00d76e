"""From contact trajectories to smooth, checked motions."""
