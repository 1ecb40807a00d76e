from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io import formats


@pytest.mark.parametrize("table", [formats.EXPORTERS, formats.IMPORTERS])
def test_every_entry_leads_to_a_function(table: dict[str, str]) -> None:
    for suffix, place in table.items():
        assert suffix.startswith(".")
        assert suffix == suffix.lower()
        module, _, name = place.partition(":")
        function = getattr(importlib.import_module(module), name)
        parameters = list(inspect.signature(function).parameters)
        assert parameters[: 2 if table is formats.EXPORTERS else 1][-1] == "path", place
        assert function.__doc__


@pytest.mark.parametrize("suffix", [".npz", ".glb", ".csv", ".NPZ"])
def test_what_is_exported_can_be_loaded(tiny_clip: Clip, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"clip{suffix}"
    formats.export(tiny_clip, path)
    loaded = formats.load(path)
    times = loaded["claw"].times if suffix == ".csv" else loaded.times
    assert np.array_equal(times, tiny_clip.times)


def test_options_reach_the_format(tiny_clip: Clip, tmp_path: Path) -> None:
    formats.export(tiny_clip, tmp_path / "a.glb", fps=10)
    np.testing.assert_allclose(formats.load(tmp_path / "a.glb").times, np.arange(6) / 10)


def test_unknown_suffixes_and_options_are_explained(tiny_clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'\.gltf'\. Did you mean '\.glb'\? Known: .*\.npz"):
        formats.export(tiny_clip, tmp_path / "a.gltf")
    with pytest.raises(UnknownNameError, match=r"Unknown file suffix to read '\.docx'"):
        formats.load(tmp_path / "a.docx")
    with pytest.raises(UnknownNameError, match=r"Unknown file suffix to write ''"):
        formats.export(tiny_clip, tmp_path / "a")
    with pytest.raises(UnknownNameError, match=r"option of \.glb files 'fsp'\. Did you mean 'fps'"):
        formats.export(tiny_clip, tmp_path / "a.glb", fsp=3)
    with pytest.raises(UnknownNameError, match=r"option of \.npz files 'fps'\. Known: certificate"):
        formats.export(tiny_clip, tmp_path / "a.npz", fps=3)
    with pytest.raises(InvalidValueError, match=r"\.csv files take no options; 'fps' was given"):
        formats.export(tiny_clip, tmp_path / "a.csv", fps=3)
    assert list(tmp_path.iterdir()) == []


def test_a_new_format_is_one_entry(
    tiny_clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(formats.EXPORTERS, ".xyz", "handwright.io.clip.file:save_clip")
    monkeypatch.setitem(formats.IMPORTERS, ".xyz", "handwright.io.clip.file:load_clip")
    formats.export(tiny_clip, tmp_path / "a.xyz")
    assert formats.load(tmp_path / "a.xyz").times.tolist() == tiny_clip.times.tolist()
