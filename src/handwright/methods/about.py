"""What people are told about a method: its title, what it suits, and the papers it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

_VENUES = {"article": "journal", "inproceedings": "booktitle", "mastersthesis": "school"}


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a method was published."""

    key: str
    """Key of its BibTeX entry."""
    authors: tuple[str, ...]
    """Given name, then family name, as in ``Yuting Ye``."""
    title: str
    venue: str
    """Name of the journal, the proceedings or the school."""
    year: int
    kind: Literal["article", "inproceedings", "mastersthesis"] = "article"
    doi: str = ""
    details: tuple[tuple[str, str], ...] = ()
    """Other fields of the BibTeX entry, such as volume and pages."""

    @property
    def short(self) -> str:
        """Family names and year, as in "Ye & Liu 2012"."""
        names = [author.rsplit(" ", 1)[-1] for author in self.authors]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} & {names[-1]}"
        return f"{listed} {self.year}"

    @property
    def bibtex(self) -> str:
        """The paper as a BibTeX entry."""
        venue = _VENUES[self.kind]
        entries = [
            ("author", " and ".join(self.authors)),
            ("title", f"{{{self.title}}}"),
            (venue, self.venue),
            ("year", str(self.year)),
            *self.details,
        ]
        entries += [("doi", self.doi)] if self.doi else []
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in entries)
        return f"@{self.kind}{{{self.key},\n{lines}}}"

    def __str__(self) -> str:
        doi = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{', '.join(self.authors)} ({self.year}). {self.title}. {self.venue}.{doi}"


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
