"""The bar that shows how far a benchmark has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown_steps(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on the error stream: call what it gives with the name of each step as it begins."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), *Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        begun = 0

        def begin(step: str) -> None:
            nonlocal begun
            progress.update(task, description=step, completed=begun)
            begun += 1

        yield begin
