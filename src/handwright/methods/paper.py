"""A paper that a method follows, and how to cite it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a method was published."""

    key: str
    """Key of its BibTeX entry."""
    authors: tuple[str, ...]
    """Given name, then family name, as in ``Yuting Ye``."""
    title: str
    venue: str
    """Name of the journal or the proceedings."""
    year: int
    kind: Literal["article", "inproceedings"] = "article"
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
        venue = "journal" if self.kind == "article" else "booktitle"
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
