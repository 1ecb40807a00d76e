"""The recordings of the ManipNet data set."""
