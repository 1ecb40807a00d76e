"""The nouns that every part of the package shares; no solver, no engine."""
