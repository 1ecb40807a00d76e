"""Contacts while stepping: found, kept, limited, and at rest."""
