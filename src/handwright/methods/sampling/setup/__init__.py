"""A problem made ready for the search."""
