"""The corpus of solved problems that tests share."""

from __future__ import annotations

import multiprocessing

import corpus
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty corpus."""
    monkeypatch.setattr(corpus, "FOLDER", tmp_path / "clips")
    corpus._folder.cache_clear()
    yield tmp_path / "clips"
    corpus._folder.cache_clear()


def test_what_is_kept_is_made_once_and_handed_out_as_copies(folder):
    made = []

    def make():
        made.append(len(made))
        return {"number": len(made)}

    one = corpus.kept("a", make)
    one["number"] = 7
    assert corpus.kept("a", make) == {"number": 1}
    assert corpus.kept("b", make) == {"number": 2}
    assert made == [0, 1]


def test_what_cannot_be_made_is_not_kept(folder):
    def fail():
        raise RuntimeError("no motion")

    with pytest.raises(RuntimeError, match="no motion"):
        corpus.kept("a", fail)
    assert corpus.kept("a", lambda: 3) == 3


def test_processes_that_ask_at_once_make_it_once(folder, tmp_path):
    started = tmp_path / "started"

    def ask():
        corpus.kept("slow", make)

    def make():
        with started.open("a") as file:
            file.write("x")
        return 1

    processes = [multiprocessing.get_context("fork").Process(target=ask) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert started.read_text() == "x"


def test_another_state_of_the_sources_has_a_corpus_of_its_own(folder, tmp_path, monkeypatch):
    sources = tmp_path / "handwright"
    (sources / "render").mkdir(parents=True)
    (sources / "solver.py").write_text("STEP = 1")
    monkeypatch.setattr(corpus, "SOURCES", sources)
    before = corpus._digest()
    (sources / "render" / "camera.py").write_text("ZOOM = 1")
    assert corpus._digest() == before
    (sources / "solver.py").write_text("STEP = 2")
    assert corpus._digest() != before
    corpus.kept("a", lambda: 1)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [corpus._digest()]
    (sources / "solver.py").write_text("STEP = 3")
    corpus._folder.cache_clear()
    assert corpus.kept("a", lambda: 2) == 2
    # What belongs to earlier states is of no use.
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [corpus._digest()]
