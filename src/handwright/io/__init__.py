"""Files that others write and read."""
