"""Whole motions from goals, by contact-invariant optimisation (Mordatch et al. 2012)."""

from handwright.methods.trajopt.method import ContactInvariant

__all__ = ["ContactInvariant"]
