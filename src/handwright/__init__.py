"""handwright: dexterous hand-object manipulation with a checkable certificate of forces."""
