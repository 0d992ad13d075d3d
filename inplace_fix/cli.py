"""The command line: takes the arguments apart and hands them to the commands."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from inplace_fix import __version__
from inplace_fix.cli_options import (
    BaselineOption,
    Config,
    DiffFrom,
    Exclude,
    ExitZero,
    ForceExclude,
    FormatOption,
    Ignore,
    Isolated,
    Level,
    Paths,
    Policy,
    PolicyOption,
    Select,
    StdinFilename,
    Trace,
    Verbose,
)
from inplace_fix.commands.guard import guard
from inplace_fix.report.formats import Format

if TYPE_CHECKING:  # each command imports what it needs when it runs, so that --version and --help stay quick
    from inplace_fix.commands.request import Request
    from inplace_fix.commands.streams import Streams


app = typer.Typer(
    name="inplace-fix",
    help="Find and repair in-place operations that break or corrupt PyTorch gradients.",
    epilog="Exit status: 0 nothing found or everything fixed, 1 something found, 2 wrong use or a failure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inplace-fix {__version__}")
        raise typer.Exit()


@app.callback()
def _whole(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command(
    "check",
    short_help="Find faults without running anything.",
    epilog="Examples: `inplace-fix check src` · `inplace-fix check --trace evidence.json train.py` · "
    "`inplace-fix check --output-format sarif . > report.sarif` · `inplace-fix check --stdin-filename m.py - < m.py`",
)
def check_command(
    ctx: typer.Context,
    paths: Paths = None,
    output_format: FormatOption = Format.FULL,
    policy: PolicyOption = None,
    select: Select = None,
    ignore: Ignore = None,
    trace: Trace = None,
    diff_from: DiffFrom = None,
    baseline: BaselineOption = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline",
            metavar="FILE",
            help="Record what is found now as known, and end with status 0.",
            show_default=False,
        ),
    ] = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Also count the findings of each rule.")] = False,
    exit_zero: ExitZero = False,
    exclude: Exclude = None,
    force_exclude: ForceExclude = False,
    config: Config = None,
    isolated: Isolated = False,
    stdin_filename: StdinFilename = None,
    verbose: Verbose = False,
) -> None:
    """Find in-place operations that break or corrupt gradients, without running anything."""

    def work(streams: Streams) -> int:
        from inplace_fix.commands.check import Way, check

        request = _request(
            paths,
            stdin_filename,
            trace,
            policy,
            select,
            ignore,
            exclude,
            force_exclude,
            config,
            isolated,
            baseline,
            diff_from,
        )
        return check(request, streams, Way(output_format, exit_zero, statistics, verbose, write_baseline))

    _end(ctx, work)


@app.command(
    "fix",
    short_help="Repair faults: a patch for review, or the files rewritten.",
    epilog="Examples: `inplace-fix fix --dry-run src` · `inplace-fix fix --dry-run src | git apply` · "
    '`inplace-fix fix --unsafe-fixes --verify "python train.py --steps 2" src` · `inplace-fix fix --interactive src`',
)
def fix_command(
    ctx: typer.Context,
    paths: Paths = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the patch on standard output and change no file.")
    ] = False,
    patch: Annotated[
        Path | None,
        typer.Option(
            "--patch", metavar="FILE", help="Write the patch into this file and change no other.", show_default=False
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page to look at (each repair side by side, the life of its value drawn) and change no other "
            "file.",
            show_default=False,
        ),
    ] = None,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="Also make repairs that rest on a stated assumption.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about each repair, as `git add -p` does.")
    ] = False,
    verify: Annotated[
        str | None,
        typer.Option(
            "--verify",
            metavar="CMD",
            help="Run this program before and after in scratch copies and write only if losses, gradients and "
            "parameters agree.",
            show_default=False,
        ),
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--output-format", help="How the findings that are left are written.")
    ] = Format.FULL,
    policy: PolicyOption = None,
    select: Select = None,
    ignore: Ignore = None,
    trace: Trace = None,
    diff_from: DiffFrom = None,
    baseline: BaselineOption = None,
    exit_zero: ExitZero = False,
    exclude: Exclude = None,
    force_exclude: ForceExclude = False,
    config: Config = None,
    isolated: Isolated = False,
    stdin_filename: StdinFilename = None,
    verbose: Verbose = False,
) -> None:
    """Repair what check finds: safe repairs, and with --unsafe-fixes those that rest on a stated assumption."""

    def work(streams: Streams) -> int:
        from inplace_fix.commands.fix import Way, fix

        request = _request(
            paths,
            stdin_filename,
            trace,
            policy,
            select,
            ignore,
            exclude,
            force_exclude,
            config,
            isolated,
            baseline,
            diff_from,
        )
        way = Way(output_format, dry_run, patch, html, unsafe_fixes, interactive, verify, exit_zero, verbose)
        return fix(request, streams, way)

    _end(ctx, work)


@app.command(
    "trace",
    short_help="Run a program and name every write that spoils a gradient.",
    epilog="Examples: `inplace-fix trace train.py --epochs 1` · "
    "`inplace-fix trace --level full -o run.json -m pkg.train`",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
def trace_command(
    ctx: typer.Context,
    command: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT|MODULE [ARGS]...", help="The program and its own arguments, as after `python`."),
    ],
    module: Annotated[
        bool, typer.Option("-m", "--module", help="The program is a module's name, as in `python -m`.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the evidence goes; later runs add to it.")
    ] = Path("evidence.json"),
    level: Annotated[
        Level, typer.Option("--level", help="`writes` costs a few per cent; `full` also finds what raises nothing.")
    ] = Level.WRITES,
) -> None:
    """Run your own program unchanged and name, with file, line and column, every write that spoils a gradient."""

    def work(streams: Streams) -> int:
        from inplace_fix.trace.runner import run as run_traced

        return run_traced(command, module=module, level=level.value, output=output)

    _end(ctx, work)


@app.command(
    "explain",
    short_help="Explain a rule, or an operation of torch.",
    epilog="Examples: `inplace-fix explain IPF001` · `inplace-fix explain add_` · `inplace-fix explain nn.Dropout`",
)
def explain_command(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="CODE|OPERATION", help="A rule's code or name, or an operation.")],
) -> None:
    """Explain a rule, or what an operation of torch writes, returns and saves for backward."""

    def work(streams: Streams) -> int:
        from inplace_fix.commands.explain import explain

        return explain(what, streams)

    _end(ctx, work)


@app.command(
    "server",
    short_help="Serve an editor: the Language Server Protocol on standard input and output.",
    epilog="An editor starts this command; docs/editors.md shows how to tell yours.",
)
def server_command(ctx: typer.Context) -> None:
    """Serve an editor with findings and repairs while you type, over the Language Server Protocol."""

    def work(streams: Streams) -> int:
        from inplace_fix.server import serve

        return serve(streams.stdin.buffer, streams.stdout.buffer)

    _end(ctx, work)


def _request(
    paths: list[Path] | None,
    stdin_filename: Path | None,
    trace: list[Path] | None,
    policy: Policy | None,
    select: list[str] | None,
    ignore: list[str] | None,
    exclude: list[str] | None,
    force_exclude: bool,
    config: Path | None,
    isolated: bool,
    baseline: Path | None,
    diff_from: str | None,
) -> Request:
    from inplace_fix.commands.request import Request

    return Request(
        paths=tuple(paths or ()),
        stdin_filename=stdin_filename,
        traces=tuple(trace or ()),
        policy=policy.value if policy else None,
        select=_codes(select),
        ignore=_codes(ignore),
        exclude=tuple(exclude or ()),
        force_exclude=force_exclude,
        config=config,
        isolated=isolated,
        baseline=baseline,
        diff_from=diff_from,
    )


def _codes(values: list[str] | None) -> tuple[str, ...]:
    return tuple(code.strip().upper() for value in values or () for code in value.split(",") if code.strip())


def _end(ctx: typer.Context, work: Callable[[Streams], int]) -> None:
    """Carry a command out and end with its status."""
    streams: Streams = ctx.obj
    raise typer.Exit(guard(lambda: work(streams), streams.stderr))


def main(
    argv: Sequence[str] | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    stdin: TextIO | None = None,
) -> int:
    """Run the command line and give its exit status; the streams default to the process's own."""
    from inplace_fix.commands.streams import Streams

    streams = Streams(stdin or sys.stdin, stdout or sys.stdout, stderr or sys.stderr)
    with contextlib.ExitStack() as redirected:
        # typer writes help and usage errors to the process's own streams
        if stdout is not None:
            redirected.enter_context(contextlib.redirect_stdout(stdout))
        if stderr is not None:
            redirected.enter_context(contextlib.redirect_stderr(stderr))
        try:
            app(args=list(sys.argv[1:] if argv is None else argv), prog_name="inplace-fix", obj=streams)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def run() -> None:
    """The console script."""
    sys.exit(main())
