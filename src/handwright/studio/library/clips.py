"""The clips of a folder: found, listed, judged one after the other, and told about."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from handwright.io.atomic import written_whole
from handwright.studio.jobs.helper_processes import Helper, Work
from handwright.studio.labels import well_formed
from handwright.studio.library.folder import Folder, Found, clip_id
from handwright.studio.library.headlines import Headline, read_headline, summary_of
from handwright.studio.library.judged import (
    MODEL,
    SUMMARY,
    TIMELINE,
    JudgedClip,
    read_judged,
    results_folder,
)
from handwright.studio.messages import ClipSummary
from handwright.studio.server.events import Hub
from handwright.studio.server.request_errors import FULL, TroubleError, trouble_of, unknown

_logger = logging.getLogger(__name__)
LOOK_EVERY = 2.0
"""s between looks at the folder."""
_NOTHING = Headline("", "", 0, 0, 0.0)


@dataclass(slots=True)
class Entry:
    """A clip of the folder."""

    id: str
    found: Found
    headline: Headline
    results: Path
    """Folder of what was made of it."""
    trouble: str | None = None
    judged: JudgedClip | None = None
    cluster: int | None = None
    job: str | None = None


class Library:
    """The clips of a folder."""

    def __init__(self, folder: Folder, desk: Helper, judge: Helper, hub: Hub) -> None:
        self._folder, self._desk, self._judge, self._hub = folder, desk, judge, hub
        self._entries: dict[str, Entry] = {}
        self._favourites = _read_favourites(folder)
        self._jobs: dict[str, str] = {}
        self._looking = asyncio.Lock()
        self._making: dict[tuple[str, Path], asyncio.Future[None]] = {}
        self._unjudged = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Looks at the folder for the first time, and from then on now and then."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self._folder.drop_leftovers)
        await self.look()
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._judge_all())]

    async def close(self) -> None:
        """Stops looking and judging."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- what there is ---------------------------------------------------------------------

    def listed(self) -> list[ClipSummary]:
        """All clips, newest first."""
        entries = sorted(self._entries.values(), key=lambda e: e.found.changed, reverse=True)
        return [self.summary(entry) for entry in entries]

    def entry(self, clip: str) -> Entry:
        """A clip by its identifier."""
        if clip not in self._entries:
            raise unknown("clip", clip)
        return self._entries[clip]

    def path(self, entry: Entry) -> Path:
        """Where the file of a clip is."""
        return self._folder.path(entry.found.file)

    def summary(self, entry: Entry) -> ClipSummary:
        """What the wall says of a clip."""
        own = {
            "job": entry.job,
            "is_favourite": entry.found.file in self._favourites,
            "cluster": entry.cluster,
            "trouble": None if entry.trouble is None else well_formed(entry.trouble),
        }
        return summary_of(entry.found, entry.headline, entry.judged).model_copy(update=own)

    # ---- changes ---------------------------------------------------------------------------

    async def add(self, file: str, job: str | None) -> str:
        """Lists a clip that has just been written, and returns its identifier."""
        if job is not None:
            self._jobs[file] = job
        await self.look()
        entry = self._entries.get(clip_id(file))
        if job is not None and entry is not None and entry.job is None:
            # It was seen in the folder before its job had told of it.
            entry.job = job
            self._hub.tell_clip(self.summary(entry))
        return clip_id(file)

    def set_favourite(self, clip: str, is_favourite: bool) -> ClipSummary:
        """A clip is, or is no longer, a favourite."""
        entry = self.entry(clip)
        favourites = self._favourites - {entry.found.file}
        if is_favourite:
            favourites.add(entry.found.file)
        self._folder.hidden.mkdir(parents=True, exist_ok=True)
        with written_whole(self._folder.hidden / "favourites.json") as file:
            file.write(json.dumps(sorted(favourites)).encode())
        self._favourites = favourites
        summary = self.summary(entry)
        self._hub.tell_clip(summary)
        return summary

    async def delete(self, clip: str) -> None:
        """Puts the file of a clip away, from where it can be fetched back."""
        entry = self.entry(clip)
        # A folder of its own for each time: file names have no room for more letters.
        kept = self._folder.part(f"deleted/{entry.found.changed}") / Path(entry.found.file).name
        with contextlib.suppress(FileNotFoundError):
            self.path(entry).replace(kept)
        await self.look()

    async def look(self) -> None:
        """Lists what is new in the folder, and no longer what is gone."""
        async with self._looking:
            listed = {found.file: found for found in await asyncio.to_thread(self._folder.listed)}
            for entry in list(self._entries.values()):
                if entry.found.file not in listed:
                    del self._entries[entry.id]
                    self._jobs.pop(entry.found.file, None)
                    self._hub.tell_gone(entry.id)
            known = {entry.found for entry in self._entries.values()}
            for found in listed.values():
                if found not in known:
                    entry = await asyncio.to_thread(self._read, found)
                    self._entries[entry.id] = entry
                    self._hub.tell_clip(self.summary(entry))
                    self._unjudged.set()

    def _read(self, found: Found) -> Entry:
        """What is known of a file at once, whatever is in it; runs in a thread."""
        path = self._folder.path(found.file)
        entry = Entry(clip_id(found.file), found, _NOTHING, Path(), job=self._jobs.get(found.file))
        try:
            entry.headline = read_headline(path)
            entry.results = results_folder(self._folder, found)
            entry.judged = read_judged(entry.results)
            self.summary(entry)
        except Exception as error:
            entry.headline, entry.judged = _NOTHING, None
            told = trouble_of(error).message.replace(str(path), found.file)
            name = Path(found.file).name
            entry.trouble = told if name in told else f"{found.file}: {told}"
        return entry

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look()
            except OSError:
                pass  # A folder that cannot be read for a moment is looked at again.
            except Exception:
                _logger.exception("The folder cannot be looked at.")

    # ---- what is made of clips -------------------------------------------------------------

    async def model(self, clip: str) -> Path:
        """The .glb that is played; made if it is not there."""
        return await self._made(clip, Work.MAKE_MODEL, MODEL, self._desk)

    async def timeline(self, clip: str) -> Path:
        """The timeline as JSON; judged if need be."""
        path = await self._made(clip, Work.JUDGE_CLIP, TIMELINE, self._desk)
        self._note(self.entry(clip))
        return path

    async def _made(self, clip: str, work: Work, name: str, helper: Helper) -> Path:
        entry = self.entry(clip)
        if entry.trouble is not None:
            raise TroubleError(422, entry.trouble)
        path = entry.results / name
        if not path.is_file() or (work is Work.JUDGE_CLIP and not self._is_judged(entry)):
            arguments = (self.path(entry), entry.results)
            if work is Work.JUDGE_CLIP:
                await self._once(helper, work, entry, *arguments, entry.id)
            else:
                await self._once(helper, work, entry, *arguments)
        return path

    @staticmethod
    def _is_judged(entry: Entry) -> bool:
        return (entry.results / SUMMARY).is_file()

    async def _once(self, helper: Helper, work: Work, entry: Entry, *arguments: object) -> None:
        """Does what several may ask for at the same time once only."""
        key = work.value, entry.results
        if key not in self._making:
            self._making[key] = asyncio.ensure_future(helper.run(work, *arguments))
            self._making[key].add_done_callback(lambda _: self._making.pop(key, None))
        await asyncio.shield(self._making[key])

    async def _judge_all(self) -> None:
        """Judges what has not been judged, newest first, for ever."""
        while True:
            entry = self._next_unjudged()
            if entry is None:
                await self._cluster()
                self._unjudged.clear()
                if self._next_unjudged() is None:
                    await self._unjudged.wait()
                continue
            try:
                await self._made(entry.id, Work.MAKE_MODEL, MODEL, self._judge)
                await self._made(entry.id, Work.JUDGE_CLIP, TIMELINE, self._judge)
                self._note(entry)
            except Exception as error:
                trouble = trouble_of(error)
                if trouble.status == FULL:
                    # It is nothing about the clip, and passes.
                    await asyncio.sleep(LOOK_EVERY)
                elif self._is_listed(entry):
                    entry.trouble = trouble.message.replace(str(self.path(entry)), entry.found.file)
                    self._hub.tell_clip(self.summary(entry))

    def _next_unjudged(self) -> Entry | None:
        waiting = [e for e in self._entries.values() if e.judged is None and e.trouble is None]
        return max(waiting, key=lambda entry: entry.found.changed, default=None)

    def _is_listed(self, entry: Entry) -> bool:
        """Whether it was neither deleted nor written anew meanwhile."""
        return self._entries.get(entry.id) is entry

    def _note(self, entry: Entry) -> None:
        """Takes up what the judge has found."""
        if self._is_listed(entry) and entry.judged is None and self._is_judged(entry):
            entry.judged = read_judged(entry.results)
            self._hub.tell_clip(self.summary(entry))
            self._unjudged.set()

    async def _cluster(self) -> None:
        """Numbers the clips of each scene and length by how they move."""
        groups: dict[tuple[str, int], list[Entry]] = {}
        for entry in sorted(self._entries.values(), key=lambda e: (e.found.changed, e.id)):
            if entry.judged is not None:
                key = entry.headline.scene, entry.headline.num_frames
                groups.setdefault(key, []).append(entry)
        for group in groups.values():
            if all(entry.cluster is not None for entry in group):
                continue
            try:
                folders = [entry.results for entry in group]
                numbers = [0]
                if len(group) > 1:
                    numbers = await self._judge.run(Work.CLUSTER_CLIPS, folders)
            except TroubleError:
                continue  # Something was deleted meanwhile; they are numbered the next time.
            for entry, number in zip(group, numbers, strict=True):
                if entry.cluster != number:
                    entry.cluster = number
                    self._hub.tell_clip(self.summary(entry))


def _read_favourites(folder: Folder) -> set[str]:
    try:
        return set(map(str, json.loads((folder.hidden / "favourites.json").read_bytes())))
    except (OSError, ValueError, TypeError):
        return set()
