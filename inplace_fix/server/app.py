"""The language server: what each message of the editor leads to."""

from __future__ import annotations

import threading
from typing import BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from inplace_fix.notebook import NotebookError
from inplace_fix.refusal import RefusalError
from inplace_fix.server import actions
from inplace_fix.server.analysis import NOWHERE
from inplace_fix.server.edits import between, workspace_edit
from inplace_fix.server.hover import hover
from inplace_fix.server.preferences import KEYS, SECTION
from inplace_fix.server.session import Server
from inplace_fix.trace.evidence import EvidenceError

STACK = 64 * 1024 * 1024  # deep expressions recurse deeply, and a thread's usual stack is small on some systems
WATCHED = ("**/pyproject.toml", "**/inplace-fix.toml", "**/*evidence*.json", "**/*.py")


def run(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve until the editor says goodbye or goes away."""
    threading.stack_size(STACK)
    server = make()
    try:
        server.start_io(stdin, stdout)
    finally:
        server.close()
    return 0


def make() -> Server:
    """A server with all its features, not started yet."""
    server = Server()
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(saved)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(notebook_opened)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(notebook_changed)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)(saved)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(notebook_closed)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configured)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(files_changed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hovered)
    server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(actions.KINDS), resolve_provider=True),
    )(acted)
    server.feature(types.CODE_ACTION_RESOLVE)(resolved)
    return server


def initialize(ls: Server, params: types.InitializeParams) -> None:
    """Take the editor's settings."""
    ls.prefer(params.initialization_options)


async def initialized(ls: Server, params: types.InitializedParams) -> None:
    """Ask to be told of changed settings, evidence and sources, and for the settings of the work."""
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched and watched.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob) for glob in WATCHED])
        registration = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    await fetch_settings(ls)


async def fetch_settings(ls: Server) -> None:
    """Ask the editor for the settings of the work, where it lets itself be asked."""
    workspace = ls.client_capabilities.workspace
    if workspace and workspace.configuration:
        items = [types.ConfigurationItem(section=SECTION)]
        answer = await ls.workspace_configuration_async(types.ConfigurationParams(items))
        if answer and answer[0] is not None:
            ls.prefer(answer[0])
            ls.refresh_all()


def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """Analyse at once."""
    ls.schedule(params.text_document.uri, 0)


def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """Analyse once the typing rests."""
    ls.schedule(params.text_document.uri, ls.preferences.debounce)


def saved(ls: Server, params: types.DidSaveTextDocumentParams | types.DidSaveNotebookDocumentParams) -> None:
    """Analyse everything that is open: evidence fits again, and others may import what was saved."""
    ls.refresh_all()


def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a file."""
    ls.forget(params.text_document.uri)


def notebook_opened(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    """Analyse at once."""
    ls.schedule(params.notebook_document.uri, 0)


def notebook_changed(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    """Analyse once the typing rests."""
    ls.schedule(params.notebook_document.uri, ls.preferences.debounce)


def notebook_closed(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    """Forget a notebook."""
    ls.forget(params.notebook_document.uri)


async def configured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    """Take new settings, sent or to be asked for."""
    settings = params.settings
    if isinstance(settings, dict) and {SECTION, *KEYS} & settings.keys():
        ls.prefer(settings)
    else:
        await fetch_settings(ls)
    ls.refresh_all()


def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Analyse again where something changed on disk that is not open itself."""
    open_paths = {str(document.path) for document in ls.documents()}
    if any(to_fs_path(change.uri) not in open_paths for change in params.changes):
        ls.refresh_all()


async def hovered(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """Say what the in-place operation under the pointer does."""
    uri = params.text_document.uri
    part = ls.part(uri)
    if part is None:
        return None
    key = ls.key_of(uri)
    analysis = await ls.analysed(key)
    if analysis is not None:
        at = types.Range(params.position, params.position)
        rows = actions.touched_rows(analysis, part, at, ls.locator(analysis))
        analysis = await ls.analysed(key, rows)
    if analysis is None or part not in analysis.document.parts.values():
        return None
    return hover(analysis, part, params.position, ls.locator(analysis))


async def acted(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer repairs for what the editor's range touches."""
    uri = params.text_document.uri
    only = params.context.only
    part = ls.part(uri)
    key = ls.key_of(uri)
    analysis = await ls.analysed(key)
    if part is None or analysis is None or analysis.problem or part not in analysis.document.parts.values():
        return []
    found: list[types.CodeAction] = []
    rows = actions.touched_rows(analysis, part, params.range, ls.locator(analysis))
    if rows != NOWHERE and actions.wanted(types.CodeActionKind.QuickFix.value, only):
        repaired = await ls.analysed(key, rows)
        if repaired is not None and not repaired.problem and part in repaired.document.parts.values():
            found += actions.quick_fixes(repaired, part, params.range, ls.locator(repaired), ls.pages, ls.versioned)
    action = actions.fix_all_action(analysis) if actions.wanted(actions.FIX_ALL, only) else None
    if action is not None:
        found.append(action if ls.resolves else await resolved(ls, action))
    return found


async def resolved(ls: Server, params: types.CodeAction) -> types.CodeAction:
    """Work out the edit of an action that makes all safe repairs. Refuses where the document changed since."""
    data = params.data if isinstance(params.data, dict) else {}
    document = ls.document(str(data.get("key")))
    if params.edit is not None or not data:
        return params
    if document is None or data.get("stamp") != [[uri, version] for uri, version in document.stamp]:
        raise refused("the document changed since this action was offered; ask for it again")
    try:
        texts = await ls.fix_all(document)
    except (RefusalError, EvidenceError, NotebookError) as error:
        raise refused(str(error)) from None
    parts = {number: document.parts[number] for number in texts}
    changes = {(p.uri, p.version): between(p, texts[number], ls.encoding) for number, p in parts.items()}
    params.edit = workspace_edit(changes, ls.versioned)
    return params


def refused(words: str) -> JsonRpcException:
    """The error that tells the editor that its document is ahead of the request."""
    return JsonRpcException(words, types.LSPErrorCodes.ContentModified)
