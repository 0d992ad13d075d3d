"""Changes of text as the editor's edits of whole documents, each bound to the version that it was made for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from lsprotocol import types

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Edit, Span
from inplace_fix.server.documents import Part
from inplace_fix.server.places import Locator, Ruler


def workspace_edit(
    changes: Mapping[tuple[str, int | None], list[types.TextEdit]], versioned: bool
) -> types.WorkspaceEdit:
    """Edits by address and version of their document; without versions where the editor does not know them."""
    if not versioned:
        return types.WorkspaceEdit(changes={uri: edits for (uri, _), edits in changes.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), list(edits))
            for (uri, version), edits in changes.items()
        ]
    )


def of_fix(edits: Iterable[Edit], locator: Locator) -> dict[tuple[str, int | None], list[types.TextEdit]]:
    """The edits of a fix by document."""
    changes: dict[tuple[str, int | None], list[types.TextEdit]] = {}
    for edit in edits:
        part = locator.part(edit.place)
        change = types.TextEdit(locator.ruler(edit.place).range(edit.place.span), edit.content)
        changes.setdefault((part.uri, part.version), []).append(change)
    return changes


def between(part: Part, new: str, encoding: str) -> list[types.TextEdit]:
    """The edits, line by line, that turn the text of a document into another; untouched lines keep their marks."""
    ruler = Ruler(part.text, encoding)
    old_lines, new_lines = ruler.lines, split_lines(new)
    edits = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            span = Span(i1 + 1, 0, i2 + 1, 0)
            edits.append(types.TextEdit(ruler.range(span), "".join(new_lines[j1:j2])))
    return edits
