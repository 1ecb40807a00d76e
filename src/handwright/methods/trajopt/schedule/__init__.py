"""Who holds the body when, and first guesses of the motion."""
