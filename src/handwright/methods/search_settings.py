"""Settings that every method with a search has, and that the driver of searches reads."""

from __future__ import annotations

from handwright.core.settings import setting


def time_budget_setting() -> float:
    """The field ``time_budget``, with the one default that all methods share."""
    return setting(
        60.0,
        unit="s",
        above=0.0,
        label="Time",
        basic=True,
        help="Processor time of the search, summed over all processes, so that a busy machine "
        "gives the same motions; what has been found by then is returned. Preparing, compiling "
        "and certifying are not counted.",
    )


def num_workers_setting() -> int:
    """The field ``num_workers``."""
    return setting(
        1,
        at_least=1,
        at_most=256,
        label="Processes",
        help="Number of processes; the motions do not depend on it unless the time runs out.",
    )
