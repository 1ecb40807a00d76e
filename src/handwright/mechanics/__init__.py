"""Contact mechanics that methods share: momentum, friction cones, force solvers."""
