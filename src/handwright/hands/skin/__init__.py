"""The skin of the human hand, from implicit surface to weighted mesh."""
