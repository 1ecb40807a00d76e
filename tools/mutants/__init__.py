"""One-line faults planted into a copy of the sources, to see whether the tests catch them."""
