"""An arm that throws and catches while one says how high, at which box, or what."""
