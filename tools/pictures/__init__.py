"""The pictures of the documentation, drawn anew by ``make images`` and ``make gallery``."""
