"""Settings of methods that may correct the tracks of a problem before they search on them."""

from __future__ import annotations

from handwright.conditioning import Conditioning, corrected
from handwright.core.problem import Problem
from handwright.core.settings import setting


def corrected_setting() -> bool:
    """The field ``corrected``."""
    return setting(
        False,
        label="Correct the tracks",
        basic=True,
        help="Whether tracks of motion capture are corrected within bounds first: leaps mended, "
        "trembling smoothed, wrists taken out of the bodies. Verdicts say by how much. Not for "
        "exact tracks.",
    )


def conditioning_setting() -> Conditioning | None:
    """The field ``conditioning``."""
    return setting(
        None,
        help="What of the tracks the setting corrected corrects, and how far: a Conditioning; "
        "everything within the usual bounds if None.",
    )


def on_tracks(problem: Problem, is_corrected: bool, conditioning: Conditioning | None) -> Problem:
    """The problem that is searched, by the values of these settings.

    Motions of it are clips of the problem as it was given: the judge compares the two, and names
    in the verdict how far tracks were moved.
    """
    return corrected(problem, conditioning).problem if is_corrected else problem
