"""Projects: modules found by the names that files import them by."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.analysed import conflicts
from inplace_fix.analysis.project import Project, module_name
from inplace_fix.analysis.units import parse


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a subpackage, each file saying what it is."""
    for name in ("pack/__init__", "pack/model", "pack/ops/__init__", "pack/ops/fill", "script", "helper"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NAME = {name!r}\n", encoding="utf-8")
    return tmp_path


def known(folder: Path) -> Project:
    """A project of all files of a folder."""
    project = Project(lambda path: path.read_text(encoding="utf-8"))
    project.know(sorted(folder.rglob("*.py")))
    return project


def test_a_module_is_named_from_the_outermost_package_on(package: Path) -> None:
    assert module_name(package / "pack/ops/fill.py") == ("pack.ops.fill", False)
    assert module_name(package / "pack/ops/__init__.py") == ("pack.ops", True)
    assert module_name(package / "script.py") == ("script", False)


@pytest.mark.parametrize(
    ("importer", "name", "level", "expected"),
    [
        ("pack/model.py", "ops.fill", 1, "pack.ops.fill"),
        ("pack/ops/fill.py", "model", 2, "pack.model"),
        ("pack/ops/__init__.py", "fill", 1, "pack.ops.fill"),
        ("pack/ops/__init__.py", None, 2, "pack"),
        ("pack/model.py", "torch.nn", 0, "torch.nn"),
    ],
)
def test_relative_imports_count_from_the_importing_package(
    package: Path, importer: str, name: str | None, level: int, expected: str
) -> None:
    project = known(package)
    assert project.absolute(name, level, project.add(package / importer)) == expected


def test_a_module_is_found_by_its_dotted_name(package: Path) -> None:
    project = known(package)
    found = project.find("pack.ops.fill", project.add(package / "script.py"))
    assert found is not None
    assert found.path == package / "pack/ops/fill.py"


def test_a_module_is_parsed_once(package: Path) -> None:
    project = known(package)
    script = project.add(package / "script.py")
    assert project.find("pack.model", script) is project.find("pack.model", script)


def test_what_lies_outside_the_project_is_not_found(package: Path) -> None:
    project = known(package)
    assert project.find("torch.nn", project.add(package / "script.py")) is None


@pytest.mark.xfail(reason="of two files of one name the first is taken, wherever the importer stands", strict=True)
def test_two_scripts_beside_each_other_are_not_mixed_up_with_two_elsewhere(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("train", "helper"):
            (tmp_path / folder / f"{name}.py").write_text(f"WHERE = {folder!r}\n", encoding="utf-8")
    project = known(tmp_path)
    found = project.find("helper", project.add(tmp_path / "two/train.py"))
    assert found is not None
    assert found.path.parent.name == "two"


def test_a_module_that_does_not_parse_is_not_found() -> None:
    texts = {Path("broken.py"): "def (:\n"}
    project = Project(texts.__getitem__)
    project.know(texts)
    assert project.find("broken", parse(Path("script.py"), "")) is None


def test_a_call_is_followed_into_an_imported_function() -> None:
    found = conflicts(
        """
        from helper import shift
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        shift(y)
        y.sum().backward()
        """,
        helper="""
        def shift(values):
            values.add_(1)
        """,
    )
    assert found == {(4, 3)}


def test_modules_that_import_each_other_come_to_an_end() -> None:
    found = conflicts(
        """
        from helper import shift
        def saved(x):
            return x.exp()
        x = torch.ones(3, requires_grad=True)
        shift(x).sum().backward()
        """,
        helper="""
        import program
        def shift(x):
            y = program.saved(x)
            y.add_(1)
            return y
        """,
    )
    assert found == {(4, 5)}
