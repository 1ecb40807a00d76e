"""Distances: signed distance grids, exact meshes, capsules and fixed surroundings."""
