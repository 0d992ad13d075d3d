"""The review page: it parses, it holds every finding, and nothing quoted from a source acts on it."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from command_line import FAULT, notebook, run
from findings import finding, place

from inplace_fix.nouns import Applicability, Edit, Moment, Stage
from inplace_fix.report.review import Reviewed, drawing, page
from inplace_fix.report.texts import Texts

html5lib = pytest.importorskip("html5lib")
LEGACY = Path(__file__).parents[2] / "examples" / "legacy"
HOSTILE = '</script><script>alert(1)</script><b onload="x">&amp;\x1b[31m\u202e'
SVG = "{http://www.w3.org/2000/svg}"
CHROMIUM = shutil.which("chromium")


def parsed(text: str) -> Element:
    """The page's tree; a page that is no proper HTML raises."""
    tree = html5lib.HTMLParser(namespaceHTMLElements=False, strict=True).parse(text)
    assert isinstance(tree, Element)
    return tree


def reviewed(tmp_path: Path, *paths: Path, words: tuple[str, ...] = ()) -> str:
    """The page of a run of the command."""
    made = tmp_path / "review.html"
    ended = run("fix", "--dry-run", "--isolated", *words, "--html", made, *paths)
    assert ended.status == 1, ended.err
    return made.read_text("utf-8")


def words_of(tree: Element) -> str:
    return " ".join(" ".join(tree.itertext()).split())


def test_every_finding_of_a_run_is_on_the_page_with_its_two_sides(tmp_path: Path) -> None:
    tree = parsed(reviewed(tmp_path, LEGACY))
    cards = tree.findall(".//article")
    assert [card.get("data-code") for card in cards] == ["IPF001"] * 4 + ["IPF002"]
    assert all(card.find(".//table[@class='two']") is not None for card in cards)
    assert all(card.find(f".//{SVG}svg") is not None for card in cards)
    second = words_of(cards[1])
    assert "out += x" in second
    assert "out = out + x" in second


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = reviewed(tmp_path, LEGACY)
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", text) == []
    assert "default-src &#39;none&#39;" in text
    assert "url(" not in text


def test_the_patch_can_be_downloaded(tmp_path: Path) -> None:
    link = parsed(reviewed(tmp_path, LEGACY)).find(".//a[@download]")
    assert link is not None
    data = base64.b64decode(str(link.get("href")).partition("base64,")[2])
    assert data == run("fix", "--dry-run", "--isolated", LEGACY).raw


def test_no_file_is_changed_by_asking_for_the_page(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(FAULT, "utf-8")
    assert run("fix", "--html", tmp_path / "review.html", source).status == 1
    assert source.read_text("utf-8") == FAULT


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(FAULT, "utf-8")
    ended = run("fix", "--html", tmp_path / "no" / "review.html", source)
    assert ended.status == 2
    assert "--html" in ended.err
    assert "review.html" in ended.err


def test_what_a_source_says_is_shown_and_never_run(tmp_path: Path) -> None:
    path = tmp_path / "<i>.py"
    text = f"y = x.exp()  # {HOSTILE}\ny.add_(1)\n"
    one = finding(path, 2, 0, 9, message=f"`{HOSTILE}` is {HOSTILE}", why=HOSTILE, replacement=f"y = 1  # {HOSTILE}")
    life = (Moment(Stage.SAVED, HOSTILE, place(path, 1, 4, 11)), Moment(Stage.OVERWRITTEN, HOSTILE, one.place))
    bare = replace(one, fix=None, no_fix=HOSTILE, related=())
    made = page(
        [Reviewed(replace(one, life=life), True), Reviewed(bare, False)],
        Texts({(path, None): text}),
        b"+" + HOSTILE.encode(),
        HOSTILE,
    )
    tree = parsed(made)
    assert len(tree.findall(".//script")) == 1
    assert tree.findall(".//article//b") == tree.findall(".//article//i") == []
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert '</script><script>alert(1)</script><b onload="x">&amp;' in words_of(tree.findall(".//article")[1])


def test_a_value_is_drawn_from_its_making_to_the_backward(tmp_path: Path) -> None:
    path = tmp_path / "life.py"
    source = FAULT.replace("y.add_(5.0)", "v = y[1:]\nv.add_(5.0)")
    path.write_text(source, "utf-8")
    svg = parsed(reviewed(tmp_path, path, words=("--unsafe-fixes",))).find(f".//{SVG}svg")
    assert svg is not None
    assert [str(g.get("class")).split()[1] for g in svg.findall(f"{SVG}g")] == [
        "saved",
        "viewed",
        "overwritten",
        "needed",
    ]
    label = unescape(str(svg.get("aria-label")))
    assert label == (
        "made and saved (line 4); then viewed (line 5); then overwritten (line 6); then needed by backward (line 7)"
    )


def test_a_single_moment_is_not_drawn() -> None:
    assert drawing((Moment(Stage.OTHER, "found here"),), Texts({})) is None


def test_a_notebook_is_shown_by_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(
        notebook("import torch\nx = torch.ones(3, requires_grad=True)\n", *FAULT.split("\n", 3)[3:]), "utf-8"
    )
    tree = parsed(reviewed(tmp_path, path))
    assert [words_of(caption) for caption in tree.findall(".//article//caption")] == [f"{path}, cell 2"]
    assert "cell 2, line 2" in words_of(tree)


def test_a_repair_in_two_files_has_a_panel_for_each(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    one = finding(first, 1, 0, 1, replacement="z")
    assert one.fix is not None
    edits = (*one.fix.edits, Edit(place(second, 2, 0, 1), "w"))
    both = replace(one, fix=replace(one.fix, edits=edits, applicability=Applicability.UNSAFE))
    texts = Texts({(first, None): "a\n", (second, None): "k\nb\n"})
    tree = parsed(page([Reviewed(both, True)], texts, b"", "x"))
    assert [words_of(table) for table in tree.findall(".//article//table")] == [
        f"{first} 1 a 1 z",
        f"{second} 1 k 1 k 2 b 2 w",
    ]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_keys_and_filters_work_in_a_browser(tmp_path: Path) -> None:
    # the policy keeps this script out as it keeps out any other, so it is taken off first
    text = re.sub(r"<meta http-equiv[^>]*>", "", reviewed(tmp_path, LEGACY))
    script = """<script>
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const log = [];
const told = () => document.getElementById("shown").textContent;
for (const key of ["j", "j", "k"]) { press(key); log.push(document.querySelector("article.here").id); }
press("x"); log.push(document.querySelectorAll("article.seen").length);
press("O"); log.push(document.querySelectorAll("article.folded").length);
press("/"); log.push(document.activeElement.id);
search.value = "dropout"; search.dispatchEvent(new Event("input")); log.push(told());
press("Escape"); log.push(told());
document.querySelector('[data-value="IPF002"]').click(); log.push(told());
document.title = "RESULT " + log.join(", ");
</script></body>"""
    asked = tmp_path / "asked.html"
    asked.write_text(text.replace("</body>", script), "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    command = [str(CHROMIUM), *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", asked.as_uri()]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.findall(r"<title>RESULT (.*?)</title>", dumped) == [
        "finding-1, finding-2, finding-1, 1, 5, search, 1 of 5, 5 findings, 1 of 5"
    ]
