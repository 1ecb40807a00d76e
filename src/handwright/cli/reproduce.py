"""The command that makes the motion of a clip again."""

from __future__ import annotations

from handwright.cli.console import ClipPath, make_console


def reproduce(clip: ClipPath, /) -> None:
    """Make the motion of a clip again from its provenance: do the same bytes come out?

    The problem, the method, its settings and the seed are taken from the file. Ends with exit code
    1 if no motion with the same bytes comes out.

    Args:
        clip: A clip file that 'handwright synth' or hw.synthesize made (.npz).
    """
    from handwright.cli.reproduction import reproduce_clip
    from handwright.io.clip.file import load_clip

    found = reproduce_clip(load_clip(clip))
    console = make_console()
    for text in found.lines():
        console.print(text, soft_wrap=True, highlight=False, markup=False)
    if found.number is None:
        raise SystemExit(1)
