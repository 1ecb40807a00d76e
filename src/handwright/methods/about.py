"""What people are told about a method: title, papers, and which problems it suits."""

from __future__ import annotations

from typing import NamedTuple

from handwright.methods.paper import Paper


class MethodAbout(NamedTuple):
    """A method in words."""

    title: str
    suited_to: str
    """What a problem gives that it suits, in a sentence."""
    papers: tuple[Paper, ...]

    @property
    def short_papers(self) -> str:
        """Authors and years; empty if it follows no paper."""
        return ", ".join(paper.short for paper in self.papers)


def about_method(cls: type) -> MethodAbout:
    """What a class of methods says about itself.

    A method of another package may leave everything out. Its name and the first line of its
    docstring are taken then.

    Args:
        cls: A class that is a ``Method``.
    """
    name: str = getattr(cls, "name", cls.__name__)
    first = (cls.__doc__ or "").strip().partition("\n")[0]
    return MethodAbout(
        getattr(cls, "title", "") or name.capitalize(),
        getattr(cls, "suited_to", "") or first,
        getattr(cls, "papers", ()),
    )
