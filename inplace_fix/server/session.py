"""The state of one session with an editor: what is open, what was found in it, and what is being analysed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import PyglsError
from pygls.lsp.server import LanguageServer

from inplace_fix import __version__
from inplace_fix.notebook import NotebookError
from inplace_fix.server import analysis as analysing
from inplace_fix.server import documents as opening
from inplace_fix.server.analysis import NOWHERE, Analysis, Rows, Work
from inplace_fix.server.diagnostics import Pages, diagnostics
from inplace_fix.server.documents import Document, Part, Stamp
from inplace_fix.server.places import Locator
from inplace_fix.server.preferences import Preferences, parse
from inplace_fix.server.protocol import Protocol, is_parse_error

T = TypeVar("T")
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ]
)


class Server(LanguageServer):
    """A session. Analyses run one at a time in threads of their own, so that the editor's other questions are heard.

    The whole text comes with every change: incremental changes would have to count lines as the editor does, and
    a form feed or a line separator in a string is counted differently.
    """

    def __init__(self) -> None:
        super().__init__(
            "inplace-fix",
            __version__,
            types.TextDocumentSyncKind.Full,
            NOTEBOOKS,
            protocol_cls=Protocol,
        )
        self.preferences = Preferences()
        self.pages = Pages()
        self._workers = (ThreadPoolExecutor(1, "findings"), ThreadPoolExecutor(1, "repairs"))
        self._latest: dict[str, Analysis] = {}
        self._repairs: dict[str, tuple[Rows, Analysis]] = {}  # the rows that were last asked about
        self._running: dict[tuple[str, Rows], tuple[Stamp, asyncio.Task[Analysis]]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, set[str]] = {}
        self._told: set[str] = set()
        self._notebooks: dict[str, Document] = {}
        self._generation = 0

    # what the editor can do and wants

    @property
    def encoding(self) -> str:
        """The units of columns that were agreed: ``utf-8``, ``utf-16`` or ``utf-32``."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    @property
    def versioned(self) -> bool:
        """Whether the editor takes edits that are bound to a version."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)

    @property
    def resolves(self) -> bool:
        """Whether the editor asks for the edit of an action later."""
        document = self.client_capabilities.text_document
        support = document.code_action.resolve_support if document and document.code_action else None
        return bool(support and "edit" in support.properties)

    @property
    def root(self) -> Path:
        """The folder that the editor works in."""
        return opening.root_of(self.workspace, list(self.workspace.folders.values()))

    def prefer(self, value: object) -> None:
        """Take settings of the editor and tell what is wrong with them."""
        self.preferences, wrong = parse(value)
        for words in wrong:
            self.tell(words)

    def tell(self, words: str) -> None:
        """Show a person something, once."""
        if words not in self._told:
            self._told.add(words)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"inplace-fix: {words}"))

    # documents

    def key_of(self, uri: str) -> str:
        """The document that a text document belongs to: the notebook of a cell, else itself."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return self.own(uri) if notebook is None else notebook.uri

    def own(self, uri: str) -> str:
        """The address of a text document as the editor spelt it when it opened it."""
        found = self.workspace.text_documents.get(unquote(uri))
        return uri if found is None else found.uri

    def document(self, key: str) -> Document | None:
        """An open document as it is now, None where it is not open or is a notebook that cannot be read."""
        if self.workspace.get_notebook_document(notebook_uri=key) is None:
            return opening.open_file(self.workspace, key, self.root)
        try:
            document = opening.open_notebook(self.workspace, key, self.root, self._notebooks.get(key))
        except NotebookError as error:
            self.tell(f"{key}: {error.message}")
            return None
        if document is not None:
            self._notebooks[key] = document
        return document

    def documents(self) -> Iterator[Document]:
        """All open documents."""
        for key in self._shown:
            document = self.document(key)
            if document is not None:
                yield document

    def part(self, uri: str) -> Part | None:
        """An open text document as it is now."""
        document = self.document(self.key_of(uri))
        if document is None:
            return None
        return next((part for part in document.parts.values() if part.uri == self.own(uri)), None)

    def locator(self, analysis: Analysis) -> Locator:
        """Finds places in what was open when an analysis was made, so that its edits carry the versions they fit."""
        return Locator(self.encoding, {**analysis.open, analysis.document.path: analysis.document})

    # analyses

    def schedule(self, key: str, delay: float) -> None:
        """Analyse and show a document after some seconds of rest."""
        self._shown.setdefault(key, set())
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()
        self._waiting[key] = asyncio.get_running_loop().create_task(self._later(key, delay))

    def refresh_all(self) -> None:
        """Analyse and show all that is open again, whatever was known."""
        self._generation += 1
        self._latest.clear()
        self._repairs.clear()
        for key in self._shown:
            self.schedule(key, 0)

    async def analysed(self, key: str, rows: Rows = NOWHERE) -> Analysis | None:
        """The analysis of what a document holds now, made if need be, with the repairs of some rows.

        None where the document is not open.
        """
        document = self.document(key)
        if document is None:
            return None
        last = self._latest.get(key) if rows == NOWHERE else self._repairs.get(key, (NOWHERE, None))[1]
        asked = NOWHERE if rows == NOWHERE else self._repairs.get(key, (NOWHERE, None))[0]
        if last is not None and asked == rows and last.document.stamp == document.stamp:
            return last
        stamp = (*document.stamp, ("", self._generation))
        running = self._running.get((key, rows))
        if running is None or running[0] != stamp:
            task = asyncio.get_running_loop().create_task(self._analyse(document, rows, stamp))
            running = self._running[key, rows] = (stamp, task)
        return await asyncio.shield(running[1])

    async def fix_all(self, document: Document) -> dict[int | None, str]:
        """The new texts of a document's parts. Raises RefusalError, EvidenceError, NotebookError."""
        given = self._work()
        return await self._in_thread(lambda: analysing.fix_all(document, given), repairs=True)

    def forget(self, key: str) -> None:
        """Clear what was shown of a closed document."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()
        self._latest.pop(key, None)
        self._repairs.pop(key, None)
        for running in [running for running in self._running if running[0] == key]:
            del self._running[running]
        self._notebooks.pop(key, None)
        for uri in self._shown.pop(key, set()):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def close(self) -> None:
        """Give back what the session holds."""
        for worker in self._workers:
            worker.shutdown(wait=False, cancel_futures=True)
        self.pages.close()

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[Exception]) -> None:
        """Answer what was no JSON; write other failures into the editor's log instead of before the person's eyes."""
        protocol: Any = self.protocol
        if is_parse_error(error):
            protocol.refuse(None, types.ErrorCodes.ParseError, f"this is no JSON: {error}")
        else:
            protocol.note(f"{type(error).__name__}: {error}")

    async def _later(self, key: str, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            analysis = await self.analysed(key)
        except Exception as error:  # a fault of the analysis itself; the session goes on
            self.report_server_error(error, type(error))
            return
        document = self.document(key)
        if analysis is not None and document is not None and analysis.document.stamp == document.stamp:
            self._show(key, analysis)

    async def _analyse(self, document: Document, rows: Rows, stamp: Stamp) -> Analysis:
        given, key = self._work(), document.key

        def work() -> Analysis:
            if self._running.get((key, rows), (None,))[0] != stamp:  # the next change came before this one's turn
                return Analysis(document, given.open, problem="the text has changed since", typing=True)
            return analysing.analyse(document, given, rows)

        try:
            done = await self._in_thread(work, repairs=rows != NOWHERE)
        finally:
            current = self._running.get((key, rows), (None,))[0] == stamp
            if current:
                del self._running[key, rows]
        if current and stamp[-1] == ("", self._generation):
            if rows == NOWHERE:
                self._latest[key] = done
            else:
                self._repairs[key] = (rows, done)
        return done

    async def _in_thread(self, function: Callable[[], T], *, repairs: bool) -> T:
        # repairs of a long file can take seconds, and the findings of the next change should not wait for them
        return await asyncio.get_running_loop().run_in_executor(self._workers[repairs], function)

    def _work(self) -> Work:
        return Work(self.root, self.preferences, {document.path: document for document in self.documents()})

    def _show(self, key: str, analysis: Analysis) -> None:
        """Publish the findings; while something does not parse, what was shown of it stays."""
        if analysis.problem:
            if not analysis.typing:
                self.tell(analysis.problem)
            return
        self._told.clear()
        locator = self.locator(analysis)
        shown = self._shown[key]
        document = analysis.document
        for number, part in document.parts.items():
            if number in document.broken and part.uri in shown:
                continue
            here = [finding for finding in analysis.findings if finding.place.cell == number]
            found = diagnostics(here, locator, self.pages)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(part.uri, found, part.version))
        uris = {part.uri for part in document.parts.values()}
        for uri in shown - uris:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        self._shown[key] = uris
