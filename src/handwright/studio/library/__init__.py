"""The clips of a folder, listed, judged, compared and reported."""
