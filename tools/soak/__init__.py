"""A studio that many use, and that is treated badly, for as long as one likes."""
