"""The judge's own search for contacts, from poses and shapes alone."""
