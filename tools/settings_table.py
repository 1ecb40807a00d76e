"""Writes ``docs/settings.md``, the table of all settings, from the dataclasses of the methods.

Run ``python tools/settings_table.py`` after a setting has changed; a test compares the file.
"""

from __future__ import annotations

from pathlib import Path

from handwright.core.settings import SettingField, settings_of
from handwright.methods import METHODS
from handwright.methods.about import about_method

FILE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_HEAD = """# Settings of the methods

Made by `tools/settings_table.py` from the dataclasses; edit the fields there, not this page.

Every setting is a keyword of its method in Python, as in `hw.ContactSampling(max_force=12.0)`, and
an option of `handwright synth` with dashes, as in `--max-force 12`. Settings marked *Python* hold
objects that the command line cannot take. Forms of the studio show the same settings. Values
outside the expected range are refused.
"""


def settings_page() -> str:
    """The whole page."""
    return _HEAD + "".join(_section(name) for name in METHODS)


def _section(name: str) -> str:
    about = about_method(METHODS[name])
    papers = "".join(f"\n\nFollows {paper}" for paper in about.papers)
    head = "| setting | default | unit | expected | what it is |\n|---|---|---|---|---|\n"
    rows = "".join(_row(item) for item in settings_of(METHODS[name]))
    title = f"{about.title}: `{name}` (`{METHODS[name].__name__}`)"
    return f"\n## {title}\n\n{about.suited_to}{papers}\n\n{head}{rows}"


def _row(item: SettingField) -> str:
    about = item.about
    is_python = item.kind == "object" and about.from_words is None
    expected = "*Python*" if is_python else item.wanted
    text = about.help + "".join(f" Was `{old}`." for old in item.was)
    cells = (f"`{item.name}`", item.default_text, about.unit, expected, text)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def main() -> None:
    """Writes the page."""
    FILE.write_text(settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
