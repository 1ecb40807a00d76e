"""Learned fingers while one moves a prop: hands reach for it, hold it, and let go."""
