"""Settings files: where they are found, what they say, and how their mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fix.nouns import Severity
from inplace_fix.settings import Settings, SettingsError, find, load

EVERYTHING = """
[tool.inplace-fix]
select = ["ipf0"]
ignore = ["IPF003"]
exclude = ["old/"]
policy = "strict"
torch-version = "2.6"

[tool.inplace-fix.per-file-ignores]
"tests/*" = ["IPF001", "IPF002"]

[tool.inplace-fix.severity]
IPF004 = "note"

[tool.inplace-fix.writes]
"mylib.fill_" = 0
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(EVERYTHING)
    assert load(file) == Settings(
        folder=tmp_path,
        file=file,
        select=("IPF0",),
        ignore=("IPF003",),
        per_file_ignores={"tests/*": ("IPF001", "IPF002")},
        exclude=("old/",),
        policy="strict",
        severity={"IPF004": Severity.NOTE},
        torch_version="2.6",
        writes={"mylib.fill_": 0},
    )


def test_the_nearest_file_with_a_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.inplace-fix]\npolicy = "all"\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert find([inner / "m.py"]).policy == "all"


def test_the_own_file_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.inplace-fix]\npolicy = "all"\n')
    (tmp_path / "inplace-fix.toml").write_text('policy = "strict"\n')
    assert find([tmp_path]).policy == "strict"


def test_what_all_paths_share_decides(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inplace-fix.toml").write_text('policy = "all"\n')
    (tmp_path / "inplace-fix.toml").write_text('policy = "strict"\n')
    assert find([tmp_path / "a", tmp_path / "b"]).policy == "strict"
    assert find([tmp_path / "a"]).policy == "all"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("polcy = 'all'", "unknown key `polcy` in .*did you mean `policy`"),
        ("per_file_ignores = {}", "did you mean `per-file-ignores`"),
        ("zzz = 1", "unknown key `zzz` .*known are select, ignore"),
        ("select = 'IPF001'", "`select` .*must be a list of strings, not 'IPF001'"),
        ("ignore = [1]", "`ignore` .*must be a list of strings"),
        ("policy = 'strikt'", "`policy` .*one of 'unsafe', 'strict', 'all' .*did you mean 'strict'"),
        ("policy = 3", "`policy` .*must be one of"),
        ("severity = {IPF001 = 'errr'}", "`severity.IPF001` .*did you mean 'error'"),
        ("severity = 'note'", "`severity` .*must be a table"),
        ('writes = {"m.f" = -1}', "`writes.'m.f'` .*position of an argument"),
        ('writes = {"m.f" = true}', "`writes.'m.f'` .*position of an argument"),
        ("torch-version = 2.6", "`torch-version` .*must be a string"),
        ("per-file-ignores = {\"a\" = 'b'}", "`per-file-ignores.'a'` .*list of strings"),
        ("select = [", "is no valid TOML"),
    ],
)
def test_a_mistake_names_file_key_and_what_to_write(line: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "inplace-fix.toml"
    file.write_text(line + "\n")
    with pytest.raises(SettingsError, match=words) as caught:
        find([tmp_path])
    assert str(caught.value).startswith(str(file))


def test_a_named_file_must_hold_settings(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[project]\n")
    with pytest.raises(SettingsError, match=r"holds no \[tool.inplace-fix\] table"):
        load(file)
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "none.toml")
