"""Files and scenes that users bring."""
