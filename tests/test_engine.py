"""The engine: several files under one analysis, problems of some that keep nobody else, fixes to a fixed point."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix import engine
from inplace_fix.nouns import Finding

FAULT = "import torch\n\n\ndef f(x: torch.Tensor):\n    y = x.exp()\n    y.add_(1.0)\n    return y\n"
FAULT += "\n\nf(torch.ones(3, requires_grad=True)).sum().backward()\n"
MENDED = FAULT.replace("y.add_(1.0)", "y = y.add(1.0)")
CALLER = (
    "import torch\nfrom helper import shift\n\nx = torch.ones(3, requires_grad=True)\n"
    "y = x.exp()\nshift(y)\ny.sum().backward()\n"
)
HELPER = "def shift(values):\n    values.add_(1.0)\n"
# a save and a write in one file, that the other brings together
SAVER = (
    "import torch\nfrom helper import scale\n\n\ndef run(x: torch.Tensor):\n"
    "    y = scale(x)\n    y.add_(1.0)\n    return y\n"
)
SAVER += "\n\nrun(torch.ones(3, requires_grad=True)).sum().backward()\n"
SCALE = "def scale(x):\n    return x.exp()\n"


def written(folder: Path, **texts: str) -> list[Path]:
    """Files of these names and texts."""
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def codes(result: engine.FileResult) -> list[tuple[int, str]]:
    """Line and code of the findings of a file."""
    return [(finding.place.span.line, finding.code) for finding in result.findings]


def only(text: str, options: engine.Options | None = None, name: str = "one") -> engine.FileResult:
    """The result of a fix of one text."""
    path = Path(f"{name}.py")
    (result,) = engine.fix([path], options or engine.Options(), {path: text})
    return result


def test_files_are_checked_together_and_in_order(tmp_path: Path) -> None:
    paths = written(tmp_path, b=FAULT, a="x = 1\n", c=FAULT)
    results = list(engine.check(paths, engine.Options()))
    assert [result.path for result in results] == paths
    assert [codes(result) for result in results] == [[(6, "IPF001")], [], [(6, "IPF001")]]


def test_a_check_writes_nothing_and_proposes_no_text(tmp_path: Path) -> None:
    paths = written(tmp_path, a=FAULT)
    (result,) = engine.check(paths, engine.Options())
    assert (result.text, result.new_text, result.applied, result.left) == (FAULT, None, (), ())
    assert paths[0].read_text(encoding="utf-8") == FAULT


@pytest.mark.parametrize("order", [("caller", "helper"), ("helper", "caller")])
def test_a_fault_is_told_in_the_file_that_is_to_be_changed(tmp_path: Path, order: tuple[str, str]) -> None:
    paths = {path.stem: path for path in written(tmp_path, caller=CALLER, helper=HELPER)}
    results = {result.path.stem: codes(result) for result in engine.check([paths[n] for n in order], engine.Options())}
    assert results == {"caller": [], "helper": [(2, "IPF001")]}


def test_a_fault_over_two_files_is_repaired(tmp_path: Path) -> None:
    paths = written(tmp_path, saver=SAVER, helper=SCALE)
    results = {result.path.stem: result for result in engine.fix(paths, engine.Options())}
    assert results["saver"].new_text == SAVER.replace("y.add_(1.0)", "y = y.add(1.0)")
    assert results["helper"].new_text is None


def test_a_fix_in_another_file_needs_that_file(tmp_path: Path) -> None:
    caller, helper = written(tmp_path, caller=CALLER, helper=HELPER)
    alone = list(engine.fix([caller], engine.Options()))
    assert [result.new_text for result in alone] == [None]
    assert helper.read_text(encoding="utf-8") == HELPER


def test_texts_stand_in_for_what_is_on_disk(tmp_path: Path) -> None:
    (path,) = written(tmp_path, a="x = 1\n")
    (result,) = engine.check([path], engine.Options(), {path: FAULT})
    assert codes(result) == [(6, "IPF001")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"print 'two'\n", "cannot be parsed"),
        (b"def f(:\n", "cannot be parsed"),
        (b"x = '\xff'\n", ""),
        (b"# coding: nowhere\n", ""),
        (b"x = 1\0\n", ""),
    ],
    ids=["python 2", "syntax", "encoding", "cookie", "null"],
)
def test_a_file_that_cannot_be_read_is_told_and_the_others_are_done(
    tmp_path: Path, content: bytes, message: str
) -> None:
    good, other = written(tmp_path, a=FAULT, c=FAULT)
    bad = tmp_path / "b.py"
    bad.write_bytes(content)
    results = list(engine.fix([good, bad, other], engine.Options()))
    assert [result.path for result in results] == [good, bad, other]
    problem = results[1].problem
    assert problem is not None
    assert problem.path == bad
    assert problem.message
    assert message in problem.message
    assert (results[1].findings, results[1].new_text) == ((), None)
    assert [results[0].new_text, results[2].new_text] == [MENDED, MENDED]


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    (path,) = written(tmp_path, a="x = 1\n\nprint 'two'\n")
    (result,) = engine.check([path], engine.Options())
    assert result.problem is not None
    assert result.problem.line == 3


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    results = list(engine.check([tmp_path / "none.py", *written(tmp_path, a=FAULT)], engine.Options()))
    assert results[0].problem is not None
    assert codes(results[1]) == [(6, "IPF001")]


def test_an_import_of_a_file_that_does_not_parse_is_passed_over(tmp_path: Path) -> None:
    paths = written(tmp_path, a=FAULT.replace("import torch\n", "import torch\nimport helper\n"), helper="def (\n")
    results = list(engine.check(paths, engine.Options()))
    assert codes(results[0]) == [(7, "IPF001")]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "'doc'\n"])
def test_a_file_with_nothing_in_it_gives_nothing(text: str) -> None:
    result = only(text)
    assert (result.findings, result.new_text, result.problem) == ((), None, None)


def test_a_second_fix_changes_nothing() -> None:
    once = only(FAULT, engine.Options(unsafe=True, policy="all")).new_text
    assert once is not None
    assert only(once, engine.Options(unsafe=True, policy="all")).new_text is None


def test_a_fix_is_repeated_until_nothing_is_left() -> None:
    text = FAULT.replace(
        "    return y\n", "    z = y.sigmoid()\n    z.mul_(2.0)\n    z = z.tanh()\n    z[0] = 0.0\n    return z\n"
    )
    result = only(text)
    assert result.new_text is not None
    assert only(result.new_text).findings == ()
    assert result.left == ()
    assert len(result.applied) == len(result.findings)


def test_unsafe_fixes_are_left_until_they_are_asked_for() -> None:
    text = FAULT.replace("    y.add_", "    z = y\n    y.add_").replace("return y", "return y + z")
    result = only(text)
    assert (result.new_text, result.applied) == (None, ())
    assert [finding.code for finding in result.left] == ["IPF001"]
    assert only(text, engine.Options(unsafe=True)).left == ()


def test_applied_and_left_part_the_findings() -> None:
    text = (
        FAULT
        + "\n\nx = torch.ones(4, requires_grad=True) * 2\na, b = x.chunk(2)\nx.mul_(2)\n(a + b).sum().backward()\n"
    )
    result = only(text)
    assert [finding.code for finding in result.applied] == ["IPF001"]
    assert [finding.code for finding in result.left] == ["IPF003"]
    assert {f.code for f in result.findings} == {"IPF001", "IPF003"}


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), True),
        (("IPF001",), (), True),
        (("IPF0",), (), True),
        (("IPF1",), (), False),
        ((), ("IPF001",), False),
        ((), ("IPF",), False),
        (("IPF001",), ("IPF",), True),
        (("IPF",), ("IPF001",), False),
        (("IPF001",), ("IPF001",), False),
        (("IPF002", "IPF00"), ("IPF003",), True),
    ],
)
def test_the_longer_prefix_decides_whether_a_rule_is_asked(
    select: tuple[str, ...], ignore: tuple[str, ...], expected: bool
) -> None:
    options = engine.Options(select=select, ignore=ignore)
    assert engine.asked("IPF001", options) is expected
    assert bool(only(FAULT, options).findings) is expected


@pytest.mark.parametrize(("policy", "expected"), [("unsafe", []), ("strict", ["IPF101"]), ("all", ["IPF102"])])
def test_a_policy_asks_the_rules_of_those_before_it_too(policy: str, expected: list[str]) -> None:
    text = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2.0\ny.add_(5.0)\ny.sum().backward()\n"
    result = only(text, engine.Options(policy=policy))
    assert set(expected) <= {finding.code for finding in result.findings}
    assert bool(result.findings) == bool(expected)


def test_keep_is_asked_for_each_finding_with_the_text_it_was_found_in() -> None:
    seen: list[tuple[int, str]] = []

    def keep(finding: Finding, text: str) -> bool:
        seen.append((finding.place.span.line, text))
        return True

    result = only(FAULT, engine.Options(keep=keep))
    assert seen == [(6, FAULT)]
    assert result.new_text == MENDED


def test_what_keep_refuses_is_neither_reported_nor_repaired() -> None:
    twice = FAULT + FAULT.replace("import torch", "").replace("def f", "def g").replace("\nf(", "\ng(")
    result = only(twice, engine.Options(keep=lambda finding, text: finding.place.span.line > 7))
    assert len(result.findings) == 1
    assert result.new_text is not None
    assert result.new_text.startswith(FAULT)
    assert "y = y.add(1.0)" in result.new_text


def test_findings_are_in_the_order_of_the_file_and_each_is_told_once() -> None:
    text = FAULT + "".join(f"\n\ndef g{n}(x: torch.Tensor):\n    return f(x * {n})\n" for n in range(3))
    text += "\n\ndef last(x: torch.Tensor):\n    y = x.tanh()\n    y.mul_(2.0)\n    return y\n"
    result = only(text)
    places = [finding.place.span for finding in result.findings]
    assert places == sorted(set(places))
    assert len(places) == 2


def test_where_the_analysis_gave_up_is_noted() -> None:
    text = "import torch\n\n\ndef giant(x: torch.Tensor):\n" + "    x.add_(1.0)\n" * 3000
    (note,) = only(text).notes
    assert note.startswith("4: ")
    assert "too many steps" in note


def test_all_findings_of_all_files_are_gathered_in_order(tmp_path: Path) -> None:
    results = list(engine.check(written(tmp_path, a=FAULT, b=FAULT), engine.Options()))
    assert [finding.place.path.stem for finding in engine.findings_of(results)] == ["a", "b"]


def test_a_check_of_what_has_no_fault_imports_neither_torch_nor_libcst(tmp_path: Path) -> None:
    (path,) = written(tmp_path, a=FAULT.replace("y.add_(1.0)", "y = y + 1.0"))
    code = (
        "import sys; from pathlib import Path; from inplace_fix import engine; "
        f"results = list(engine.check([Path({str(path)!r})], engine.Options())); "
        "assert not results[0].findings and results[0].problem is None; "
        "print([name for name in ('torch', 'libcst') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert ran.stdout.strip() == "[]"
