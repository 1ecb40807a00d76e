"""What developers run from a checkout; none of it is in the installed package."""
