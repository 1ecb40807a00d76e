"""Authoring of the scenes with tracks: bodies, holds of hands, and motion as animators key it."""
