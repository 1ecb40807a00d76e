"""Problem files that people write."""
