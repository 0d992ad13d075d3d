"""The server through a real client: each test starts ``inplace-fix server`` and talks to it as an editor does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from editor import Editor, capabilities, editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from inplace_fix import engine
from inplace_fix.engine import Options
from inplace_fix.report.edits import apply

FAULTY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(5.0)
z = y.sigmoid()
z.mul_(2.0)
(y.sum() + z.sum()).backward()
"""
UNSAFE = """\
import torch

def f(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    kept = y
    y.add_(1)
    return y * kept

x = torch.ones(3, requires_grad=True)
f(x).sum().backward()
"""
WRITE = 4  # the row of y.add_, from 0


def at_work(
    test: Callable[[Editor, str], Awaitable[None]], folder: Path, text: str = FAULTY, **options: object
) -> None:
    """Run a test with an editor that has opened ``model.py`` in a folder."""

    async def main() -> None:
        path = folder / "model.py"
        path.write_text(text, encoding="utf-8")
        async with editor(folder, **options) as client:  # type: ignore[arg-type]
            await test(client, await client.open(path))

    asyncio.run(main())


def test_a_finding_is_shown_with_its_places_and_a_page_that_exists(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        first = client.shown[uri].diagnostics[0]
        assert (first.code, first.severity, first.source) == ("IPF001", types.DiagnosticSeverity.Error, "inplace-fix")
        assert first.range == types.Range(types.Position(4, 0), types.Position(4, 11))
        saved, *_, needed = first.related_information or []
        assert saved.message.startswith("saved here")
        assert saved.location == types.Location(uri, types.Range(types.Position(3, 4), types.Position(3, 11)))
        assert needed.location.range.start.line == 7
        assert first.code_description is not None
        page = Path(first.code_description.href.removeprefix("file://"))
        assert page.read_text(encoding="utf-8").startswith("# IPF001: ")

    at_work(test, tmp_path)


def test_the_quick_fix_leads_to_what_the_engine_makes_of_that_finding(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        repair, *_ = await client.actions(uri, WRITE, ["quickfix"])
        assert repair.is_preferred
        path = tmp_path / "model.py"
        only = Options(keep=lambda finding, text: finding.place.span.line == WRITE + 1)
        (result,) = engine.fix([path], only)
        assert client.applied(repair)[uri] == result.new_text

    at_work(test, tmp_path)


@pytest.mark.parametrize("resolve", [True, False], ids=["resolved later", "at once"])
def test_fix_all_leads_to_the_fixed_point_of_the_engine(tmp_path: Path, resolve: bool) -> None:
    async def test(client: Editor, uri: str) -> None:
        (action,) = await client.actions(uri, 0, ["source.fixAll"])
        assert action.kind == "source.fixAll.inplace-fix"
        assert (action.edit is None) is resolve
        if resolve:
            action = await client.code_action_resolve_async(action)
        (result,) = engine.fix([tmp_path / "model.py"], Options())
        assert len(result.applied) == 2
        assert client.applied(action)[uri] == result.new_text

    at_work(test, tmp_path, offered=capabilities(resolve=resolve))


def test_fix_all_is_refused_once_the_document_has_moved_on(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        (action,) = await client.actions(uri, 0, ["source.fixAll"])
        client.change(uri, FAULTY + "\n")
        with pytest.raises(JsonRpcException, match="changed since"):
            await client.code_action_resolve_async(action)

    at_work(test, tmp_path)


def test_an_unsafe_fix_is_offered_with_its_assumption_and_never_preferred(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        (result,) = engine.check([tmp_path / "model.py"], Options())
        (finding,) = result.findings
        assert finding.fix is not None
        assert finding.fix.applicability == "unsafe"
        repair, *others = await client.actions(uri, finding.place.span.line - 1)
        assert repair.title == f"Unsafe fix of IPF001: {finding.fix.message}"
        assert repair.is_preferred is False
        assert client.applied(repair)[uri] == apply(UNSAFE, finding.fix.edits)
        assert [other.title for other in others] == [
            "Ignore IPF001 (saved-tensor-overwritten) on this line",
            "inplace-fix: make all safe repairs",
        ]
        safe = await client.code_action_resolve_async(others[-1])
        assert safe.edit is not None
        assert not safe.edit.document_changes

    at_work(test, tmp_path, UNSAFE)


def test_the_ignore_action_silences_the_finding_on_its_line(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        action = next(a for a in await client.actions(uri, WRITE) if a.title.startswith("Ignore"))
        text = client.applied(action)[uri]
        assert text == FAULTY.replace("y.add_(5.0)", "y.add_(5.0)  # inplace-fix: ignore[IPF001]")
        left = await client.diagnosed(uri, client.change(uri, text))
        assert [one.range.start.line for one in left] == [6]

    at_work(test, tmp_path)


def test_only_the_kinds_that_are_asked_for_are_offered(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        kinds = {str(getattr(a.kind, "value", a.kind)) for a in await client.actions(uri, WRITE)}
        assert kinds == {"quickfix", "source.fixAll.inplace-fix"}
        assert not await client.actions(uri, WRITE, ["refactor"])
        assert not await client.actions(uri, 0, ["quickfix"])

    at_work(test, tmp_path)


def test_hover_says_what_is_written_and_who_saved_it(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        shown = await hover(client, uri, WRITE, 3)
        assert "saved here, by `x.exp()`: [" in shown
        assert f"({uri}#L4)" in shown
        assert "torch.Tensor.add_(self, other, alpha)" in shown
        assert "Writes `self` in place." in shown
        assert await hover(client, uri, 3, 6) == ""

    at_work(test, tmp_path)


def test_hover_on_right_code_gives_the_facts_alone(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        assert (await hover(client, uri, 2, 3)).startswith("```text\ntorch.Tensor.mul_(")

    at_work(test, tmp_path, "import torch\nx = torch.ones(3)\nx.mul_(2)\n")


def test_a_syntax_error_keeps_what_was_shown(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        before = len(client.published)
        client.change(uri, FAULTY.replace("y.add_(5.0)", "y.add_(("))
        assert not await client.actions(uri, WRITE)  # answered only after the broken text was looked at
        assert len(client.published) == before
        assert await client.diagnosed(uri, client.change(uri, "import torch\n")) == []

    at_work(test, tmp_path, options={"debounce": 0})


def test_only_the_last_of_quick_changes_is_shown(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        for _ in range(5):
            version = client.change(uri, client.texts[uri] + "\n")
        assert len(await client.diagnosed(uri, version)) == 2
        assert [params.version for params in client.published] == [1, version]

    at_work(test, tmp_path, options={"debounce": 300})


def test_closing_clears(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await client.until(lambda: not client.shown[uri].diagnostics)

    at_work(test, tmp_path)


ASTRAL = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
name = "😀𝒳"; y.add_(5.0)
y.sum().backward()
"""


@pytest.mark.parametrize(
    ("offered", "column"), [(None, 15), (["utf-8"], 19), (["utf-32", "utf-16"], 13)], ids=["unsaid", "utf-8", "utf-32"]
)
def test_columns_are_in_the_units_that_were_agreed(tmp_path: Path, offered: list[str] | None, column: int) -> None:
    async def test(client: Editor, uri: str) -> None:
        (found,) = client.shown[uri].diagnostics
        assert (found.range.start.character, found.range.end.character) == (column, column + len("y.add_(5.0)"))

    at_work(test, tmp_path, ASTRAL, offered=capabilities(offered))


def test_a_repair_behind_characters_beyond_the_basic_plane_lands_where_it_should(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        repair, *_ = await client.actions(uri, WRITE, ["quickfix"])
        assert client.applied(repair)[uri] == ASTRAL.replace("y.add_(5.0)", "y = y.add(5.0)")
        assert "saved here" in await hover(client, uri, WRITE, 17)

    at_work(test, tmp_path, ASTRAL)


def test_settings_of_the_project_count_and_bad_ones_are_told(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        assert client.shown[uri].diagnostics == ()
        (tmp_path / "pyproject.toml").write_text("[tool.inplace-fix]\nignroe = []\n", encoding="utf-8")
        client.change(uri, FAULTY + "\n")
        await client.until(lambda: client.messages)
        assert "unknown key `ignroe`" in client.messages[0]
        assert "did you mean `ignore`?" in client.messages[0]

    (tmp_path / "pyproject.toml").write_text('[tool.inplace-fix]\nignore = ["IPF001"]\n', encoding="utf-8")
    at_work(test, tmp_path)


def test_settings_of_the_editor_win_and_may_change(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        assert client.shown[uri].diagnostics == ()
        settings = {"inplace-fix": {"select": ["IPF001"], "polcy": "all"}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await client.until(lambda: client.shown[uri].diagnostics)
        assert "did you mean `policy`?" in client.messages[0]

    at_work(test, tmp_path, options={"ignore": ["IPF001"]})


def test_an_imported_file_that_is_open_counts_as_it_is_in_the_editor(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "helper.py").write_text("def act(t):\n    return t * 2\n", encoding="utf-8")
        path = tmp_path / "model.py"
        path.write_text(FAULTY.replace("x.exp()", "act(x)").replace("torch\n", "torch\nfrom helper import act\n", 1))
        async with editor(tmp_path) as client:
            uri = await client.open(path)
            assert [one.range.start.line for one in client.shown[uri].diagnostics] == [7]
            helper = await client.open(tmp_path / "helper.py", "def act(t):\n    return t.exp()\n")
            client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(helper)))
            await client.until(lambda: len(client.shown[uri].diagnostics) == 2)
            related = client.shown[uri].diagnostics[0].related_information or []
            assert related[0].location.uri == helper
            repair, *_ = await client.actions(uri, 5)
            assert "y = y.add(5.0)" in client.applied(repair)[uri]

    asyncio.run(main())


def test_evidence_of_a_run_is_used_until_the_text_changes(tmp_path: Path) -> None:
    text = "import torch\n\ndef f(unknown):\n    unknown.mystery()\n"

    async def test(client: Editor, uri: str) -> None:
        (found,) = client.shown[uri].diagnostics
        assert found.severity == types.DiagnosticSeverity.Warning
        assert found.range.start == types.Position(3, 4)
        assert await client.diagnosed(uri, client.change(uri, "\n" + text)) == []
        assert len(await client.diagnosed(uri, client.change(uri, text))) == 1

    from hashlib import sha256

    from inplace_fix.nouns import Place, Span
    from inplace_fix.trace.evidence import Evidence, Fault, Write, write

    path = tmp_path / "model.py"
    fault = Fault(
        kind="saved",
        severity="error",
        message="`unknown.mystery()` overwrites what was saved",
        why="backward needs it",
        remedy="copy it first",
        writes=(Write(Place(path, Span(4, 4, 4, 21)), "mystery"),),
    )
    evidence = Evidence((fault,), digests={str(path): sha256(text.encode()).hexdigest()})
    write(tmp_path / "evidence.json", evidence, tmp_path)
    at_work(test, tmp_path, text)


def test_malformed_messages_are_answered_and_the_next_is_served(tmp_path: Path) -> None:
    async def test(client: Editor, uri: str) -> None:
        assert (
            await raw(client, b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": 5}')
        ) == -32602
        assert (await raw(client, b'{"jsonrpc": "2.0", "id": 8, "method": "no/such"}')) == -32601
        for body in (b"{", b"\xff", b"[]", b"17", b'{"id": 1}', b"[" * 100_000, b'{"jsonrpc": "2.0", "method": 5}'):
            send(client, body)
        unknown = types.TextDocumentIdentifier("file:///nowhere.py")
        client.text_document_did_close(types.DidCloseTextDocumentParams(unknown))
        at = types.Position(4_000_000, 4_000_000)
        assert await client.text_document_hover_async(types.HoverParams(unknown, at)) is None
        assert await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at)) is None
        stray = types.CodeAction("x", kind="source.fixAll.inplace-fix", data={"key": 3, "stamp": [None]})
        with pytest.raises(JsonRpcException):
            await client.code_action_resolve_async(stray)
        assert len(await client.actions(uri, WRITE)) == 3

    at_work(test, tmp_path)


def test_a_request_before_the_greeting_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        import sys

        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "inplace_fix", "server", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}'
        out, _ = await process.communicate(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert json.loads(out.partition(b"\r\n\r\n")[2])["error"]["code"] == -32002
        assert process.returncode == 0

    asyncio.run(main())


NOTEBOOK_CELLS = (
    "import torch\nx = torch.ones(3, requires_grad=True)\n%matplotlib inline\ny = x.exp()",
    "y.add_(5.0)\ny.sum().backward()",
)


def test_a_notebook_is_checked_over_its_cells_and_repaired_in_them(tmp_path: Path) -> None:
    async def main() -> None:
        async with editor(tmp_path) as client:
            uri = (tmp_path / "nb.ipynb").as_uri()
            cells = [f"{uri}#c{number}" for number in range(3)]
            texts = [NOTEBOOK_CELLS[0], NOTEBOOK_CELLS[1], "def ("]
            for cell, text in zip(cells, texts, strict=True):
                client.texts[cell], client.versions[cell] = text, 1
            client.notebook_document_did_open(
                types.DidOpenNotebookDocumentParams(
                    types.NotebookDocument(
                        uri, "jupyter-notebook", 1, [types.NotebookCell(types.NotebookCellKind.Code, c) for c in cells]
                    ),
                    [types.TextDocumentItem(c, "python", 1, t) for c, t in zip(cells, texts, strict=True)],
                )
            )
            await client.until(lambda: client.shown.get(cells[1]) and client.shown[cells[1]].diagnostics)
            (found,) = client.shown[cells[1]].diagnostics
            assert found.range.start == types.Position(0, 0)
            assert (found.related_information or [])[0].location.uri == cells[0]
            assert client.shown[cells[0]].diagnostics == ()
            repair, *_ = await client.actions(cells[1], 0)
            assert client.applied(repair)[cells[1]] == "y = y.add(5.0)\ny.sum().backward()"
            (action,) = await client.actions(cells[0], 0, ["source.fixAll"])
            texts_after = client.applied(await client.code_action_resolve_async(action))
            assert texts_after[cells[1]] == "y = y.add(5.0)\ny.sum().backward()"
            assert texts_after[cells[0]] == NOTEBOOK_CELLS[0]
            client.notebook_document_did_close(
                types.DidCloseNotebookDocumentParams(
                    types.NotebookDocumentIdentifier(uri), [types.TextDocumentIdentifier(c) for c in cells]
                )
            )
            await client.until(lambda: not client.shown[cells[1]].diagnostics)

    asyncio.run(main())


async def hover(client: Editor, uri: str, line: int, character: int) -> str:
    """What the server shows over a position, "" for nothing."""
    found = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    )
    return found.contents.value if found and isinstance(found.contents, types.MarkupContent) else ""


def send(client: Editor, body: bytes) -> None:
    """Send bytes as one message."""
    client.protocol.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))  # type: ignore[union-attr]


async def raw(client: Editor, body: bytes) -> int:
    """The code of the error that answers a message."""
    number = json.loads(body)["id"]
    waiting: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    client.protocol._request_futures[number] = waiting  # type: ignore[assignment]
    send(client, body)
    with pytest.raises(JsonRpcException) as caught:
        await asyncio.wait_for(waiting, 60)
    return caught.value.code
