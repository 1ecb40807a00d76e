"""What happens in the scenes: bodies, the search for holds, and tracks, a few scenes a module."""
