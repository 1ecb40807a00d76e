"""Contacts between hands and bodies: sliding, skin shear, sharp edges, leaps."""
