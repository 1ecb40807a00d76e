"""Kernels and force solvers beside the tools that one would compare them with."""
