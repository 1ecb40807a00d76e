"""What ``handwright report`` does: a folder of clips in, one page that needs no server out."""

from __future__ import annotations

import base64
import re
import time
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from handwright.errors import HandwrightError, InvalidValueError
from handwright.io.atomic import written_whole
from handwright.studio.build import PAGE
from handwright.studio.library.folder import Folder, clip_id
from handwright.studio.library.headlines import read_headline, summary_of
from handwright.studio.library.judged import MODEL, TIMELINE, read_judged, results_folder
from handwright.studio.library.judging import cluster_clips, judge_clip, make_model
from handwright.studio.messages import ClipSummary, ReportClip, ReportData, Timeline

DATA_ID = "handwright-report"
"""Of the element that holds the data."""
_SCRIPT = re.compile(r'<script\b[^>]*\bsrc="([^"]+)"[^>]*>\s*</script>')
_STYLE = re.compile(r'<link\b[^>]*\brel="stylesheet"[^>]*\bhref="([^"]+)"[^>]*>')
_OTHER_LINK = re.compile(r"<link\b[^>]*>")
_DATA = re.compile(rf'<script\b[^>]*\bid="{DATA_ID}"[^>]*>.*?</script>', re.DOTALL)


def write_report(
    root: Path, out: Path, console: Console, *, title: str | None = None, page: Path = PAGE
) -> None:
    """Writes a page with the wall, the timelines and the tables of all clips of a folder.

    Args:
        root: Folder of clips.
        out: The page to write.
        console: What to print on.
        title: Of the page; the name of the folder if None.
        page: Folder of the built page.
    """
    template = page / "report.html"
    if not template.is_file():
        raise InvalidValueError(
            "The page of reports is not built in this source tree. Build it with 'make studio', "
            "or install the wheel, which contains it."
        )
    if not root.is_dir():
        raise InvalidValueError(f"There is no folder '{root}'. Name one with clips (.npz).")
    folder = Folder(root.resolve())
    clips = _clips(folder, console)
    if not clips:
        raise InvalidValueError(f"The folder '{root}' has no clips (.npz) that can be read.")
    data = ReportData(
        title=title or folder.root.name,
        version=version("handwright"),
        created=time.time(),
        clips=clips,
    )
    with written_whole(out) as file:
        file.write(one_page(page, data).encode())
    size = out.stat().st_size / 1e6
    console.print(f"Wrote {out}: {len(clips)} clips, {size:.1f} MB.", highlight=False)


def one_page(page: Path, data: ReportData) -> str:
    """The report page with its script, its style and the data inside."""
    text = (page / "report.html").read_text(encoding="utf-8")
    scripts: list[str] = []

    def take_script(match: re.Match[str]) -> str:
        # A browser would end the script at the first end tag in it, even within a string.
        code = _asset(page, match[1]).replace("</script", "<\\/script")
        scripts.append(f'<script type="module">{code}</script>')
        return ""

    def put_style(match: re.Match[str]) -> str:
        return f"<style>{_asset(page, match[1])}</style>"

    text = _DATA.sub("", text)
    text = _SCRIPT.sub(take_script, text)
    text = _STYLE.sub(put_style, text)
    text = _OTHER_LINK.sub("", text)
    if not scripts or "</body>" not in text:
        raise InvalidValueError(
            f"'{page / 'report.html'}' has no script or no body. Build the page again: make studio"
        )
    # "<" can only be within text in JSON, where it may be written in this way.
    plain = data.model_dump_json().replace("<", "\\u003c")
    holder = f'<script type="application/json" id="{DATA_ID}">{plain}</script>'
    before, _, after = text.rpartition("</body>")
    return f"{before}{holder}{''.join(scripts)}</body>{after}"


def _asset(page: Path, address: str) -> str:
    path = (page / address.lstrip("/")).resolve()
    if not path.is_relative_to(page.resolve()) or not path.is_file():
        raise InvalidValueError(
            f"The page of reports wants '{address}', which is not there. Run 'make studio' again."
        )
    return path.read_text(encoding="utf-8")


def _clips(folder: Folder, console: Console) -> list[ReportClip]:
    """Every clip that can be read, judged now if it was not before."""
    found: list[tuple[ClipSummary, Path]] = []
    groups: dict[tuple[str, int], list[Path]] = {}
    for one in folder.listed():
        path, results = folder.path(one.file), results_folder(folder, one)
        try:
            with console.status(f"judging {one.file}"):
                make_model(path, results)
                judge_clip(path, results, clip_id(one.file))
            head = read_headline(path)
        except HandwrightError as error:
            console.print(f"Left out: {error}", soft_wrap=True, highlight=False, markup=False)
            continue
        found.append((summary_of(one, head, read_judged(results)), results))
        groups.setdefault((head.scene, head.num_frames), []).append(results)
    numbers = {
        results: number
        for group in groups.values()
        for results, number in zip(group, cluster_clips(group), strict=True)
    }
    return [
        ReportClip(
            summary=summary.model_copy(update={"cluster": numbers[results]}),
            timeline=Timeline.model_validate_json((results / TIMELINE).read_bytes()),
            model=base64.b64encode((results / MODEL).read_bytes()).decode(),
        )
        for summary, results in found
    ]
