"""The families of methods, each in a folder of its own; families never import each other."""

from handwright.methods.base import Method, default_method, synthesize
from handwright.methods.sampling import ContactSampling
from handwright.methods.scripted import Scripted
from handwright.methods.stepwise import Session, Stepwise
from handwright.methods.trajopt import ContactInvariant

METHODS: dict[str, type[Method]] = {
    Scripted.name: Scripted,
    ContactSampling.name: ContactSampling,
    ContactInvariant.name: ContactInvariant,
    Stepwise.name: Stepwise,
}
"""Every method by its name."""

__all__ = [
    "METHODS",
    "ContactInvariant",
    "ContactSampling",
    "Method",
    "Scripted",
    "Session",
    "Stepwise",
    "default_method",
    "synthesize",
]
