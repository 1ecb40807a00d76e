"""What ``handwright demo`` shows."""
