"""The least-squares system of all costs, and its descent."""
