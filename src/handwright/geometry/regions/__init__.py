"""Regions of a body's surface by which hands hold it."""
