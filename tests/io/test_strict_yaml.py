"""YAML as it is written: numbers, text, lines, and what is refused."""

from __future__ import annotations

import pytest

from handwright.errors import FileFormatError
from handwright.io.goals.strict_yaml import MAX_BYTES, read_yaml


@pytest.fixture
def read(tmp_path):
    def reader(text: str | bytes):
        path = tmp_path / "file.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_yaml(path)

    return reader


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-3", 1e-3),
        ("+2.5E+2", 250.0),
        ("true", True),
        ("false", False),
        ("~", None),
        ("null", None),
        ("no", "no"),
        ("on", "on"),
        ("010", 10.0),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        (".nan", ".nan"),
        ("'1'", "1"),
    ],
)
def test_plain_words_are_what_they_look_like(read, text, value):
    found = read(f"a: {text}").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_every_value_has_a_line(read):
    document = read("a: 1\nb:\n  - x: 2\n    y: [3,\n      4]\n  - 5\n")
    assert document.value == {"a": 1, "b": [{"x": 2, "y": [3, 4]}, 5]}
    places = {("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 0, "y"): 4, ("b", 0, "y", 1): 5, ("b", 1): 6}
    assert {place: document.line_of(place) for place in places} == places
    # What is not there has the line of what would hold it.
    assert document.line_of(("b", 0, "z")) == 3
    assert document.line_of(("b", 9)) == 2
    assert document.line_of(("a", "deeper")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [1,\n", r"line 3, column 1: "),
        ("a: 1\nb: 2\na: 3\n", r"line 3, column 1: 'a' is given twice"),
        ("a: {b: 1, b: 2}\n", r"line 1, column 11: 'b' is given twice"),
        ("a: &x 1\nb: *x\n", r"line 2, column 4: aliases \(\*name\) are not taken"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1, column 4: could not determine"),
        ("? [1, 2]\n: 3\n", "line 1, column 3: found unhashable key"),
        ("a: 1\n---\nb: 2\n", "but found another document"),
        ("[" * 5000, "is no YAML text"),
        (b"\xff\xfe\xff", "is no YAML text"),
        (b"a" * (MAX_BYTES + 1), f"has {MAX_BYTES + 1} bytes"),
    ],
)
def test_what_cannot_be_trusted_is_refused_and_placed(read, text, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        read(text)
    assert "file.yaml: " in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"nothing\.yaml: there is no such file"):
        read_yaml(tmp_path / "nothing.yaml")


def test_an_empty_file_holds_nothing(read):
    document = read("")
    assert document.value is None
    assert document.line_of(("a",)) == 1
