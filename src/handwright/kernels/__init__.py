"""The compiler layer: decorators for kernels, their cache, packed arguments, random numbers."""
