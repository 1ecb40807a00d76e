"""The quadratic program of a frame, and its solution."""
