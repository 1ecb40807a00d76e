"""Triangle meshes: bodies from them, checks and repair, edges, mass properties, rays."""
