"""``python -m inplace_fix``: the console script where no script folder is on the path."""

from inplace_fix.cli import run

run()
