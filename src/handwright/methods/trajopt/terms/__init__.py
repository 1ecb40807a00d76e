"""The costs of contact-invariant optimisation, one module for each kind."""
