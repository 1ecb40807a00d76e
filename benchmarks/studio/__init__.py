"""The studio's server under load and the time until its page shows something."""
