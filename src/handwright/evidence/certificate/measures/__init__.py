"""The checks of the certificate over the frames of a motion: figures, limits and reasons."""
