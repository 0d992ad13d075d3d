"""``inplace-fix explain``: a rule's page, or what an operation of torch writes, returns and saves."""

from __future__ import annotations

from inplace_fix.commands.streams import Streams
from inplace_fix.report import paint
from inplace_fix.suppress import PAGE, UNUSED, UNUSED_NAME


def explain(what: str, streams: Streams) -> int:
    """Print the answer; 2 where nothing of that name is known, with what was probably meant."""
    from inplace_fix.rules import pages

    page = PAGE if what.lower() in (UNUSED.lower(), UNUSED_NAME) else pages(what)
    if page is not None:
        _print_page(page, streams)
        return 0
    from inplace_fix.catalog.words import describe, suggest

    text = describe(what)
    if text is not None:
        streams.stdout.write(text.rstrip("\n") + "\n")
        return 0
    near = suggest(what)
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else "give a rule (IPF001) or an operation (add_, relu, nn.Dropout)"
    )
    paint.write([[(f"inplace-fix explain: nothing is known of {what!r}; {hint}", "error")]], streams.stderr)
    return 2


def _print_page(page: str, streams: Streams) -> None:
    if not paint.coloured(streams.stdout):
        streams.stdout.write(page.rstrip("\n") + "\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=streams.stdout).print(Markdown(page))
