"""The families of methods, each in a folder of its own; families never import each other."""

from handwright.methods.base import Method, synthesize
from handwright.methods.scripted import Scripted

METHODS: dict[str, type[Method]] = {Scripted.name: Scripted}
"""Every method by its name."""

__all__ = ["METHODS", "Method", "Scripted", "synthesize"]
