"""The search for contact trajectories."""
