"""Comments that silence findings: ``# inplace-fix: ignore[CODE] reason`` on a line, ``ignore-file`` for a file."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from inplace_fix.nouns import Certainty, Finding, Place, Severity, Span

MARK = "inplace-fix:"
UNUSED, UNUSED_NAME = "IPF900", "unused-suppression"
DIRECTIVE = re.compile(
    r"#\s*inplace-fix:\s*(?P<word>ignore-file|ignore)\s*(?:\[(?P<codes>[^\]#]*)\])?(?=\s|$|#)(?P<reason>[^#]*)"
)
ANY = re.compile(r"#\s*inplace-fix:[^#]*")
PAGE = f"""# {UNUSED}: {UNUSED_NAME}

## What it does
Reports `# inplace-fix: ignore[...]` comments that silence nothing, and comments that cannot be read as one.

## Why it is wrong
A comment that silences nothing hides the next fault that appears on its line.

## Example
```python
y = x + 1  # inplace-fix: ignore[IPF001]
```

## Use instead
```python
y = x + 1
```

## When the fix is safe
There is no automatic fix; delete the comment. A finding that only a traced run shows counts as silenced
only when `--trace` is given, so this report alone never makes the exit status 1.
"""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: where it stands, which codes or names it silences (none: all), and on which rows."""

    span: Span
    codes: tuple[str, ...]
    first: int
    last: int
    whole_file: bool = False
    reason: str = ""

    def silences(self, finding: Finding) -> bool:
        """Whether the finding starts on a row of this comment and has one of its codes."""
        if not self.whole_file and not self.first <= finding.place.span.line <= self.last:
            return False
        return not self.codes or any(code in (finding.code.lower(), finding.name.lower()) for code in self.codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All comments of a file; ``unreadable`` are those that begin like one and cannot be understood."""

    items: tuple[Suppression, ...] = ()
    unreadable: tuple[tuple[Span, str], ...] = ()

    def silencing(self, finding: Finding) -> Suppression | None:
        """The comment that silences a finding, the nearest first."""
        return next((item for item in self.items if item.silences(finding)), None)


@lru_cache(maxsize=16)
def suppressions(text: str) -> Suppressions:
    """The comments of a source text; none in a text that cannot be tokenised."""
    if MARK not in text:
        return Suppressions()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return Suppressions()
    items: list[Suppression] = []
    unreadable: list[tuple[Span, str]] = []
    for token, first, last in _comments(tokens):
        matches = list(DIRECTIVE.finditer(token.string))
        for match in matches:
            items.append(_suppression(match, token, first, last))
        for stray in ANY.finditer(token.string):
            if not any(match.start() <= stray.start() < match.end() for match in matches):
                unreadable.append((_span(stray, token), stray.group().strip()))
    items.sort(key=lambda item: (item.whole_file, not item.codes))
    return Suppressions(tuple(items), tuple(unreadable))


def sift(
    findings: Sequence[Finding], text: str, path: Path, asked: Callable[[str], bool]
) -> tuple[list[Finding], list[Finding]]:
    """The findings that no comment silences, and one finding for each comment that silences nothing.

    ``asked`` tells whether a code or name was looked for at all; comments about others are let be.
    """
    known = suppressions(text)
    kept: list[Finding] = []
    used: set[tuple[Span, str]] = set()
    for finding in findings:
        item = known.silencing(finding)
        if item is None:
            kept.append(finding)
        else:
            used |= {(item.span, code) for code in (finding.code.lower(), finding.name.lower(), "")}
    return kept, list(_complaints(known, used, path, asked))


def _complaints(
    known: Suppressions, used: set[tuple[Span, str]], path: Path, asked: Callable[[str], bool]
) -> Iterable[Finding]:
    for item in known.items:
        idle = [code for code in item.codes or ("",) if (item.span, code) not in used and (not code or asked(code))]
        if idle:
            what = ", ".join(code.upper() if code.startswith("ipf") else code for code in idle) or "anything"
            yield _complaint(
                item.span, f"this comment silences {what} where nothing of the kind is found; remove it", path
            )
    for span, words in known.unreadable:
        yield _complaint(span, f"`{words}` cannot be read; write `# inplace-fix: ignore[CODE] reason`", path)


def _complaint(span: Span, message: str, path: Path) -> Finding:
    return Finding(UNUSED, UNUSED_NAME, Severity.NOTE, Certainty.CERTAIN, message, Place(path, span))


def _comments(tokens: Sequence[tokenize.TokenInfo]) -> Iterable[tuple[tokenize.TokenInfo, int, int]]:
    """Each comment with the rows it speaks of.

    On the first or last row of a statement it speaks of the whole statement (of a compound one, its head), on a row
    between of that row, on a row of its own of the statement that follows.
    """
    waiting: list[tokenize.TokenInfo] = []  # comments on rows of their own before the next statement
    inside: list[tokenize.TokenInfo] = []
    first = 0
    skipped = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    for token in tokens:
        row = token.start[0]
        if token.type == tokenize.COMMENT:
            (inside if first else waiting).append(token)
        elif token.type == tokenize.NEWLINE:
            for comment in inside:
                where = comment.start[0]
                yield (comment, first, row) if where in (first, row) else (comment, where, where)
            for comment in waiting:
                yield comment, first, row
            waiting, inside, first = [], [], 0
        elif token.type not in skipped and not first and token.type != tokenize.ENDMARKER:
            first = row
    for comment in waiting + inside:
        yield comment, comment.start[0], comment.start[0]


def _suppression(match: re.Match[str], token: tokenize.TokenInfo, first: int, last: int) -> Suppression:
    codes = tuple(code.strip().lower() for code in (match["codes"] or "").split(",") if code.strip())
    whole = match["word"] == "ignore-file"
    return Suppression(_span(match, token), codes, first, last, whole, match["reason"].strip())


def _span(match: re.Match[str], token: tokenize.TokenInfo) -> Span:
    row, column = token.start
    text = match.group().rstrip()
    return Span(row, column + match.start(), row, column + match.start() + len(text))
