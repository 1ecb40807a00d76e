"""Compiled kernels on disk: one file for a kernel and the types that it is compiled for.

A file is named by the digest of all that its machine code depends on (``fingerprint``), so a file
that is found is right: no kernel is ever out of date, checkouts of the same sources share their
files, and two processes that compile the same kernel write the same file. The folder is
``$NUMBA_CACHE_DIR``, or ``kernels`` in the folder that ``cache_dir`` names. Where it cannot be
written, kernels are compiled by every process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from handwright.folders import cache_dir
from handwright.kernels.fingerprint import compiler_digest, describe_type, fingerprint

_logger = logging.getLogger(__name__)
_KEPT_DAYS = 60
"""How long files of earlier states of a kernel stay, days."""


@functools.cache
def kernel_folder() -> Path:
    """Where compiled kernels are kept; the same for as long as a process lives."""
    return Path(config.CACHE_DIR) if config.CACHE_DIR else cache_dir() / "kernels"


class KernelCache(_Cache):  # type: ignore[misc]
    """Keeps the machine code of one kernel; numba asks it before it compiles."""

    def __init__(self, dispatcher: Any) -> None:  # noqa: ANN401  numba's own
        self._dispatcher = dispatcher
        self._is_on = True

    @property
    def cache_path(self) -> str:
        """The folder of this kernel's module."""
        return str(kernel_folder() / self._dispatcher.py_func.__module__)

    def enable(self) -> None:
        """Switches it on."""
        self._is_on = True

    def disable(self) -> None:
        """Switches it off."""
        self._is_on = False

    def flush(self) -> None:
        """Forgets all files of this kernel."""
        for path in Path(self.cache_path).glob(f"{self._name}-*.nbc"):
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401  numba's own
        """Machine code for a signature, or None."""
        if not self._is_on:
            return None
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        try:
            payload = pickle.loads(path.read_bytes())
        except OSError:
            return None
        except (pickle.UnpicklingError, EOFError, ValueError, AttributeError, IndexError) as error:
            _logger.warning("%s is damaged (%s); the kernel is compiled anew.", path, error)
            return None
        found = CompileResult._rebuild(target_context, *payload)
        # Numba forgets what loaded code needs once it is linked into other code.
        found.library._reload_init.update(found.reload_init)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401  numba's own
        """Keeps machine code for a signature."""
        if not self._is_on or data.lifted or data.library.has_dynamic_globals:
            return
        path = self._path(sig, data.codegen)
        try:
            _write_whole(path, dumps(data._reduce()))
            self._prune(path)
        except OSError as error:
            _warn_once(f"Compiled kernels cannot be kept in {path.parent}: {error}.")

    @property
    def _name(self) -> str:
        return str(self._dispatcher.py_func.__qualname__).replace("<", "").replace(">", "")

    def _path(self, sig: Any, codegen: Any) -> Path:  # noqa: ANN401  numba's own
        parts = [
            compiler_digest(),
            fingerprint(self._dispatcher),
            ";".join(describe_type(kind) for kind in sig),
            repr(codegen.magic_tuple()),
            sys.implementation.cache_tag,
        ]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
        return Path(self.cache_path) / f"{self._name}-{digest}.nbc"

    def _prune(self, newest: Path) -> None:
        """Deletes old files of the same kernel."""
        oldest = time.time() - _KEPT_DAYS * 24 * 3600
        for path in newest.parent.glob(f"{self._name}-*.nbc"):
            if path != newest and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


def _write_whole(path: Path, data: bytes) -> None:
    """Writes a file that others see whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@functools.cache
def _warn_once(text: str) -> None:
    _logger.warning("%s They are compiled again by every process.", text)
