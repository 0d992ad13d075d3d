"""Commands taken apart, trees copied, processes ended."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from inplace_fix import scratch
from inplace_fix.scratch import Bench, Launch, TreeTooLargeError, copy_tree, parse_command


@pytest.mark.parametrize(
    ("command", "launch"),
    [
        ("python train.py --lr 0.1", Launch({}, ("python",), "script", "train.py", ("--lr", "0.1"))),
        (
            "python3.11 -u -W ignore -m pkg.train -v",
            Launch({}, ("python3.11", "-u", "-W", "ignore"), "module", "pkg.train", ("-v",)),
        ),
        ("python -c 'import x'", Launch({}, ("python",), "code", "import x")),
        ("python -mpkg", Launch({}, ("python",), "module", "pkg")),
        (
            "CUDA_VISIBLE_DEVICES= A=b python t.py",
            Launch({"CUDA_VISIBLE_DEVICES": "", "A": "b"}, ("python",), "script", "t.py"),
        ),
        ("uv run python t.py", Launch({}, ("uv", "run", "python"), "script", "t.py")),
        ("uv run pytest -q", Launch({}, ("uv", "run", "python"), "module", "pytest", ("-q",))),
        ("pytest tests", Launch({}, (sys.executable,), "module", "pytest", ("tests",))),
        ("/opt/env/bin/pytest", Launch({}, ("/opt/env/bin/python",), "module", "pytest")),
        ("./train.py --fast", Launch({}, (sys.executable,), "script", "./train.py", ("--fast",))),
        ("'/with space/python' 'a b.py'", Launch({}, ("/with space/python",), "script", "a b.py")),
    ],
)
def test_a_command_is_taken_apart(command: str, launch: Launch) -> None:
    assert parse_command(command) == launch


@pytest.mark.parametrize("command", ["make train", "torchrun train", "python", "python -u", "", "python 'open"])
def test_a_command_without_a_program_is_refused_in_words(command: str) -> None:
    answer = parse_command(command)
    assert isinstance(answer, str)
    assert answer.endswith(".")


def _tree(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_a_copy_leaves_out_version_control_caches_and_environments(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _tree(
        root, "a.py", "pkg/b.py", "pkg/__pycache__/b.pyc", ".git/HEAD", "env/pyvenv.cfg", "env/lib/c.py", "data/d.bin"
    )
    (root / "empty").mkdir()
    copy_tree(root, tmp_path / "copy")
    copied = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")}
    assert copied == {"a.py", "pkg", "pkg/b.py", "data", "data/d.bin", "empty"}


def test_links_in_a_copy_stay_inside_the_copy_where_they_can(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _tree(root, "real/a.py")
    _tree(tmp_path, "outside.txt")
    (root / "linked").symlink_to("real")
    (root / "far").symlink_to("../outside.txt")
    (root / "loop").symlink_to(".")
    copy_tree(root, tmp_path / "copy")
    (tmp_path / "copy" / "linked" / "a.py").write_text("changed")
    assert (root / "real" / "a.py").read_text() == "real/a.py"
    assert (tmp_path / "copy" / "far").read_text() == "outside.txt"
    assert (tmp_path / "copy" / "loop" / "real" / "a.py").exists()


def test_a_tree_that_would_fill_the_disk_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    _tree(root, "weights.bin")
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 5})())
    with pytest.raises(TreeTooLargeError, match="verify from a folder that holds the program alone"):
        copy_tree(root, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def _bench(tmp_path: Path, program: str, timeout: float) -> Bench:
    """A bench whose runner is a program of the test's own, so that no torch is loaded."""
    root = tmp_path / "root"
    _tree(root, "t.py")
    (tmp_path / "scratch").mkdir()
    bench = Bench(root, tmp_path / "scratch", Launch({}, (sys.executable,), "script", "t.py"), timeout)
    runner = "import sys, os\ndef main(words):\n" + textwrap.indent(textwrap.dedent(program), "    ")
    (tmp_path / "scratch" / "support" / "inplace_fix" / "trace" / "verify_run.py").write_text(runner)
    return bench


def test_a_run_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    program = f"""
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open({str(tmp_path / "pid")!r}, "w") as file:
            file.write(str(child.pid))
        child.wait()
    """
    run = _bench(tmp_path, program, 3.0).run("before")
    assert (run.record, run.ended) == (None, False)
    assert run.trouble == "took longer than 3 s"
    state = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
    assert not (tmp_path / "scratch" / "tree").exists()


def test_an_interrupt_ends_the_program_and_removes_the_copy(tmp_path: Path) -> None:
    program = f"""
        import time
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        os.kill({os.getpid()}, {signal.SIGINT.value})
        time.sleep(600)
    """
    with pytest.raises(KeyboardInterrupt):
        _bench(tmp_path, program, 60.0).run("before")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert not (tmp_path / "scratch" / "tree").exists()


def test_a_run_without_results_shows_the_end_of_its_output(tmp_path: Path) -> None:
    run = _bench(tmp_path, "print('last words', flush=True)\nos._exit(7)", 60.0).run("before")
    assert run.record is None
    assert "status 7" in run.trouble
    assert run.tail == ("last words",)


def test_each_run_starts_from_the_tree_as_it_was(tmp_path: Path) -> None:
    program = """
        assert not os.path.exists("checkpoint"), "left from another run"
        open("checkpoint", "w").close()
        print(open("t.py").read(), flush=True)
        os._exit(0)
    """
    bench = _bench(tmp_path, program, 60.0)
    assert bench.run("before").tail == ("t.py",)
    assert bench.run("after", texts={bench.root / "t.py": "rewritten"}).tail == ("rewritten",)
    assert bench.run("again").tail == ("t.py",)
    assert sorted(path.name for path in bench.root.iterdir()) == ["t.py"]


def test_paths_into_the_tree_are_moved_into_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    _tree(root, "src/m.py", "conf.yaml")
    monkeypatch.setenv("PYTHONPATH", f"{root / 'src'}{os.pathsep}{tmp_path / 'rooted'}")
    bench = _bench(tmp_path, "print(words[-1], os.environ['PYTHONPATH'], flush=True)\nos._exit(0)", 60.0)
    bench._launch = Launch({}, (sys.executable,), "script", "t.py", (f"--conf={root}/conf.yaml",))
    tree = tmp_path / "scratch" / "tree"
    assert bench.run("before").tail == (f"--conf={tree}/conf.yaml {tree / 'src'}{os.pathsep}{tmp_path / 'rooted'}",)


def test_a_rewritten_file_keeps_the_encoding_that_it_declares(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "print(open('t.py', 'rb').read(), flush=True)\nos._exit(0)", 60.0)
    (bench.root / "t.py").write_bytes("# coding: latin-1\n# é\r\n".encode("latin-1"))
    run = bench.run("after", texts={bench.root / "t.py": "# coding: latin-1\n# é!\r\n"})
    assert run.tail == (repr("# coding: latin-1\n# é!\r\n".encode("latin-1")),)
