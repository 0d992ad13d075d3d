"""An editor for tests: pygls' own client, connected to a server in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60  # seconds until a silent server counts as a failed test


class Editor(LanguageClient):
    """Opens and changes documents and keeps what the server says about them."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._arrived = asyncio.Condition()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        self.feature(types.WINDOW_SHOW_MESSAGE)(told)
        self.feature(types.WINDOW_LOG_MESSAGE)(logged)

    async def wake(self) -> None:
        """Look again at what is waited for."""
        async with self._arrived:
            self._arrived.notify_all()

    async def until(self, holds: Any) -> None:
        """Wait until a condition on what the server said holds."""
        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(holds), PATIENCE)

    async def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, with another text than on disk where one is given, and wait for its diagnostics."""
        uri = path.as_uri()
        source = path.read_text(encoding="utf-8") if text is None else text
        self.texts[uri], self.versions[uri] = source, 1
        item = types.TextDocumentItem(uri, "python", 1, source)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.until(lambda: uri in self.shown)
        return uri

    def change(self, uri: str, text: str) -> int:
        """Type another text; gives its version."""
        self.versions[uri] += 1
        self.texts[uri] = text
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return self.versions[uri]

    async def diagnosed(self, uri: str, version: int) -> list[types.Diagnostic]:
        """The diagnostics of a version, once they arrive."""
        await self.until(lambda: self.shown[uri].version == version)
        return list(self.shown[uri].diagnostics)

    async def actions(
        self, uri: str, line: int, only: list[str] | None = None, until_line: int | None = None
    ) -> list[types.CodeAction]:
        """The code actions offered on a row, counted from 0."""
        last = line if until_line is None else until_line
        found = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(types.Position(line, 0), types.Position(last, 0)),
                types.CodeActionContext([], only=only),  # type: ignore[arg-type]
            )
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    def applied(self, action: types.CodeAction) -> dict[str, str]:
        """The texts that the edit of an action leads to; the versions must be those of the open documents."""
        assert action.edit is not None
        assert action.edit.document_changes
        texts = dict(self.texts)
        for change in action.edit.document_changes:
            assert isinstance(change, types.TextDocumentEdit)
            uri = change.text_document.uri
            assert change.text_document.version == self.versions.get(uri)
            texts[uri] = apply(texts[uri], list(change.edits))  # type: ignore[arg-type]
        return texts


async def published(ls: Editor, params: types.PublishDiagnosticsParams) -> None:
    """Keep diagnostics."""
    ls.shown[params.uri] = params
    ls.published.append(params)
    await ls.wake()


async def told(ls: Editor, params: types.ShowMessageParams) -> None:
    """Keep what is shown to the person."""
    ls.messages.append(params.message)
    await ls.wake()


async def logged(ls: Editor, params: types.LogMessageParams) -> None:
    """Keep what goes to the log."""
    ls.logged.append(params.message)
    await ls.wake()


def apply(text: str, edits: list[types.TextEdit]) -> str:
    """A text with edits made as the protocol says, columns in UTF-16."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(position: types.Position) -> int:
        if position.line >= len(lines):
            return len(text)
        line = lines[position.line].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
        return starts[position.line] + len(line)

    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def capabilities(encodings: list[str] | None = None, resolve: bool = True) -> types.ClientCapabilities:
    """What a modern editor says of itself."""
    action = types.CodeActionClientCapabilities(
        resolve_support=types.ClientCodeActionResolveOptions(["edit"]) if resolve else None, data_support=True
    )
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
        ),
        text_document=types.TextDocumentClientCapabilities(code_action=action),
        general=types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(one) for one in encodings] if encodings else None
        ),
    )


@asynccontextmanager
async def editor(
    folder: Path, options: object = None, offered: types.ClientCapabilities | None = None
) -> AsyncIterator[Editor]:
    """An editor at work in a folder; at the end the server must go away by itself with status 0."""
    client = Editor()
    await client.start_io(sys.executable, "-m", "inplace_fix", "server", cwd=str(folder))
    try:
        await client.initialize_async(
            types.InitializeParams(
                offered or capabilities(),
                root_uri=folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)],
                initialization_options=options,
            )
        )
        client.initialized(types.InitializedParams())
        yield client
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        assert client._server is not None
        assert await asyncio.wait_for(client._server.wait(), PATIENCE) == 0
    finally:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()
        await client.stop()
