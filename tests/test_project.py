"""Rules of the project that no single module can keep alone."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import handwright
from handwright.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "handwright"
MODULES = sorted(PACKAGE.rglob("*.py"))
NOT_INSTALLED = ("benchmarks", "tools", "examples")
"""Folders of code at the root."""
MAX_LINES = 600
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}
MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(?:home|root|Users|work|mnt)/[\w.]|[A-Z]:\\\\Users")
TEXT_SUFFIXES = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    ".json",
    ".ts",
    ".html",
    ".cfg",
    "",
}


def project_files() -> list[Path]:
    """Files that belong to the project: what git tracks or would track, else the known folders."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]
    return [
        path
        for folder in ("src", "tests", "docs", *NOT_INSTALLED)
        for path in (ROOT / folder).rglob("*.*")
    ]


def text_files() -> list[Path]:
    return [path for path in project_files() if path.suffix in TEXT_SUFFIXES]


def in_clean_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_files_are_small() -> None:
    code = [path for path in project_files() if path.suffix in {".py", ".ts"}]
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in code}
    assert len(sizes) > 20
    assert {str(path): size for path, size in sizes.items() if size > MAX_LINES} == {}


def test_no_file_is_named_after_nothing() -> None:
    assert [path for path in project_files() if path.stem.lower() in BANNED_NAMES] == []


def test_no_file_names_a_path_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("see " + "/home" + "/ann/x", True),
        ('"' + "/root" + '/.cache"', True),
        ("~/.cache/handwright", False),
        ("left/work/right", False),
    ],
)
def test_the_search_for_machine_paths_works(text: str, is_found: bool) -> None:
    assert bool(MACHINE_PATH.search(text)) == is_found


@pytest.mark.parametrize(
    "path",
    [*MODULES, *(path for name in NOT_INSTALLED for path in sorted((ROOT / name).rglob("*.py")))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_module_says_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":", ";", ","))


@pytest.mark.parametrize("name", handwright.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(handwright, name) is not None


def test_public_names_are_sorted_out() -> None:
    assert len(set(handwright.__all__)) == len(handwright.__all__)
    assert set(handwright.__all__) <= set(dir(handwright))
    assert set(handwright._HOMES) | {"__version__"} == set(handwright.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = handwright.nothing


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_all_lists_only_what_is_there(path: Path) -> None:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    module = __import__(name, fromlist=["__all__"])
    missing = [entry for entry in getattr(module, "__all__", []) if not hasattr(module, entry)]
    assert missing == []


def test_import_is_light_and_changes_nothing() -> None:
    code = """
import json, os, sys, threading
before = dict(os.environ)
import handwright
heavy = {"numpy", "numba", "mujoco", "trimesh", "scipy", "torch", "tyro", "rich", "PIL"}
print(json.dumps([before == dict(os.environ), sorted(heavy & set(sys.modules)),
                  threading.active_count()]))
"""
    assert json.loads(in_clean_process(code)) == [True, [], 1]


def test_loading_everything_leaves_the_environment_alone() -> None:
    code = """
import json, os, sys
before = dict(os.environ)
import handwright
for name in handwright.__all__:
    getattr(handwright, name)
changed = sorted(k for k in {*before, *os.environ} if before.get(k) != os.environ.get(k))
print(json.dumps([changed, "torch" in sys.modules, "jax" in sys.modules]))
"""
    assert json.loads(in_clean_process(code)) == [[], False, False]


def test_help_needs_nothing_heavy() -> None:
    code = """
import sys
from handwright.cli.main import main
try:
    main(["--help"])
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
print("heavy:", sorted({"numpy", "numba", "mujoco", "trimesh", "PIL"} & set(sys.modules)))
"""
    printed = in_clean_process(code)
    assert printed.splitlines()[-1] == "heavy: []"
    assert all(command in printed for command in COMMANDS)


def test_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists():
        pytest.skip("import-linter is not installed; it comes with the 'dev' extra")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def code_blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    # All blocks, lest the end of one in another language be taken for the start of the next.
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [block for name, block in blocks if re.fullmatch(language, name)]


def test_readme_names_only_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = "\n".join(code_blocks(ROOT / "README.md", "(?:sh|bash|console)?"))
    commands = re.findall(r"^(?:\$ )?handwright (\w+)", blocks, flags=re.MULTILINE)
    targets = re.findall(r"(?:^|`)make ([\w-]+)", text, flags=re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert commands
    assert targets
    assert set(commands) <= set(COMMANDS)
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_readme_links_lead_somewhere() -> None:
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text(encoding="utf-8"))
        broken = [link for link in links if not (path.parent / link).exists()]
        assert broken == [], path


def test_readme_code_runs(tmp_path: Path, opengl: None) -> None:
    blocks = code_blocks(ROOT / "README.md", "python")
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ.copy(),
        )
        assert done.returncode == 0, done.stderr
    assert any(tmp_path.iterdir())


def test_changelog_knows_this_version() -> None:
    assert f"## [{handwright.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_constraints_are_exact_and_have_no_addresses() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 20
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    assert not any(pin.startswith(("pip==", "setuptools==")) for pin in pins)


def test_exact_versions_stand_in_the_constraints_alone() -> None:
    """An exact version in an extra cannot be installed beside packages that want another one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    assert [line for line in wanted if "==" in line.split(";")[0]] == []
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert "torch==2.13.0" in pinned
    names = {line.partition("==")[0].lower() for line in pinned}
    needed = [re.split(r"[><=!;\[ ]", line)[0].lower() for line in project["dependencies"]]
    assert [name for name in needed if name not in names] == []
