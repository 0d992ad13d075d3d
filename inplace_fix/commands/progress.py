"""A progress bar on standard error for runs over many files, where a person watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from inplace_fix.engine import FileResult

MANY = 40  # fewer files are done before a bar would be read


def tracked(results: Iterable[FileResult], total: int, stream: TextIO) -> Iterator[FileResult]:
    """The results as they come, counted by a bar where there are many and the stream is a terminal."""
    if total < MANY or not stream.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("Reading", total=total)
        for result in results:
            bar.advance(task)
            yield result
