"""What the server has said, and whether it was true."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from handwright.errors import HandwrightError
from handwright.io.clip.file import load_clip

_MAX_LISTED = 50


@dataclass(slots=True)
class Ledger:
    """Clips that the server said were saved, answers that it gave, and what was wrong with them."""

    root: Path
    statuses: Counter[str] = field(default_factory=Counter)
    """Answers by kind of request and status."""
    said: dict[str, float] = field(default_factory=dict)
    """Files of clips that have to be there, and since when."""
    deleted: set[str] = field(default_factory=set)
    """Files that somebody has asked to delete."""
    num_said: int = 0
    checked: int = 0
    lost: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    _dropping: threading.Lock = field(default_factory=threading.Lock)

    def saved(self, file: str) -> None:
        """The server said that a clip is in its folder."""
        if file not in self.said and file not in self.deleted:
            self.said[file] = time.monotonic()
            self.num_said += 1

    def wrong(self, text: str) -> None:
        """Something was not as it should be."""
        if len(self.unexpected) < _MAX_LISTED:
            self.unexpected.append(text)

    def check(self, file: str) -> bool:
        """Whether a clip is there, or where deleted ones are, and can be read."""
        self.checked += 1
        places = [self.root / file, *self.root.glob(f".handwright/deleted/*/{file}")]
        there = [path for path in places if path.is_file()]
        if not there:
            self.lost.append(file)
            return False
        try:
            load_clip(there[0])
        except HandwrightError as error:
            self.broken.append(f"{file}: {error}")
            return False
        return True

    def check_all(self) -> None:
        """Looks at every clip that has not been dropped."""
        for file in list(self.said):
            self.check(file)

    def drop(self, file: str) -> None:
        """Looks at a clip that was deleted for the last time, and makes room."""
        with self._dropping:
            if self.said.pop(file, None) is not None:
                self.check(file)
            for path in self.root.glob(f".handwright/deleted/*/{file}"):
                shutil.rmtree(path.parent)
